package vectors

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every instruction set finds the extremes of values, and a non-finite value in any place.
func extremesOfValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, isa := range append(Available(), "none") {
		v := ForISA(isa)
		for n := range 200 {
			values := make([]float32, n+1)
			for i := range values {
				values[i] = (rng.Float32() - 0.5) * math.MaxFloat32
			}
			lo, hi, finite := v.Extremes(values)
			if lo != slices.Min(values) || hi != slices.Max(values) || !finite {
				t.Fatalf("%s: %v to %v, finite %v, of %v", isa, lo, hi, finite, values)
			}
			for _, wrong := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				one := slices.Clone(values)
				one[rng.IntN(n+1)] = float32(wrong)
				if _, _, finite := v.Extremes(one); finite {
					t.Fatalf("%s: %v among %v is finite", isa, wrong, one)
				}
			}
		}
	}
}
