package ecctest

import (
	"testing"

	"eccbench/internal/grid"
)

// AroundLevels returns float32 images with values on levels, one rounding off them, between them,
// and below all. Some ladders follow from float32 arithmetic, others do not.
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
