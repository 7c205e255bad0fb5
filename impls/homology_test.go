package impls

import (
	"fmt"
	"slices"
	"testing"
	"time"

	bettidual "eccbench/impls/betti/duality"
	"eccbench/impls/homology/duality"
	"eccbench/impls/homology/reduced"
	"eccbench/impls/homology/reductions"
	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/homology"
)

// judgedGroups is what the policy alone, without another implementation, says of the answers to
// the adversarial inputs: how many are confirmed, how many it finds wrong, how many it does not
// confirm, and how many are refused.
func judgedGroups(t *testing.T, i bench.Implementation[*homology.Problem, homology.Groups], thorough bool) (count map[verify.Status]int) {
	t.Helper()
	w := homology.Workload(i)
	count = map[verify.Status]int{}
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 3}, Time: 5 * time.Second}
	ask := func(p *homology.Problem) (homology.Groups, error) { return bench.Answer(i, p, conditions) }
	for _, name := range w.Adversarial {
		name, err := w.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := homology.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ask(in)
		if err != nil {
			count[verify.Skipped]++
			continue
		}
		evidence := w.Policy.Check(verify.Question[*homology.Problem, homology.Groups]{Name: name, In: in, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: thorough})
		verdict := verify.Judge([]string{name}, evidence)
		if count[verdict.Status]++; verdict.Status == verify.Wrong && thorough {
			t.Log(verdict.Reason)
		}
	}
	return count
}

func TestHomologyOfAdversarialInputs(t *testing.T) {
	for _, i := range homologies() {
		t.Run(i.About().Name, func(t *testing.T) {
			count := judgedGroups(t, i, !testing.Short() && !race.Enabled)
			t.Log(count)
			if count[verify.Wrong]+count[verify.Unverified] > 0 || count[verify.Verified] == 0 {
				t.Errorf("%v", count)
			}
		})
	}
}

func TestPolicyCatchesPlantedFaultsOfHomology(t *testing.T) {
	faulty := map[string]bench.Implementation[*homology.Problem, homology.Groups]{}
	for _, f := range duality.Faults() {
		faulty["duality: "+string(f)] = duality.Faulty(f)
	}
	for _, f := range reduced.Faults() {
		faulty["reduced: "+string(f)] = reduced.Faulty(f)
	}
	for _, f := range reductions.Faults() {
		faulty["reductions: "+string(f)] = reductions.Faulty(f)
	}
	faulty["partitions: "+string(reductions.SharedInside)] = reductions.FaultyPartitions(reductions.SharedInside)
	for name, i := range faulty {
		t.Run(name, func(t *testing.T) {
			if count := judgedGroups(t, i, false); count[verify.Wrong] == 0 {
				t.Errorf("no answer is found wrong: %v", count)
			}
		})
	}
}

// Voxels cut in tetrahedra have the Betti numbers that the workload of images finds.
func TestHomologyOfVoxelsIsThatOfTheImage(t *testing.T) {
	for _, image := range []string{"noise/shape=17x16x15/type=uint8/levels=2/seed=4", "cavities/shape=9x9x9/type=uint8", "links/shape=32x32x32/type=uint8"} {
		for _, cut := range []string{"kuhn", "five"} {
			const level = 0
			of, err := betti.Inputs{}.Open(betti.Spell(level, image))
			if err != nil {
				t.Fatal(err)
			}
			conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
			want, err := bench.Answer(bettidual.Implementation{}, of, conditions)
			if err != nil {
				t.Fatal(err)
			}
			p, err := homology.Inputs{}.Open(fmt.Sprintf("voxels/at=%d/cut=%s/over=2/of=%s", level, cut, image))
			if err != nil {
				t.Fatal(err)
			}
			got, err := bench.Answer(reduced.Implementation{}, p, conditions)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Betti[:3], []int64{want.B0, want.B1, want.B2}) {
				t.Errorf("%s of %s: %v, want %v", cut, image, got, want)
			}
		}
	}
}
