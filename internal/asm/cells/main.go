// Package cells writes the vector instructions that count cells.
package cells

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Write writes all functions of an instruction set.
func Write(i ISA) {
	switch i.Name {
	case "avx512":
		fill512()
		cells512()
	case "avx2":
		fill256()
	}
}

// voxels of a word, and its bytes.
const voxels, word = 64, 8

// fill512 generates the function that sets a bit for each byte that is at most a limit. It clears
// the bits of the others.
func fill512() {
	Func("fillavx512", "func(to *uint64, plane *byte, rows, words, tail int, limit uint8)",
		"sets the bits of so many rows of bytes that are not above a limit: of so many words and of one more, of a tail of fewer than 64 bytes.")
	limit, v := ZMM(), ZMM()
	most := Address("limit")
	VPBROADCASTB(most, limit)
	to, from, rows, words, tail, some := Arg("to"), Arg("plane"), Arg("rows"), Arg("words"), Arg("tail"), GP64()
	MOVQ(I32(-1), some)
	BZHIQ(tail, some, some)
	mask, in := K(), K()
	KMOVQ(some, mask)
	n := GP64()
	Label("row")
	MOVQ(words, n)
	IfZero(n, "tail")
	Label("word")
	VMOVDQU8(Mem{Base: from}, v)
	VPSUBUSB(limit, v, v)
	VPTESTNMB(v, v, in)
	KMOVQ(in, Mem{Base: to})
	ADDQ(I32(voxels), from)
	ADDQ(I32(word), to)
	Repeat(n, "word")
	Label("tail")
	VMOVDQU8_Z(Mem{Base: from}, mask, v)
	VPSUBUSB(limit, v, v)
	VPTESTNMB(v, v, mask, in)
	KMOVQ(in, Mem{Base: to})
	ADDQ(tail, from)
	ADDQ(I32(word), to)
	Repeat(rows, "row")
	End()
}

func fill256() {
	Func("fillavx2", "func(to *uint64, plane *byte, rows, words, tail int, limit uint8)",
		"sets the bits of so many rows of bytes that are not above a limit, of so many words, and leaves out one word more, of a tail.")
	limit, zero := YMM(), YMM()
	most := Address("limit")
	VPBROADCASTB(most, limit)
	VPXOR(zero, zero, zero)
	to, from, rows, words, tail, n := Arg("to"), Arg("plane"), Arg("rows"), Arg("words"), Arg("tail"), GP64()
	Label("row")
	MOVQ(words, n)
	Label("word")
	for i := range 2 {
		v, in := YMM(), GP32()
		VMOVDQU(Mem{Base: from, Disp: voxels / 2 * i}, v)
		VPSUBUSB(limit, v, v)
		VPCMPEQB(zero, v, v)
		VPMOVMSKB(v, in)
		MOVL(in, Mem{Base: to, Disp: word / 2 * i})
	}
	ADDQ(I32(voxels), from)
	ADDQ(I32(word), to)
	Repeat(n, "word")
	ADDQ(tail, from)
	ADDQ(I32(word), to)
	Repeat(rows, "row")
	End()
}

// cells512 generates the vector code of CellsBetween.
func cells512() {
	Func("cellsavx512", "func(below, above *uint64, stride, rows, words int) int64",
		"counts the cells that start at so many rows of vertices, each between a row and the next one of two planes: rows are stride bytes apart.")
	b0, a0, stride, rows := Arg("below"), Arg("above"), Arg("stride"), Arg("rows")
	b1, a1, at, n := GP64(), GP64(), GP64(), GP64()
	sum := ZMM()
	VPXORQ(sum, sum, sum)
	mask := K()
	Label("row")
	LEAQ(Mem{Base: b0, Index: stride, Scale: 1}, b1)
	LEAQ(Mem{Base: a0, Index: stride, Scale: 1}, a1)
	XORQ(at, at)
	Load(Param("words"), n)
	last := [4]VecVirtual{ZMM(), ZMM(), ZMM(), ZMM()}
	for _, v := range last {
		VPXORQ(v, v, v)
	}
	Label("words")
	some, most := GP64(), GP64()
	MOVQ(I32(8), most) // an instruction reads no more than the lowest byte of a number of bits
	CMPQ(n, most)
	CMOVQLT(n, most)
	MOVQ(I32(-1), some)
	BZHIQ(most, some, some)
	KMOVB(some.As32(), mask)
	load := func(base Register) VecVirtual {
		v := ZMM()
		VMOVDQU64_Z(Mem{Base: base, Index: at, Scale: word}, mask, v)
		return v
	}
	edge, squareXY, squareXZ, cube := load(b0), load(b1), load(a0), load(a1)
	VPORQ(cube, squareXY, squareXY)
	VPORQ(cube, squareXZ, squareXZ)
	VPORQ(squareXY, edge, edge)
	VPORQ(squareXZ, edge, edge)
	// Count the cells that span x, and those that do not: these also bound the voxel before.
	for i, v := range []VecVirtual{edge, squareXY, squareXZ, cube} {
		wide, count := ZMM(), ZMM()
		VALIGNQ(U8(7), last[i], v, wide)
		VMOVDQA64(v, last[i])
		VPSHLDQ(U8(1), wide, v, wide)
		VPORQ(v, wide, wide)
		VPOPCNTQ(wide, wide)
		VPOPCNTQ(v, count)
		VPSUBQ(count, wide, wide)
		if i%3 == 0 { // a vertex less an edge, a square less the cube
			VPADDQ(wide, sum, sum)
		} else { // edges less squares
			VPSUBQ(wide, sum, sum)
		}
	}
	ADDQ(I32(8), at)
	SUBQ(I32(8), n)
	JG(LabelRef("words"))
	ADDQ(stride, b0)
	ADDQ(stride, a0)
	Repeat(rows, "row")
	half := ZMM()
	VEXTRACTI64X4(U8(1), sum, half.AsY())
	VPADDQ(half.AsY(), sum.AsY(), sum.AsY())
	VEXTRACTI128(U8(1), sum.AsY(), half.AsX())
	VPADDQ(half.AsX(), sum.AsX(), sum.AsX())
	VPSHUFD(U8(0xee), sum.AsX(), half.AsX())
	VPADDQ(half.AsX(), sum.AsX(), sum.AsX())
	out := GP64()
	VMOVQ(sum.AsX(), out)
	End(out)
}
