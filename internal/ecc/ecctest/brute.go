// Package ecctest is the conformance suite of the Euler characteristic curve:
// an implementation calls Run from its test, in one line, and Fuzz from its
// fuzz target. It counts the cells in a way of its own, which shares nothing
// with any implementation.
package ecctest

import (
	"eccbench/internal/ecc"
	"eccbench/internal/grid"
)

// BruteForce enumerates every cell of the cubical complex of an image, each
// with the lowest level of the voxels that contain it. On the grid of
// (2D+1) × (2H+1) × (2W+1) points, a cell is a point, its dimension the number
// of its odd coordinates, and a voxel the point at odd coordinates; a cell lies
// in the voxels at distance at most one along its even coordinates.
func BruteForce(f *grid.Field) ecc.VCEC {
	s := f.Shape()
	levels := levels(f)
	changes := make([]int64, f.Ladder().Len())
	for z := int64(0); z <= 2*s.D; z++ {
		for y := int64(0); y <= 2*s.H; y++ {
			for x := int64(0); x <= 2*s.W; x++ {
				lowest := f.Ladder().Len()
				for _, vz := range containing(z, s.D) {
					for _, vy := range containing(y, s.H) {
						for _, vx := range containing(x, s.W) {
							lowest = min(lowest, levels[(vz*s.H+vy)*s.W+vx])
						}
					}
				}
				sign := int64(1)
				if (z+y+x)%2 == 1 {
					sign = -1
				}
				changes[lowest] += sign
			}
		}
	}
	return ecc.FromDense(changes)
}

// containing lists the voxels along one axis that contain a coordinate of the
// doubled grid.
func containing(at, n int64) []int64 {
	if at%2 == 1 {
		return []int64{at / 2}
	}
	var v []int64
	for _, k := range []int64{at/2 - 1, at / 2} {
		if k >= 0 && k < n {
			v = append(v, k)
		}
	}
	return v
}

// levels looks every value up on the ladder, one by one.
func levels(f *grid.Field) []int64 {
	var out []int64
	for _, v := range Values(f) {
		out = append(out, f.Ladder().Level(v))
	}
	return out
}

// Values are an image's, of all types exactly.
func Values(f *grid.Field) []float32 {
	switch f.Type() {
	case grid.Uint8:
		return converted(grid.Values[uint8](f.Data()))
	case grid.Int16:
		return converted(grid.Values[int16](f.Data()))
	case grid.Uint16:
		return converted(grid.Values[uint16](f.Data()))
	}
	return grid.Values[float32](f.Data())
}

func converted[T uint8 | int16 | uint16](list []T) []float32 {
	out := make([]float32, len(list))
	for i, v := range list {
		out[i] = float32(v)
	}
	return out
}
