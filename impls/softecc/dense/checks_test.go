package dense

import (
	"math"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/workloads/softecc"
	"eccbench/internal/workloads/softecc/softtest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the sigmoid, also far beyond the values of images, and jobs.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{{Name: "the sigmoid", Of: sigmoidIs}, {Name: "jobs", Of: func(t *testing.T) { softtest.Answers(t, i, "backward", "changes", "forward") }}}
}

// The sigmoid and its slope agree with the definition as closely as eight terms of the exponential
// allow.
func sigmoidIs(t *testing.T) {
	for a := -60.0; a <= 60; a += 0.0137 {
		s, d := sigmoid(a)
		want, slope := softecc.Sigmoid(a)
		if math.Abs(s-want) > 2e-8*want || math.Abs(d-slope) > 2e-8*slope {
			t.Fatalf("σ(%g) is %g, slope %g, want %g and %g", a, s, d, want, slope)
		}
		k := math.Round(math.Abs(a) * math.Log2E)
		term := math.Exp2(-k)
		e := term
		for n := 1.0; n <= 7; n++ {
			term *= (k*math.Ln2 - math.Abs(a)) / n
			e += term
		}
		if terms := e / (1 + e) / (1 + e); math.Abs(d-terms) > 1e-13*d {
			t.Fatalf("the slope of σ(%g) is %g, of eight terms %g", a, d, terms)
		}
	}
	// The last power of 2 with an exponential other than 0, and the next one.
	if s, d := sigmoid(-999.5 * math.Ln2); math.Abs(s-math.Exp2(-999.5)) > 2e-8*s || d != s {
		t.Errorf("beside 2^-999.5, σ is %g, slope %g", s, d)
	}
	for _, a := range []float64{1000.5 * math.Ln2, 800, 1e6, 1e300, math.Inf(1)} {
		if s, d := sigmoid(a); s != 1 || d != 0 {
			t.Errorf("σ(%g) is %g, slope %g", a, s, d)
		}
		if s, d := sigmoid(-a); s != 0 || d != 0 {
			t.Errorf("σ(−%g) is %g, slope %g", a, s, d)
		}
	}
}
