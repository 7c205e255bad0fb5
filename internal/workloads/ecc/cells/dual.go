package cells

import (
	"math/bits"

	"eccbench/internal/grid"
)

// DualCharacteristic computes χ of the complement of a sublevel set by the V-construction: its
// voxels are vertices, 6-connected, in the image padded by one voxel, and a cell is present if all
// its vertices are. By Alexander duality the result is 1 + Characteristic.
func DualCharacteristic(s grid.Source, level int64) (int64, error) {
	n, h, w := Stack(s.Shape())
	t := threshold(s.Ladder(), level)
	// z is that of the padded image less one.
	return layers(s, n+2, h+2, w+2, func(into *PlaneSet, z int64, read func() ([]byte, error)) error {
		switch {
		case z == n+1:
			into.Clear() // nothing is above the padding
			return nil
		case z < 0 || z == n:
			for y := range h + 2 {
				into.complement(y, nil)
			}
			return nil
		}
		plane, err := read()
		if err != nil {
			return err
		}
		inside := NewPlaneSet(h, w)
		inside.Fill(s.Type(), plane, t)
		for y := range h + 2 {
			into.complement(y, inside.Row(y-1))
		}
		return nil
	}, DualCellsBetween)
}

// complement sets a row to the complement of an image row, shifted to begin at bit 1, with one
// padding voxel on either side. nil means a row of padding.
func (s *PlaneSet) complement(y int64, inside []uint64) {
	row := s.Row(y)
	var last uint64
	for i := range row {
		var word uint64
		if i < len(inside) {
			word = inside[i]
		}
		row[i] = ^(word<<1 | last>>63)
		last = word
		if over := 64*int64(i+1) - s.w; over > 0 {
			row[i] &= ^uint64(0) >> min(over, 64)
		}
	}
}

// DualCellsBetween counts the cells that start at the vertices of the lower of two planes, with the
// signs of their dimensions.
func DualCellsBetween(below, above *PlaneSet) int64 { return planes.dual(below, above) }

func dualCellsBetween(below, above *PlaneSet) int64 {
	chi := 0
	for y := range below.h {
		b0, b1, a0, a1 := below.Row(y), below.Row(y+1), above.Row(y), above.Row(y+1)
		b1, a0, a1 = b1[:len(b0)], a0[:len(b0)], a1[:len(b0)]
		var x, xy, xz, xyz uint64 // the following words: of the vertices, and of the cells that span y and z
		for i := len(b0) - 1; i >= 0; i-- {
			vertex := b0[i]
			if vertex == 0 { // all cells have it
				x, xy, xz, xyz = 0, 0, 0, 0
				continue
			}
			edgeY, edgeZ, squareYZ := b0[i]&b1[i], b0[i]&a0[i], b0[i]&b1[i]&a0[i]&a1[i]
			// A cell that also spans x needs the vertices at the next bit.
			edgeX, squareXY, squareXZ, cube := vertex&(vertex>>1|x<<63), edgeY&(edgeY>>1|xy<<63), edgeZ&(edgeZ>>1|xz<<63),
				squareYZ&(squareYZ>>1|xyz<<63)
			chi += bits.OnesCount64(vertex) - bits.OnesCount64(edgeX) - bits.OnesCount64(edgeY) - bits.OnesCount64(edgeZ) +
				bits.OnesCount64(squareXY) + bits.OnesCount64(squareXZ) + bits.OnesCount64(squareYZ) - bits.OnesCount64(cube)
			x, xy, xz, xyz = vertex, edgeY, edgeZ, squareYZ
		}
	}
	return int64(chi)
}
