package stats

import (
	"math"
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
// the same order. It is infinite for fewer than Fewest values.
func Bootstrap(x []float64) (lo, hi float64) {
	if len(x) < Fewest {
		return math.Inf(-1), math.Inf(1)
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(x))))
	means := make([]float64, resamples)
	for i := range means {
		for range x {
			means[i] += x[rng.IntN(len(x))]
		}
		means[i] /= float64(len(x))
	}
	slices.Sort(means)
	out := int((1 - Confidence) / 2 * resamples)
	return means[out], means[resamples-1-out]
}
