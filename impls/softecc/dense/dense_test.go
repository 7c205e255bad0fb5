package dense

import (
	"math"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/softecc"
)

func TestSigmoid(t *testing.T) {
	for a := -60.0; a <= 60; a += 0.0137 {
		s, d := sigmoid(a)
		want, slope := softecc.Sigmoid(a)
		if math.Abs(s-want) > 2e-8*want || math.Abs(d-slope) > 2e-8*slope {
			t.Fatalf("σ(%g) is %g, slope %g, want %g and %g", a, s, d, want, slope)
		}
	}
	for _, a := range []float64{800, 1e6, 1e300, math.Inf(1)} {
		if s, d := sigmoid(a); s != 1 || d != 0 {
			t.Errorf("σ(%g) is %g, slope %g", a, s, d)
		}
		if s, d := sigmoid(-a); s != 0 || d != 0 {
			t.Errorf("σ(−%g) is %g, slope %g", a, s, d)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, name := range softecc.Workload().Adversarial {
		p, err := softecc.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := softecc.Define(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 5} {
			j, err := Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // all of it again
				j.Poison()
				if err := j.Do(nil); err != nil {
					t.Fatal(err)
				}
				got, err := j.Out()
				if err != nil {
					t.Fatal(err)
				}
				if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
					t.Errorf("%s: %v", name, d)
				}
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
