package duality_test

import (
	"slices"
	"strings"
	"testing"

	"eccbench/impls/betticurves/duality"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// judged is what the policy alone, without another implementation, says of the answers to
// the adversarial inputs: how many it finds wrong, and how many it does not confirm.
func judged(t *testing.T, i bench.Implementation[grid.Source, betti.Curves], c ecc.Convention, thorough bool) (wrong, open int) {
	t.Helper()
	w := betti.CurvesInConvention(betti.CurvesWorkload(i), c)
	ask := func(in grid.Source) (betti.Curves, error) {
		return bench.Answer(w.Impls[0], in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 3}})
	}
	for _, name := range w.Adversarial {
		if c != (ecc.Convention{}) && strings.HasPrefix(name, "between/") {
			continue // of which views are of levels, but sets of values
		}
		in, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ask(in)
		if err != nil {
			t.Fatal(err)
		}
		evidence := w.Policy.Check(verify.Question[grid.Source, betti.Curves]{Name: name, In: in, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: thorough})
		switch v := verify.Judge([]string{name}, evidence); v.Status {
		case verify.Verified:
		case verify.Wrong:
			wrong++
			t.Logf("%s: %s", name, v.Reason)
		default:
			open++
			t.Logf("%s: %s: %s", name, v.Status, v.Reason)
		}
	}
	return wrong, open
}

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	const box = 600 // voxels, so that images have several
	for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
		if wrong, open := judged(t, ours(box), c, !testing.Short() && c == (ecc.Convention{})); wrong+open > 0 {
			t.Errorf("%+v: %d right answers are found wrong and %d are not confirmed", c, wrong, open)
		}
	}
	for _, f := range duality.Faults() {
		t.Run(string(f), func(t *testing.T) {
			faulty := duality.Faulty(duality.Implementation{Counter: extrema.Implementation{}}, f, box)
			if wrong, _ := judged(t, faulty, ecc.Convention{}, false); wrong == 0 {
				t.Error("no answer is found wrong")
			}
		})
	}
}

// Whatever core comes first, and however many there are, the sums are the same; and a second
// call, after the first one's output was overwritten, does all of it again.
func TestAgain(t *testing.T) {
	streamed, whole := ecctest.Open(t, "noise/shape=130x40x41/levels=20/type=uint8/seed=3")
	want := answer(t, ours(0), streamed, 1)
	for _, in := range []grid.Source{streamed, whole} {
		job, err := ours(5000).Setup(in, bench.Conditions{Setting: bench.Setting{Threads: 5}})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			job.Poison()
			if c, _ := job.Out(); !slices.Equal(c, betti.PoisonedCurves) {
				t.Fatal("the output was not overwritten")
			}
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			if c, err := job.Out(); err != nil || !slices.Equal(c, want) {
				t.Fatalf("%v, %v; want %v", c, err, want)
			}
		}
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
