// Package bits writes the vector instructions for planes of bits, a bit for each voxel of rows of words.
package bits

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// vectors loops over the words of a row. body gets the place in a row of the current vector of words, and a mask of
// those that belong to the row.
func vectors(body func(of func(base Register) Mem, mask OpmaskVirtual)) {
	n, at, mask := Arg("words"), GP64(), K()
	XORQ(at, at)
	Label("words")
	FirstWords(n, mask)
	body(func(base Register) Mem { return Mem{Base: base, Index: at, Scale: 8} }, mask)
	ADDQ(I32(8), at)
	SUBQ(I32(8), n)
	JG(LabelRef("words"))
}

// load loads the words of a mask, and 0 elsewhere.
func load(from Mem, mask Register) VecVirtual { return New(ZMM, VMOVDQU64_Z, from, mask) }

// betweenPlanes adds up counts of two planes. Each has one base register for a row, and the next row. join makes of
// their words the cells of four kinds. count gets the cells of one kind, and those of the voxels before, which it
// replaces by counts. Those of squares in one plane are subtracted.
func betweenPlanes(first, second string, join func(v [4]VecVirtual) [4]VecVirtual, count func(v, before VecVirtual)) {
	a, c, stride, rows, sum := Arg(first), Arg(second), Arg("stride"), Arg("rows"), AVX512.Zero()
	Label("row")
	b := New(GP64, LEAQ, Mem{Base: a, Index: stride, Scale: 1})
	d := New(GP64, LEAQ, Mem{Base: c, Index: stride, Scale: 1})
	last := AVX512.Zeros(4)
	vectors(func(of func(base Register) Mem, mask OpmaskVirtual) {
		for i, v := range join([4]VecVirtual{load(of(a), mask), load(of(b), mask), load(of(c), mask), load(of(d), mask)}) {
			before := New(ZMM, VALIGNQ, U8(7), last[i], v)
			VMOVDQA64(v, last[i])
			VPSHLDQ(U8(1), before, v, before)
			count(v, before)
			if i%3 == 0 {
				VPADDQ(before, sum, sum)
			} else {
				VPSUBQ(before, sum, sum)
			}
		}
	})
	Advance(stride, a, c)
	Repeat(rows, "row")
	End(SumWords(sum))
}

// atMost broadcasts the limit of bytes.
func atMost(i ISA) VecVirtual { return New(i.Wide, VPBROADCASTB, Address("limit")) }
