package ecc

import "eccbench/internal/grid"

// DualCharacteristic counts the complement of the sublevel set at a level the
// other way round: its voxels are vertices, 6-connected, in the image padded by
// one voxel, and a cell is there when all of its vertices are (the
// V-construction). By Alexander duality it is 1 + Characteristic.
func DualCharacteristic(s grid.Source, level int64) (int64, error) {
	n, h, w := Stack(s.Shape())
	convert := grid.NewConverter(s.Type(), s.Ladder())
	slab := grid.NewBuffer(grid.SliceBytes(s))
	levels := make([]int32, h*w)
	below, above := newOutside(h, w), newOutside(h, w)
	var chi int64
	for z := range n {
		if err := s.ReadSlab(slab, z, z+1); err != nil {
			return 0, err
		}
		convert.Convert(levels, slab)
		above.mark(levels, level)
		chi += dualLayer(below, above)
		below, above = above, below
	}
	above = newOutside(h, w)
	chi += dualLayer(below, above)
	return chi + 1, nil // the last plane of padding alone is a full rectangle
}

// outside is one plane of the padded complement: 1 where a voxel is in it. One
// more row and column of zeros end the cells that would leave the padding.
type outside struct {
	h, w int64 // of the image
	in   []uint8
}

func newOutside(h, w int64) outside {
	o := outside{h, w, make([]uint8, (h+3)*(w+3))}
	for y := range h + 2 {
		row := o.in[y*(w+3):][:w+2]
		for x := range row {
			row[x] = 1
		}
	}
	return o
}

func (o outside) mark(levels []int32, level int64) {
	for y := range o.h {
		row := o.in[(y+1)*(o.w+3)+1:][:o.w]
		for x, k := range levels[y*o.w : (y+1)*o.w] {
			row[x] = 0
			if int64(k) > level {
				row[x] = 1
			}
		}
	}
}

// dualLayer counts the cells that start at the vertices of the lower plane.
func dualLayer(below, above outside) int64 {
	var chi int64
	stride := below.w + 3
	for y := range below.h + 2 {
		b0, b1 := below.in[y*stride:][:stride], below.in[(y+1)*stride:][:stride]
		a0, a1 := above.in[y*stride:][:stride], above.in[(y+1)*stride:][:stride]
		for x := range below.w + 2 {
			v := b0[x]
			edgeX, edgeY, edgeZ := v&b0[x+1], v&b1[x], v&a0[x]
			squareXY := edgeX & b1[x] & b1[x+1]
			squareXZ := edgeX & a0[x] & a0[x+1]
			squareYZ := edgeY & a0[x] & a1[x]
			cube := squareXY & squareXZ & a1[x] & a1[x+1]
			chi += int64(v) - int64(edgeX) - int64(edgeY) - int64(edgeZ) +
				int64(squareXY) + int64(squareXZ) + int64(squareYZ) - int64(cube)
		}
	}
	return chi
}
