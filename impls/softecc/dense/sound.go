package dense

import (
	"math"

	"eccbench/internal/sound"
	"eccbench/internal/workloads/softecc"
)

// Checks are of the sigmoid, far from where images have values too.
func (Implementation) Checks(string) []sound.Check {
	return []sound.Check{{Name: "the sigmoid", Of: sigmoidIs}}
}

// The sigmoid and its slope are those of the definition.
func sigmoidIs(t sound.T) {
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
