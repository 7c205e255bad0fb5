package flood

import (
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/assess"
)

// TestLaws checks answers for the inputs of the workload by all of its laws, for labels one by one
// and together.
func TestLaws(t *testing.T) {
	w := assess.Workload(Implementation{})
	answer := func(p *assess.Pair) (assess.Comparisons, error) {
		return bench.Answer(Implementation{}, p, bench.Conditions{})
	}
	for _, name := range w.Question.Adversarial {
		p, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Shape().Voxels() > 4000 {
			continue // for the verify command
		}
		out, err := answer(p)
		if err != nil {
			t.Fatal(err)
		}
		evidence := w.Policy.Check(verify.Question[*assess.Pair, assess.Comparisons]{
			Name: name, In: p, Out: out, Budget: time.Hour, Thorough: true, Ask: answer,
		})
		if want := len(w.Policy.Laws); len(evidence) != want {
			t.Fatalf("%s: %d laws were tried, want %d", name, len(evidence), want)
		}
		for _, e := range evidence {
			if !e.Passed {
				t.Errorf("%s: %s: %v %s", name, e.Witness, e.Diff, e.Note)
			}
		}
	}
}

// TestCavityInTruth counts a ring that the prediction fills, in a flat image and in a volume, and a
// cavity that both masks have.
func TestCavityInTruth(t *testing.T) {
	for _, d := range []int64{1, 3} {
		s := grid.Shape{D: d, H: 3, W: 8}
		pred, truth := grid.NewBuffer(s.Voxels()), grid.NewBuffer(s.Voxels())
		for i := range pred {
			z, y, x := s.Coordinates(int64(i))
			middle := z == d/2 && y == 1
			if x < 7 && x != 3 && !(middle && x == 5) {
				pred[i] = 1
			}
			if x < 7 && x != 3 && !(middle && (x == 1 || x == 5)) {
				truth[i] = 1
			}
		}
		var f [2]*grid.Field
		for i, data := range [][]byte{pred, truth} {
			var err error
			if f[i], err = grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8)); err != nil {
				t.Fatal(err)
			}
		}
		p, err := assess.NewPair(f[0], f[1], nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := bench.Answer(Implementation{}, p, bench.Conditions{})
		if err != nil {
			t.Fatal(err)
		}
		for k, got := range out[0].In {
			dim := s.Dim() - 1
			if got.Components != 2 || got.Holes != 1 || got.Pred.B0 != 2 || got.Error(dim) != 1 {
				t.Errorf("%v, construction %d: got %+v", s, k, got)
			}
		}
	}
}

// The judge agrees about dense masks, whose large components it scans in part.
func TestDense(t *testing.T) {
	w := assess.Workload(Implementation{})
	for _, image := range []string{
		"grf/shape=90x30x24/levels=256/type=uint8/seed=1", "grf/shape=24x90x30/levels=256/type=uint8/seed=2",
		"grf/shape=64x24x40/levels=64/type=uint8/seed=3", "grf/shape=190x140/levels=256/type=uint8/seed=4",
		"noise/shape=70x20x20/levels=3/type=uint8/seed=5", "serpent/shape=33x33x9/type=uint8",
	} {
		for _, shift := range []float64{0, 20} {
			p, err := w.Inputs.Open(assess.Inputs().NameOf(image, 1, shift))
			if err != nil {
				t.Fatal(err)
			}
			out, err := bench.Answer(Implementation{}, p, bench.Conditions{})
			if err != nil {
				t.Fatal(err)
			}
			if d := w.Policy.Agree(p, assess.BySearch(p), out); d != nil {
				t.Errorf("%s, shift %v: %v", image, shift, d)
			}
		}
	}
}
