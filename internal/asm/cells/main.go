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
	limit := ZMM()
	most := Address("limit")
	VPBROADCASTB(most, limit)
	to, from, rows, words, tail := Arg("to"), Arg("plane"), Arg("rows"), Arg("words"), Arg("tail")
	some := New(GP64, MOVQ, I32(-1))
	BZHIQ(tail, some, some)
	mask := New(K, KMOVQ, some)
	Label("row")
	n := New(GP64, MOVQ, words)
	IfZero(n, "tail")
	Label("word")
	v := New(ZMM, VMOVDQU8, Mem{Base: from})
	VPSUBUSB(limit, v, v)
	in := New(K, VPTESTNMB, v, v)
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
	limit := YMM()
	most := Address("limit")
	VPBROADCASTB(most, limit)
	zero := AVX2.Zero()
	to, from, rows, words, tail := Arg("to"), Arg("plane"), Arg("rows"), Arg("words"), Arg("tail")
	Label("row")
	n := New(GP64, MOVQ, words)
	Label("word")
	for i := range 2 {
		v := New(YMM, VMOVDQU, Mem{Base: from, Disp: voxels / 2 * i})
		VPSUBUSB(limit, v, v)
		VPCMPEQB(zero, v, v)
		in := New(GP32, VPMOVMSKB, v)
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
	at, n := GP64(), GP64()
	sum := AVX512.Zero()
	Label("row")
	b1 := New(GP64, LEAQ, Mem{Base: b0, Index: stride, Scale: 1})
	a1 := New(GP64, LEAQ, Mem{Base: a0, Index: stride, Scale: 1})
	XORQ(at, at)
	Load(Param("words"), n)
	last := [4]VecVirtual{ZMM(), ZMM(), ZMM(), ZMM()}
	for _, v := range last {
		VPXORQ(v, v, v)
	}
	Label("words")
	most := New(GP64, MOVQ, I32(8)) // an instruction reads no more than the lowest byte of a number of bits
	CMPQ(n, most)
	CMOVQLT(n, most)
	some := New(GP64, MOVQ, I32(-1))
	BZHIQ(most, some, some)
	mask := New(K, KMOVB, some.As32())
	load := func(base Register) VecVirtual {
		v := New(ZMM, VMOVDQU64_Z, Mem{Base: base, Index: at, Scale: word}, mask)
		return v
	}
	edge, squareXY, squareXZ, cube := load(b0), load(b1), load(a0), load(a1)
	VPORQ(cube, squareXY, squareXY)
	VPORQ(cube, squareXZ, squareXZ)
	VPORQ(squareXY, edge, edge)
	VPORQ(squareXZ, edge, edge)
	// Count the cells that span x, and those that do not: these also bound the voxel before.
	for i, v := range []VecVirtual{edge, squareXY, squareXZ, cube} {
		wide := New(ZMM, VALIGNQ, U8(7), last[i], v)
		VMOVDQA64(v, last[i])
		VPSHLDQ(U8(1), wide, v, wide)
		VPORQ(v, wide, wide)
		VPOPCNTQ(wide, wide)
		count := New(ZMM, VPOPCNTQ, v)
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
	out := New(GP64, VMOVQ, sum.AsX())
	End(out)
}
