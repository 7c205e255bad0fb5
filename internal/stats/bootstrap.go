package stats

import (
	"math/rand/v2"
	"slices"
)

// resamples is the number of samples that a bootstrap draws.
const resamples = 2000

// Mean is the arithmetic mean of values. It is NaN without any.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Bootstrap is the percentile bootstrap interval of the mean (Efron 1979), the same for the same values in
// the same order. It panics without values.
func Bootstrap(x []float64, confidence float64) (lo, hi float64) {
	rng := rand.New(rand.NewPCG(1, uint64(len(x))))
	means := make([]float64, resamples)
	for i := range means {
		for range x {
			means[i] += x[rng.IntN(len(x))]
		}
		means[i] /= float64(len(x))
	}
	slices.Sort(means)
	out := int((1 - confidence) / 2 * resamples)
	return means[out], means[resamples-1-out]
}
