package windowed

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"eccbench/internal/workloads/eigenmap"
)

// SelfTest compares distances and products that vector instructions compute with results of Go code, for
// numbers from the seed.
func SelfTest(seed uint32) error {
	if !eigenmap.Vectors() {
		return nil
	}
	const patches, features, n = 40, 16, 4 * lanes
	rng := rand.New(rand.NewPCG(uint64(seed), 2))
	own, others := make([]int16, features), make([]int16, features*patches)
	for _, list := range [][]int16{own, others} {
		for i := range list {
			list[i] = int16(rng.IntN(256))
		}
	}
	distances := make([]int32, patches)
	right := unlikeVector(distances, own, others) == patches
	for k, d := range distances {
		right = right && d == squaredDistance(own, others[features*k:][:features])
	}
	weights, x, to := make([]float32, n), make([]float64, n), make([]float64, n)
	for i := range weights {
		weights[i], x[i], to[i] = rng.Float32(), rng.NormFloat64(), rng.NormFloat64()
	}
	want := slices.Clone(to)
	a, b := multiplySymmetric(true, to, x, weights, 0.75), multiplySymmetric(false, want, x, weights, 0.75)
	if !right || !eigenmap.AlmostEqual(to, want, 1e-13) || !eigenmap.AlmostEqual([]float64{a}, []float64{b}, 1e-13) {
		return fmt.Errorf("distances and products of numbers with seed %d: vector instructions of this processor give "+
			"another result than Go code does", seed)
	}
	return nil
}
