package eigenmap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/workloads/eigenmap/algebra"
	"eccbench/internal/workloads/eigenmap/inertia"
)

// AlmostEqual reports whether two lists of numbers agree up to rounding, relative to the largest of them
// or to 1.
func AlmostEqual[F float32 | float64](a, b []F, tolerance float64) bool {
	size := 1.0
	for _, v := range slices.Concat(a, b) {
		size = max(size, math.Abs(float64(v)))
	}
	return slices.EqualFunc(a, b, func(a, b F) bool { return math.Abs(float64(a)-float64(b)) <= tolerance*size })
}

// SelfTest compares the vector instructions for weights, flows and products, and those of the
// proofs, with Go code, on an image and numbers from the seed.
func SelfTest(seed uint32) error {
	if !Vectors() {
		return nil
	}
	p, err := Inputs(Patch).Open(fmt.Sprintf("eigenmap-patch/k=2/tol=6/alpha=40/beta=3/side=2/of=noise/shape=60x24/type=uint8/seed=%d", seed))
	if err != nil {
		return err
	}
	vector, err := p.Define()
	if err != nil {
		return err
	}
	portable := *vector
	portable.fast = false
	portable.portable()
	portable.places()
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	x, some := make([]float64, vector.Nodes()), make([]float32, 8*lanes)
	for i := range x {
		x[i] = rng.Float64() - 0.5
	}
	for i := range some {
		some[i] = rng.Float32()
	}
	a, b := make([]float64, len(x)), make([]float64, len(x))
	energy, want := vector.Apply([][]float64{a}, [][]float64{x}), portable.Apply([][]float64{b}, [][]float64{x})
	energy, want = append(energy, weighted(true, x, some)), append(want, weighted(false, x, some))
	if !AlmostEqual(a, b, 1e-13) || !AlmostEqual(energy, want, 1e-13) {
		return fmt.Errorf("weights of patches of noise with seed %d: vector instructions of this processor give another result than Go code does", seed)
	}
	if err := algebra.SelfTest(seed); err != nil {
		return err
	}
	return inertia.SelfTest(seed)
}
