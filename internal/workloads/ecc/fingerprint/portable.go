package fingerprint

// A kernel sums the cells of positions in rows of weights. The cells of a position are those of its
// voxel towards its successors: the voxel itself, and the cells between it and the next voxel along
// each set of axes. Rows are stride weights apart. There is one row more than positions in a
// column, and one weight more than positions in a row. The positions in a row are a multiple of
// weightGroup.
type kernel struct {
	// volume sums the eight cells of each position of a plane. above is the next plane.
	volume func(below, above []uint64, stride, rows, columns int) uint64
	// area sums the four cells of each position of a 2D image.
	area func(plane []uint64, stride, rows, columns int) uint64
}

// portable follows the definition, cell by cell, without vector instructions.
func portable() kernel { return kernel{volume, area} }

func volume(below, above []uint64, stride, rows, columns int) uint64 {
	var sum uint64
	for y := range rows {
		n := columns + 1
		b0, b1 := below[y*stride:][:n], below[(y+1)*stride:][:n]
		a0, a1 := above[y*stride:][:n], above[(y+1)*stride:][:n]
		for x := range columns {
			cube := b0[x]
			squareX, squareY, squareZ := min(b0[x], b0[x+1]), min(b0[x], b1[x]), min(b0[x], a0[x])
			edgeXY := min(squareX, b1[x], b1[x+1])
			edgeXZ := min(squareX, a0[x], a0[x+1])
			edgeYZ := min(squareY, a0[x], a1[x])
			vertex := min(edgeXY, edgeXZ, a1[x], a1[x+1])
			sum += vertex - edgeXY - edgeXZ - edgeYZ + squareX + squareY + squareZ - cube
		}
	}
	return sum
}

func area(plane []uint64, stride, rows, columns int) uint64 {
	var sum uint64
	for y := range rows {
		n := columns + 1
		v0, v1 := plane[y*stride:][:n], plane[(y+1)*stride:][:n]
		for x := range columns {
			square := v0[x]
			edgeX, edgeY := min(v0[x], v0[x+1]), min(v0[x], v1[x])
			vertex := min(edgeX, v1[x], v1[x+1])
			sum += vertex - edgeX - edgeY + square
		}
	}
	return sum
}
