package datasets

import (
	"testing"

	"eccbench/internal/grid"
)

// eulerCurve counts the cells of every sublevel set of an image by level, by the definition of the
// T-construction alone. Along each axis a cell is a voxel's interior (odd coordinate) or a wall
// (even). It has the least level of the voxels that contain it, and counts +1 or −1 by its
// dimension.
func eulerCurve(t testing.TB, s grid.Source) []int64 {
	t.Helper()
	levels := imageLevels(t, s)
	shape := s.Shape()
	dim := shape.Dim()
	depth := 2*shape.D + 1
	if dim == 2 {
		depth = 1
	}
	curve := make([]int64, s.Ladder().Len())
	for cz := range depth {
		z0, z1 := containing(cz, shape.D)
		if dim == 2 {
			z0, z1 = 0, 0
		}
		for cy := range 2*shape.H + 1 {
			y0, y1 := containing(cy, shape.H)
			for cx := range 2*shape.W + 1 {
				x0, x1 := containing(cx, shape.W)
				least := int32(len(curve))
				for z := z0; z <= z1; z++ {
					for y := y0; y <= y1; y++ {
						for x := x0; x <= x1; x++ {
							least = min(least, levels[(z*shape.H+y)*shape.W+x])
						}
					}
				}
				sign := int64(1)
				if (cx&1+cy&1+cz&1)%2 == 1 {
					sign = -1
				}
				curve[least] += sign
			}
		}
	}
	for k := 1; k < len(curve); k++ {
		curve[k] += curve[k-1]
	}
	return curve
}

// containing returns the range of voxels along an axis of n that contain a cell.
func containing(cell, n int64) (first, last int64) {
	return max(0, (cell-1)/2), min(n-1, cell/2)
}

// imageLevels reads a whole image as levels of its ladder.
func imageLevels(t testing.TB, s grid.Source) []int32 {
	t.Helper()
	f, err := grid.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	levels := make([]int32, s.Shape().Voxels())
	switch s.Type() {
	case grid.Uint8:
		grid.NewLevels[uint8](s.Ladder()).Convert(levels, grid.Values[uint8](f.Data()))
	case grid.Int16:
		grid.NewLevels[int16](s.Ladder()).Convert(levels, grid.Values[int16](f.Data()))
	case grid.Uint16:
		grid.NewLevels[uint16](s.Ladder()).Convert(levels, grid.Values[uint16](f.Data()))
	case grid.Float32:
		grid.NewLevels[float32](s.Ladder()).Convert(levels, grid.Values[float32](f.Data()))
	}
	return levels
}
