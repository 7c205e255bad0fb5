package windowed

import (
	"math"
	"math/rand/v2"

	"eccbench/internal/sound"
	"eccbench/internal/workloads/eigenmap"
)

// Checks are of vector instructions.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		eigenmap.Calls(i, eigenmap.Patch, "correct", "degrees", "groups", "pairs", "weights"),
		{Name: "distances", Of: distancesAre}, {Name: "products", Of: productsAre},
	}
}

// Vector instructions find the distances that Go finds, of the largest features, too.
func distancesAre(t sound.T) {
	if !eigenmap.Vectors() {
		return
	}
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := make([]int16, 16), make([]int16, 16*103)
	for i := range b {
		b[i] = int16(255 * rng.IntN(2))
		if i > 300 {
			b[i] = int16(rng.IntN(256))
		}
	}
	for i := range a {
		a[i] = int16(255 * (i & 1))
	}
	got := make([]int32, 103)
	n := unlikeVector(got, a, b)
	if n != 100 || got[100] != 0 {
		t.Fatalf("%d distances, and behind them %d", n, got[100])
	}
	for k, d := range got[:n] {
		if want := unlike(a, b[16*k:][:16]); d != want {
			t.Errorf("patch %d: %d, not %d", k, d, want)
		}
	}
}

// Vector instructions multiply as Go does, but for rounding, and write no further than weights go.
func productsAre(t sound.T) {
	if !eigenmap.Vectors() {
		return
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, lanes, 3 * lanes, 8 * lanes} {
		weights, x := make([]float32, n), make([]float64, n+1)
		got, want := make([]float64, n+1), make([]float64, n+1)
		for i := range weights {
			weights[i], x[i], got[i] = rng.Float32(), rng.NormFloat64(), rng.NormFloat64()
		}
		got[n] = 5
		copy(want, got)
		a, b := both(true, got, x, weights, 0.75), both(false, want, x, weights, 0.75)
		if math.Abs(a-b) > 1e-13 {
			t.Errorf("%d weights: a product of %v, not %v", n, a, b)
		}
		for i, v := range want {
			if math.Abs(got[i]-v) > 1e-15*(1+math.Abs(v)) {
				t.Errorf("%d weights: number %d is %v, not %v", n, i, got[i], v)
			}
		}
	}
}
