package labels

import (
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/betti"
)

// A label of 4 bytes has values for all voxels, the outside and the poison.
func TestMostVoxelsOnDevices(t *testing.T) {
	for _, c := range []struct {
		shape grid.Shape
		can   bool
	}{
		{grid.Shape{D: 1 << 10, H: 1 << 11, W: 1 << 11}, false},                                     // 2³²
		{grid.Shape{D: 1, H: 65535, W: 65537}, false},                                               // one less
		{grid.Shape{D: 2, H: 3, W: 715827882}, true},                                                // 2³² − 4
		{grid.Shape{D: 1, H: 1, W: 1<<31 - 1}, false}, {grid.Shape{D: 1, H: 1<<31 - 2, W: 2}, true}, // places of 4 bytes
	} {
		p, err := plan(&betti.Image{Source: gridtest.VastOf(c.shape, grid.Uint8)})
		if (err == nil) != c.can {
			t.Errorf("%v: %v", c.shape, err)
		}
		if want := 4 * (c.shape.Voxels() + 1); c.can && (len(p.Scratch) != 1 || p.Scratch[0].Bytes != want) {
			t.Errorf("%v: scratch %+v, want %d bytes", c.shape, p.Scratch, want)
		}
	}
}
