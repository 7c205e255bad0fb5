package ecctest

import (
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/sound/grids"
)

// Image is an image in memory of a value for each voxel in row-major order, which is one of
// its type, or for float32 is rounded to it.
func Image(t testing.TB, shape grid.Shape, typ grid.Type, l grid.Ladder, value func(i int64) float64) *grid.Field {
	t.Helper()
	return grids.Image(t, shape, typ, l, value)
}

// AroundLevels are float32 images of values on levels, a rounding beside them, anywhere
// between, and below all of them, on ladders that float32 arithmetic gives and on those that
// it does not.
func AroundLevels(t testing.TB) (images []*grid.Field) {
	t.Helper()
	for _, ladder := range []string{
		"levels=1024", "levels=200/step=0.1", "levels=256/lo=-3.3/step=0.1", "levels=60000/lo=-1e6/step=0.3333333333333333", "levels=70000/lo=-4/step=0.001",
		"levels=50/lo=1/step=1.3e-7", "levels=1/lo=5/step=1", "levels=2/lo=-7/step=2", "levels=99/step=1e-42",
	} {
		_, image := Open(t, "between/shape=263x31/"+ladder)
		images = append(images, image)
	}
	return images
}

// Drawn is the image that a fuzz target draws: random values, which all stand on levels for
// one seed in three.
func Drawn(t testing.TB, shape grid.Shape, typ grid.Type, levels uint16, seed uint64) *grid.Field {
	t.Helper()
	return grids.Drawn(t, shape, typ, levels, seed)
}
