package gpu

import (
	"testing"

	"eccbench/internal/grid"
)

// The parts of an image contain each of its rows and planes. The table of an image in one part may
// be stored.
func TestBatchesAreDivided(t *testing.T) {
	for _, c := range []struct {
		shape          grid.Shape
		images, blocks int64
		voxels         int64
		narrow         bool
		segment, parts int64
	}{
		{grid.Shape{D: 1, H: 128, W: 128}, 10000, 2112, 2, true, 32, 1},
		{grid.Shape{D: 128, H: 128, W: 128}, 1000, 1584, 2, true, 128, 32},
		{grid.Shape{D: 128, H: 129, W: 128}, 1000, 1584, 2, true, 128, 33},
		{grid.Shape{D: 1, H: 1, W: 1}, 5, 1584, 1, false, 1, 1},
		{grid.Shape{D: 1, H: 512, W: 512}, 1 << 20, 1584, 2, false, 256, 2},
	} {
		got := divide(c.shape, c.images, c.blocks, c.voxels, c.narrow)
		if got != (division{c.segment, c.parts}) {
			t.Errorf("%d of %v: segments of %d, %d parts, want %d and %d", c.images, c.shape, got.segment, got.parts, c.segment, c.parts)
		}
	}
}
