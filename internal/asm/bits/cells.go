package bits

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Cells writes all functions of package cells.
func Cells(i ISA) {
	fill(i)
	if i.Bytes == 64 {
		cells512()
		dual512()
	}
}

// fill generates the function that sets a bit for each byte that is at most a limit. It clears
// the bits of the others.
func fill(i ISA) {
	what := ", and skips the word of the tail."
	if i.Bytes == 64 {
		what = " + tail."
	}
	Func("fill"+i.Name, "func(to *uint64, plane *byte, rows, words, tail int, limit uint8)",
		"sets the bits of bytes up to a limit, in rows whose lengths are 64·words"+what)
	const voxels, word = 64, 8
	limit, zero := atMost(i), i.Zero()
	to, from, rows, words, tail := Arg("to"), Arg("plane"), Arg("rows"), Arg("words"), Arg("tail")
	var mask Register
	if i.Bytes == 64 {
		mask = FirstLanes(tail)
	}
	Label("row")
	n := New(GP64, MOVQ, words)
	if i.Bytes == 64 {
		IfZero(n, "tail")
	}
	Label("word")
	for k := range voxels / i.Bytes {
		v := New(i.Wide, VMOVUPS, Mem{Base: from, Disp: k * i.Bytes})
		VPSUBUSB(limit, v, v)
		if i.Bytes == 64 {
			KMOVQ(New(K, VPTESTNMB, v, v), Mem{Base: to})
		} else {
			VPCMPEQB(zero, v, v)
			MOVL(New(GP32, VPMOVMSKB, v), Mem{Base: to, Disp: word / 2 * k})
		}
	}
	ADDQ(I32(voxels), from)
	ADDQ(I32(word), to)
	Repeat(n, "word")
	if i.Bytes == 64 {
		Label("tail")
		v := New(ZMM, VMOVDQU8_Z, Mem{Base: from}, mask)
		VPSUBUSB(limit, v, v)
		KMOVQ(New(K, VPTESTNMB, v, v, mask), Mem{Base: to})
	}
	ADDQ(tail, from)
	ADDQ(I32(word), to)
	Repeat(rows, "row")
	End()
}

// dual512 generates the vector code of DualCellsBetween.
func dual512() {
	Func("dualavx512", "func(below, above *uint64, stride, rows, words int) int64",
		"counts the cells whose vertices are bits, between successive rows of two planes, stride bytes apart.")
	betweenPlanes("below", "above", func(v [4]VecVirtual) [4]VecVirtual {
		vertex, edgeY, edgeZ, square := v[0], v[1], v[2], v[3]
		VPANDQ(vertex, edgeY, edgeY)
		VPANDQ(vertex, edgeZ, edgeZ)
		VPANDQ(edgeY, square, square)
		VPANDQ(edgeZ, square, square)
		return v
	}, func(v, wide VecVirtual) { // less the cells that also span x
		VPANDQ(v, wide, wide)
		VPOPCNTQ(wide, wide)
		VPSUBQ(wide, New(ZMM, VPOPCNTQ, v), wide)
	})
}

// cells512 generates the vector code of CellsBetween.
func cells512() {
	Func("cellsavx512", "func(below, above *uint64, stride, rows, words int) int64",
		"counts the cells that start at rows of vertices, each between a row and the next one of two planes. "+
			"Rows are stride bytes apart.")
	betweenPlanes("below", "above", func(v [4]VecVirtual) [4]VecVirtual {
		edge, squareXY, squareXZ, cube := v[0], v[1], v[2], v[3]
		VPORQ(cube, squareXY, squareXY)
		VPORQ(cube, squareXZ, squareXZ)
		VPORQ(squareXY, edge, edge)
		VPORQ(squareXZ, edge, edge)
		return v
	}, func(v, wide VecVirtual) { // the cells that span x, less the others, which also bound the voxel before
		VPORQ(v, wide, wide)
		VPOPCNTQ(wide, wide)
		VPSUBQ(New(ZMM, VPOPCNTQ, v), wide, wide)
	})
}
