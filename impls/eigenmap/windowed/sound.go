package windowed

import (
	"math"
	"math/rand/v2"

	"eccbench/internal/grid"
	"eccbench/internal/sound"
	"eccbench/internal/sound/grids"
	"eccbench/internal/workloads/eigenmap"
)

// Checks are of vector instructions.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		eigenmap.Calls(i, eigenmap.Patch, "correct", "degrees", "groups", "pairs", "weights"),
		{Name: "distances", Of: distancesAre}, {Name: "products", Of: productsAre},
		{Name: "lists that are too short", Of: shortListsAreRefused},
		{Name: "windows", Of: windowsEnd},
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

// A list that lacks a number is refused, of whichever nothing would be read or set that is not of the list.
func shortListsAreRefused(t sound.T) {
	const n = 3 * lanes
	numbers := func(n int) []float64 { return make([]float64, n) }
	for what, do := range map[string]func(fast bool){
		"what products are added to": func(fast bool) { both(fast, numbers(n-1), numbers(n), make([]float32, n), 1) },
		"what weights are times":     func(fast bool) { both(fast, numbers(n), numbers(n-1), make([]float32, n), 1) },
	} {
		for _, fast := range []bool{false, eigenmap.Vectors()} {
			sound.Refused(t, what, func() { do(fast) })
		}
	}
	if eigenmap.Vectors() {
		sound.Refused(t, "own features", func() { unlikeVector(make([]int32, 4), make([]int16, 15), make([]int16, 64)) })
		sound.Refused(t, "features of four patches", func() { unlikeVector(make([]int32, 4), make([]int16, 16), make([]int16, 63)) })
	}
}

// A window ends where the factor of distance is as small as is not kept, or where the patches end.
func windowsEnd(t sound.T) {
	for _, shape := range []grid.Shape{{D: 1, H: 90, W: 80}, {D: 1, H: 3, W: 4}, {D: 5, H: 6, W: 9}} {
		for _, beta := range []float64{0.1, 1, 2.5, 8} {
			p := eigenmap.OfPatches(grids.OfBytes(t, shape, make([]byte, shape.Voxels())...), 2, 1e-6, 40, beta, 1)
			far := window(p)
			factor := func(far int64) float64 { return math.Exp(-float64(far*far) / (2 * beta * beta)) }
			corner := (shape.W-1)*(shape.W-1) + (shape.H-1)*(shape.H-1) + (shape.D-1)*(shape.D-1)
			if factor(far-1) < nearest || factor(far) > nearest && far*far < corner || (far-1)*(far-1) > corner {
				t.Errorf("%v, β %v: a window of %d, beyond which are factors of %g", shape, beta, far, factor(far+1))
			}
		}
	}
}
