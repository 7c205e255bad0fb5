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
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/homology"
)

// limit keeps the definition from long computations.
const limit = 5 * time.Second

func TestHomologyOfAdversarialInputs(t *testing.T) {
	for _, i := range homologies(nil) {
		if i.About().Where != "cpu" {
			continue
		}
		t.Run(i.About().Name, func(t *testing.T) {
			n := judgedtest.Alone(t, homology.Workload(i), !testing.Short() && !race.Enabled, limit)
			if t.Logf("%+v", n); n.Wrong+n.Open > 0 || n.Right == 0 {
				t.Error("right answers are not confirmed")
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
	for _, f := range reductions.RaceFaults() {
		faulty["race: "+string(f)] = reductions.FaultyRace(f)
	}
	faulty["partitions: "+string(reductions.SharedInside)] = reductions.FaultyPartitions(reductions.SharedInside)
	for name, i := range faulty {
		if race.Enabled {
			break // without a fault all goroutines were seen
		}
		t.Run(name, func(t *testing.T) { judgedtest.Caught(t, homology.Workload(i), false, limit) })
	}
}

// Voxels cut in tetrahedra have the Betti numbers that the workload of images finds.
func TestHomologyOfVoxelsIsThatOfTheImage(t *testing.T) {
	for _, image := range []string{"noise/shape=17x16x15/type=uint8/levels=2/seed=4", "cavities/shape=9x9x9/type=uint8", "links/shape=32x32x32/type=uint8"} {
		for _, cut := range []string{"kuhn", "five"} {
			const level = 0
			of, err := betti.Inputs{}.Open(betti.NameOf(level, image))
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
