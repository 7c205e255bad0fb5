package datasets

import (
	"math/bits"

	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

// scale reads the levels, type, lo and step of a generator of noise, and returns their scale.
func (r *reading) scale() (n int64, s random.Scale) {
	t := r.elementType()
	n = r.levels(t)
	lo, step := 0.0, 1.0
	if t == grid.Float32 {
		lo = r.real("lo", 0, false)
		step = r.real("step", evenStep(n), false)
	} else {
		for _, key := range []string{"lo", "step"} {
			if v, ok := r.take(key); ok {
				r.refuse(key, v, "goes with type=float32; levels of %v are whole numbers", t)
			}
		}
	}
	if r.err != nil {
		return n, random.Scale{}
	}
	s, err := random.NewScale(t, n, lo, step)
	if err != nil {
		r.reject("%w", err)
	}
	return n, s
}

// evenStep is the default step of float32 levels: the largest power of two that keeps n of them
// within 0 ≤ value < 1, all exact.
func evenStep(n int64) float64 {
	return 1 / float64(uint64(1)<<bits.Len64(uint64(n-1)))
}
