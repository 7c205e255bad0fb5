package datasets

import (
	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

func grfGenerator() generator {
	return newGenerator("grf",
		"Gaussian random field: isotropically smoothed white noise, stationary up to the borders",
		"grf/shape=512x512x512/levels=1024/type=float32/smooth=2.5/seed=7", []Param{
			shapeParam(), levelsParam(), typeParam(),
			{"lo", "0", "float32: the lowest level"},
			{"step", "the power of two that keeps values below 1", "float32: the distance between levels"},
			{"smooth", "2", "standard deviation of the smoothing kernel in voxels, 0.5 to 32; the nearest one of three box " +
				"filters is taken"},
			seedParam(),
		}, readGRF)
}

// readGRF makes a window of a stationary field on the infinite lattice. The field is white noise,
// binomial with 32 trials, after three box filters along every axis of the image. All sums are
// exact integers. The levels divide the range of ±5 standard deviations evenly, see quantiser.
func readGRF(r *reading) maker {
	shape := r.shape()
	n, s := r.scale()
	smooth := r.real("smooth", 2, true)
	if smooth < 0.5 || smooth > 32 {
		r.reject("smooth=%v: want 0.5 to 32 voxels", smooth)
		smooth = 2
	}
	seed, isa := r.seed(), r.isa
	return func() (grid.Source, error) {
		s.Prepare()
		return random.NewField(shape, s, n, random.BoxWidths(smooth), seed, isa), nil
	}
}
