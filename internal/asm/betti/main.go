// Package betti writes the vector instructions of Betti numbers by duality.
package betti

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Write writes all functions of an instruction set.
func Write(i ISA) {
	switch i.Name {
	case "avx512":
		pack512()
		grow512("faces", false)
		grow512("corners", true)
		down512()
		sift512("faces", false)
		sift512("corners", true)
		characteristic512()
	case "avx2":
		pack256()
	}
}

// pack writes a function that sets the bits of rows. word packs 64 voxels, and last packs the
// incomplete last word of a row.
func pack(name string, begin func(limit Mem), word func(from, to Mem), last func(from, to Mem, tail Register)) {
	Func(name, "func(to *uint64, from *byte, stride, words, tail, rows int, limit uint8)",
		"sets the bits of so many rows of bytes that are not above a limit: of so many words, and, where it "+
			"can, of a tail of fewer than 64 bytes. Rows of bits are so many bytes apart.")
	limit := Address("limit")
	begin(limit)
	to, from, stride, words, tail, rows := Arg("to"), Arg("from"), Arg("stride"), Arg("words"), Arg("tail"), Arg("rows")
	at, n := GP64(), GP64()
	Label("row")
	MOVQ(to, at)
	MOVQ(words, n)
	IfZero(n, "tail")
	Label("word")
	word(Mem{Base: from}, Mem{Base: at})
	ADDQ(I32(64), from)
	ADDQ(I32(8), at)
	Repeat(n, "word")
	Label("tail")
	IfZero(tail, "next")
	if last != nil {
		last(Mem{Base: from}, Mem{Base: at}, tail)
	}
	ADDQ(tail, from)
	Label("next")
	ADDQ(stride, to)
	Repeat(rows, "row")
	End()
}

func pack512() {
	const notAbove = 2 // of unsigned bytes
	limit := ZMM()
	mask, bits := K(), K()
	pack("packavx512", func(of Mem) { VPBROADCASTB(of, limit) }, func(from, to Mem) {
		v := ZMM()
		VMOVDQU8(from, v)
		VPCMPUB(U8(notAbove), limit, v, bits)
		KMOVQ(bits, to)
	}, func(from, to Mem, tail Register) {
		m, v := GP64(), ZMM()
		MOVQ(I32(-1), m)
		BZHIQ(tail, m, m)
		KMOVQ(m, mask)
		VMOVDQU8_Z(from, mask, v)
		VPCMPUB(U8(notAbove), limit, v, mask, bits)
		KMOVQ(bits, to)
	})
}

func pack256() {
	limit := YMM()
	pack("packavx2", func(of Mem) { VPBROADCASTB(of, limit) }, func(from, to Mem) {
		for i := range 2 {
			v, least := YMM(), YMM()
			VMOVDQU(from.Offset(32*i), v)
			VPMINUB(limit, v, least)
			VPCMPEQB(v, least, v)
			bits := GP32()
			VPMOVMSKB(v, bits)
			MOVL(bits, to.Offset(4*i))
		}
	}, nil)
}

// Boolean functions of three operands; the first one is the destination.
const (
	orAndNot = 0xf4 // a | b &^ c
	orAnd    = 0xf8 // a | b & c
	or3      = 0xfe
)

// first masks the first n words of a vector, at most all of them. n is clamped, because BZHI reads
// only the lowest byte of its bit count.
func first(n GPVirtual, mask OpmaskVirtual) {
	most := GP64()
	MOVQ(I32(8), most)
	CMPQ(n, most)
	CMOVQLT(n, most)
	some := GP32()
	MOVL(I32(255), some)
	BZHIL(most.As32(), some, some)
	KMOVB(some, mask)
}

// grow512 writes a function that grows the trunk in a row of planes: see growFaces and growCorners.
func grow512(of string, corners bool) {
	name := of + "avx512"
	Func(name, "func(main, left *uint64, row, plane, apart, step, planes, words int)",
		"grows the trunk in a row of each of so many planes, which are step bytes apart, from the rows that "+
			"lie row and plane bytes further and, at corners, from those apart bytes before and after the second one.")
	main, left, step, planes := Arg("main"), Arg("left"), Arg("step"), Arg("planes")
	ones, one, zero := ZMM(), ZMM(), ZMM()
	VPTERNLOGQ(U8(0xff), ones, ones, ones)
	VPSRLQ(U8(63), ones, one)
	VPXORQ(zero, zero, zero)
	beside, next := Arg("row"), Arg("plane")
	ADDQ(main, beside)
	ADDQ(main, next)
	rows := []Register{main, left, beside, next}
	var lesser, greater Register
	if corners {
		greater = Arg("apart")
		lesser = GP64()
		MOVQ(next, lesser)
		SUBQ(greater, lesser)
		ADDQ(next, greater)
		rows = append(rows, lesser, greater)
	}
	at, n, carry := GP64(), GP64(), GP32()
	mask := K()
	Label("plane")
	XORQ(at, at)
	XORL(carry, carry)
	Load(Param("words"), n)
	before := ZMM()
	if corners {
		VPXORQ(before, before, before)
	}
	Label("words")
	first(n, mask)
	place := func(base Register) Mem { return Mem{Base: base, Index: at, Scale: 8} }
	runs, v := ZMM(), ZMM()
	VMOVDQU64_Z(place(left), mask, runs)
	VMOVDQU64_Z(place(main), mask, v)
	VPORQ(place(beside), v, mask, v)
	VPORQ(place(next), v, mask, v)
	if corners {
		VPORQ(place(lesser), v, mask, v)
		VPORQ(place(greater), v, mask, v)
		up, down, wide := ZMM(), ZMM(), ZMM()
		VALIGNQ(U8(7), before, v, up)
		VALIGNQ(U8(1), v, zero, down)
		VMOVDQA64(v, before)
		VPSHLDQ(U8(1), up, v, up) // one bit up, with the last bit of the previous word
		VPSHRDQ(U8(1), down, v, down)
		VPORQ(up, v, wide)
		VPORQ(down, wide, v)
	}
	VPANDQ(runs, v, v)
	fill := func(v VecVirtual) {
		sum := ZMM()
		VPADDQ(v, runs, sum)
		VPTERNLOGQ(U8(orAndNot), sum, runs, v)
	}
	fill(v)
	// Carry from words that are filled to their last bit, through words that are all ones.
	full, whole := K(), K()
	VPMOVQ2M(v, full)
	VPCMPEQQ(ones, runs, whole)
	f, w, to := GP32(), GP32(), GP32()
	KMOVB(full, f)
	KMOVB(whole, w)
	LEAL(Mem{Base: carry, Index: f, Scale: 2}, f)
	MOVL(f, to)
	ANDL(w, to)
	ADDL(w, to)
	XORL(w, to)
	ORL(f, to)
	MOVL(to, carry)
	SHRL(U8(8), carry)
	ANDL(U8(1), carry)
	into := K()
	KMOVB(to, into)
	more := ZMM()
	VMOVDQA64_Z(one, into, more)
	VPANDQ(runs, more, more)
	fill(more)
	VPORQ(more, v, v)
	shifted := ZMM()
	for range 2 {
		VPSRLQ(U8(1), v, shifted)
		VPTERNLOGQ(U8(orAnd), runs, shifted, v)
	}
	VALIGNQ(U8(1), v, zero, shifted)
	VPSLLQ(U8(63), shifted, shifted)
	VPTERNLOGQ(U8(orAnd), runs, shifted, v)
	VMOVDQU64(v, mask, place(main))
	ADDQ(I32(8), at)
	SUBQ(I32(8), n)
	JG(LabelRef("words"))
	for _, of := range rows {
		ADDQ(step, of)
	}
	Repeat(planes, "plane")
	End()
}

// down512 writes a function that grows the trunk down a row: see growDown.
func down512() {
	Func("downavx512", "func(main, left *uint64, words, step, planes int)",
		"grows the trunk down to the begins of runs in a row of so many words, in each of so many planes, "+
			"step bytes apart.")
	const vector, all = 8, 255 // words
	main, left, step, planes := Arg("main"), Arg("left"), Arg("step"), Arg("planes")
	ones, lowest := ZMM(), ZMM()
	VPTERNLOGQ(U8(0xff), ones, ones, ones)
	VPSRLQ(U8(63), ones, lowest)
	at, most, some, carry, mask := GP64(), GP64(), GP32(), GP32(), K()
	Label("plane")
	Load(Param("words"), most)
	LEAQ(Mem{Base: most, Disp: -1}, at)
	ANDQ(I32(-vector), at) // the start of the last vector, and its number of words
	SUBQ(at, most)
	MOVL(I32(all), some)
	BZHIL(most.As32(), some, some)
	XORL(carry, carry)
	Label("words")
	KMOVB(some, mask)
	of := func(base Register) Mem { return Mem{Base: base, Index: at, Scale: vector} }
	v, runs, top := ZMM(), ZMM(), ZMM()
	VMOVDQU64_Z(of(left), mask, runs)
	VMOVDQU64_Z(of(main), mask, v)
	VPANDNQ(ones, runs, top) // runs at the end of a word
	VPLZCNTQ(top, top)
	VPSRLVQ(top, ones, top)
	VPANDNQ(ones, top, top)
	reach := runs
	for by := uint8(1); by < 64; by *= 2 {
		shifted := ZMM()
		VPSRLQ(U8(by), v, shifted)
		VPTERNLOGQ(U8(orAnd), reach, shifted, v)
		if by < 32 { // the bits followed by enough more of their run
			further := ZMM()
			VPSRLQ(U8(by), reach, further)
			VPANDQ(reach, further, further)
			reach = further
		}
	}
	// Carry from words that are filled from their first bit to the words before them, through words
	// that are all ones.
	begins, whole, into := K(), K(), K()
	VPTESTMQ(lowest, v, begins)
	VPCMPEQQ(ones, runs, whole)
	g, w, t, more := GP32(), GP32(), GP32(), GP32()
	KMOVB(begins, g)
	KMOVB(whole, w)
	MOVL(g, t)
	SHLL(U8(vector), carry)
	ORL(carry, t)
	SHRL(U8(1), t)
	MOVL(w, carry) // temporarily: the words that a carry passes through
	for by := uint8(1); by < vector; by *= 2 {
		MOVL(t, more)
		ANDL(carry, more)
		SHRL(U8(by), more)
		ORL(more, t)
		MOVL(carry, more)
		SHLL(U8(by), more)
		ANDL(more, carry)
	}
	KMOVB(t, into)
	VPORQ(top, v, into, v)
	ANDL(w, t)
	ORL(g, t)
	ANDL(U8(1), t)
	MOVL(t, carry)
	VMOVDQU64(v, mask, of(main))
	MOVL(I32(all), some)
	SUBQ(I32(vector), at)
	JGE(LabelRef("words"))
	ADDQ(step, main)
	ADDQ(step, left)
	Repeat(planes, "plane")
	End()
}

// sift512 writes a function that counts the bits of a row without a neighbour: see sift.
func sift512(of string, corners bool) {
	name := of + "siftavx512"
	Func(name, "func(left, main *uint64, stride, plane, words, rows int, kept uint64, some, touching *byte) "+
		"int64",
		"takes bits that have no neighbour in left from so many rows of words, but for those of words with the "+
			"kept bits, and counts those that have none in main either. It marks the words that have some left, and those "+
			"that touch main. Distances are of bytes.")
	stride, plane := Arg("stride"), Arg("plane")
	var bases [2][3]GPVirtual // the previous rows of the previous, own and next plane
	for i, param := range []string{"left", "main"} {
		for k := range bases[i] {
			bases[i][k] = GP64()
		}
		Load(Param(param), bases[i][1])
		SUBQ(stride, bases[i][1])
		MOVQ(bases[i][1], bases[i][0])
		SUBQ(plane, bases[i][0])
		LEAQ(Mem{Base: bases[i][1], Index: plane, Scale: 1}, bases[i][2])
	}
	words, further, rows := GP64(), GP64(), GP64()
	const own, vector, word = 1, 64, 8
	Load(Param("words"), words)
	ADDQ(I32(vector/word-1), words)
	ANDQ(I32(-vector/word), words)
	SHLQ(U8(3), words)
	MOVQ(stride, further) // from the end of a row's vectors
	SUBQ(words, further)
	Load(Param("rows"), rows)
	some, touching := Arg("some"), Arg("touching")
	kept, sum := ZMM(), ZMM()
	keep := Address("kept")
	VPBROADCASTQ(keep, kept)
	VPXORQ(sum, sum, sum)
	mask, marks := K(), K()
	// row returns row y of plane z, both from 0 (before) to 2 (after).
	row := func(i, z, y int) Mem {
		m := Mem{Base: bases[i][z]}
		if y > 0 {
			m.Index, m.Scale = stride, uint8(y)
		}
		return m
	}
	mark := func(v VecVirtual, at Register) {
		m := GP32()
		VPTESTMQ(v, v, marks)
		KMOVB(marks, m)
		MOVB(m.As8(), Mem{Base: at})
	}
	near := func(i int, v VecVirtual) VecVirtual {
		before, after, beside := ZMM(), ZMM(), ZMM()
		VMOVDQU64_Z(row(i, own, own).Offset(-word), mask, before)
		VMOVDQU64_Z(row(i, own, own).Offset(word), mask, after)
		VPXORQ(beside, beside, beside)
		for z := range 3 {
			for y := range 3 {
				if z == own && y == own || !corners && z != own && y != own {
					continue
				}
				VPORQ(row(i, z, y), beside, mask, beside)
				if corners {
					VPORQ(row(i, z, y).Offset(-word), before, mask, before)
					VPORQ(row(i, z, y).Offset(word), after, mask, after)
				}
			}
		}
		wide := v
		if corners {
			wide = ZMM()
			VPORQ(beside, v, wide)
		}
		VPSHLDQ(U8(1), before, wide, before)
		VPSHRDQ(U8(1), after, wide, after)
		VPTERNLOGQ(U8(or3), after, before, beside)
		return beside
	}
	Label("row")
	Load(Param("words"), words)
	Label("words")
	first(words, mask)
	left, main := ZMM(), ZMM()
	VMOVDQU64_Z(row(0, own, own), mask, left)
	mark(left, some)
	KTESTB(marks, marks)
	JZ(LabelRef("none"))
	alone := near(0, left)
	VPORQ(kept, alone, alone)
	VPANDNQ(left, alone, alone)
	VPXORQ(alone, left, left)
	VMOVDQU64(left, mask, row(0, own, own))
	mark(left, some)
	VMOVDQU64_Z(row(1, own, own), mask, main)
	touched := near(1, main)
	VPANDNQ(alone, touched, alone)
	VPOPCNTQ(alone, alone)
	VPADDQ(alone, sum, sum)
	VPANDQ(left, touched, touched)
	mark(touched, touching)
	JMP(LabelRef("next"))
	Label("none")
	MOVB(I8(0), Mem{Base: touching})
	Label("next")
	ahead := func(by Op) {
		for i := range bases {
			for _, base := range bases[i] {
				ADDQ(by, base)
			}
		}
	}
	ahead(I32(vector))
	INCQ(some)
	INCQ(touching)
	SUBQ(I32(vector/word), words)
	JG(LabelRef("words"))
	ahead(further)
	Repeat(rows, "row")
	total(sum)
}

// characteristic512 writes a function that counts the characteristic between two planes: see
// characteristic.
func characteristic512() {
	Func("characteristicavx512", "func(before, plane *uint64, stride, rows, words int) int64",
		"is the characteristic of the cells that begin at so many rows of vertices, of which the "+
			"first is after the given rows of two planes, stride bytes apart.")
	a, c, stride, rows, words := Arg("before"), Arg("plane"), Arg("stride"), Arg("rows"), Arg("words")
	b, d, at, n := GP64(), GP64(), GP64(), GP64()
	sum := ZMM()
	VPXORQ(sum, sum, sum)
	mask := K()
	Label("row")
	LEAQ(Mem{Base: a, Index: stride, Scale: 1}, b)
	LEAQ(Mem{Base: c, Index: stride, Scale: 1}, d)
	XORQ(at, at)
	MOVQ(words, n)
	var last [4]VecVirtual
	for i := range last {
		last[i] = ZMM()
		VPXORQ(last[i], last[i], last[i])
	}
	Label("words")
	first(n, mask)
	place := func(base Register) Mem { return Mem{Base: base, Index: at, Scale: 8} }
	all, lower, upper, own := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64_Z(place(d), mask, own)
	VMOVDQU64_Z(place(b), mask, lower)
	VMOVDQU64_Z(place(c), mask, upper)
	VMOVDQU64_Z(place(a), mask, all)
	VPTERNLOGQ(U8(or3), upper, lower, all)
	VPORQ(own, all, all)
	VPORQ(own, lower, lower)
	VPORQ(own, upper, upper)
	for i, v := range []VecVirtual{all, lower, upper, own} {
		before := ZMM()
		VALIGNQ(U8(7), last[i], v, before)
		VMOVDQA64(v, last[i])
		VPSHLDQ(U8(1), before, v, before)
		VPANDNQ(v, before, before)
		VPOPCNTQ(before, before)
		if i%3 == 0 {
			VPADDQ(before, sum, sum)
		} else {
			VPSUBQ(before, sum, sum)
		}
	}
	ADDQ(I32(8), at)
	SUBQ(I32(8), n)
	JG(LabelRef("words"))
	ADDQ(stride, a)
	ADDQ(stride, c)
	Repeat(rows, "row")
	total(sum)
}

// total returns the sum of all words of a vector.
func total(sum VecVirtual) {
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
