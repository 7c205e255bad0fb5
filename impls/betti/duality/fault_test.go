package duality_test

import (
	"testing"

	"eccbench/impls/betti/duality"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// judged is what the policy alone, without another implementation, says of the answers to
// the adversarial inputs: how many it finds wrong, and how many it does not confirm.
func judged(t *testing.T, i bench.Implementation[*betti.Image, betti.Numbers], c ecc.Convention, thorough bool) (wrong, open int) {
	t.Helper()
	w := betti.InConvention(betti.Workload(i), c)
	ask := func(in *betti.Image) (betti.Numbers, error) {
		return bench.Answer(w.Impls[0], in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 3}})
	}
	for _, name := range w.Adversarial {
		in, err := betti.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ask(in)
		if err != nil {
			t.Fatal(err)
		}
		evidence := w.Policy.Check(verify.Question[*betti.Image, betti.Numbers]{Name: name, In: in, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: thorough})
		switch verify.Judge([]string{name}, evidence).Status {
		case verify.Verified:
		case verify.Wrong:
			wrong++
		default:
			open++
		}
	}
	return wrong, open
}

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
		if wrong, open := judged(t, duality.Implementation{}, c, !testing.Short() && !race.Enabled); wrong+open > 0 {
			t.Errorf("%+v: %d right answers are found wrong and %d are not confirmed", c, wrong, open)
		}
	}
	for _, f := range duality.Faults() {
		t.Run(string(f), func(t *testing.T) {
			if wrong, _ := judged(t, duality.Faulty(f), ecc.Convention{}, false); wrong == 0 {
				t.Error("no answer is found wrong")
			}
		})
	}
}

// Whatever core comes first, and however many there are, the sums are the same; and a second
// call, after the first one's output was overwritten, does all of it again.
func TestAgain(t *testing.T) {
	in, err := betti.Inputs{}.Open("betti/at=79/of=noise/shape=130x40x41/type=uint8/seed=3")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := grid.Load(in.Source)
	if err != nil {
		t.Fatal(err)
	}
	want := answer(t, duality.Implementation{}, in, 1)
	for _, of := range []*betti.Image{in, {Source: whole, Threshold: in.Threshold}} { // streamed and in memory
		job, err := duality.Implementation{}.Setup(of, bench.Conditions{Setting: bench.Setting{Threads: 5}})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			job.Poison()
			if n, _ := job.Out(); n != betti.Poisoned {
				t.Fatal("the output was not overwritten")
			}
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			if n, err := job.Out(); err != nil || n != want {
				t.Fatalf("%v, %v; want %v", n, err, want)
			}
		}
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
