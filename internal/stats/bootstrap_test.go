package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBootstrap compares the interval with that of a normal distribution.
func TestBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	x := make([]float64, 400)
	for i := range x {
		x[i] = 5 + rng.NormFloat64()
	}
	lo, hi := Bootstrap(x)
	mean, width := Mean(x), 2*1.96/math.Sqrt(float64(len(x)))
	if lo >= mean || hi <= mean || math.Abs(hi-lo-width) > 0.2*width {
		t.Errorf("mean %v, interval %v to %v: want about %v wide", mean, lo, hi, width)
	}
	if lo, hi := Bootstrap([]float64{3, 3, 3, 3, 3, 3}); lo != 3 || hi != 3 {
		t.Errorf("equal values: %v to %v", lo, hi)
	}
	for n := range Fewest {
		if lo, hi := Bootstrap(x[:n]); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
			t.Errorf("%d values: %v to %v, want no interval", n, lo, hi)
		}
	}
	for _, n := range []int{Fewest - 1, Fewest} {
		if _, _, reached := medianRanks(n, Confidence); (reached >= Confidence) != (n == Fewest) {
			t.Errorf("the extremes of %d values have a confidence of %v", n, reached)
		}
	}
}
