package bits

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Betti writes all functions of Betti numbers by duality.
func Betti(i ISA) {
	pack(i)
	if i.Bytes == 64 {
		grow512("faces", false)
		grow512("corners", true)
		down512()
		sift512("faces", false)
		sift512("corners", true)
		characteristic512()
	}
}

// pack writes a function that sets the bits of rows. AVX-512 packs the incomplete last word of a row, too.
func pack(i ISA) {
	Func("pack"+i.Name, "func(to *uint64, from *byte, stride, words, tail, rows int, limit uint8)",
		"sets the bits of bytes up to a limit, in rows of 64·words bytes, and, with AVX-512, in tails of fewer than "+
			"64 bytes. Rows of bits are stride bytes apart.")
	limit := atMost(i)
	to, from, stride, words, tail, rows := Arg("to"), Arg("from"), Arg("stride"), Arg("words"), Arg("tail"), Arg("rows")
	Label("row")
	at, n := New(GP64, MOVQ, to), New(GP64, MOVQ, words)
	IfZero(n, "tail")
	Label("word")
	for k := range 64 / i.Bytes {
		v := New(i.Wide, VMOVUPS, Mem{Base: from, Disp: k * i.Bytes})
		if i.Bytes == 64 {
			KMOVQ(New(K, VPCMPUB, LE, limit, v), Mem{Base: at})
		} else {
			VPCMPEQB(v, New(YMM, VPMINUB, limit, v), v)
			MOVL(New(GP32, VPMOVMSKB, v), Mem{Base: at, Disp: 4 * k})
		}
	}
	ADDQ(I32(64), from)
	ADDQ(I32(8), at)
	Repeat(n, "word")
	Label("tail")
	IfZero(tail, "next")
	if i.Bytes == 64 {
		mask := FirstLanes(tail)
		KMOVQ(New(K, VPCMPUB, LE, limit, New(ZMM, VMOVDQU8_Z, Mem{Base: from}, mask), mask), Mem{Base: at})
	}
	ADDQ(tail, from)
	Label("next")
	ADDQ(stride, to)
	Repeat(rows, "row")
	End()
}

// grow512 writes a function that grows the trunk in a row of planes: see growFaces and growCorners.
func grow512(of string, corners bool) {
	Func(of+"avx512", "func(main, left *uint64, row, plane, apart, step, planes, words int)",
		"grows the trunk in a row of each of several planes, which are step bytes apart, from the rows that "+
			"lie row and plane bytes further and, at corners, from those apart bytes before and after the second one.")
	main, left, step, planes := Arg("main"), Arg("left"), Arg("step"), Arg("planes")
	ones := AVX512.Ones()
	one := New(ZMM, VPSRLQ, U8(63), ones)
	zero := AVX512.Zero()
	beside, next := Arg("row"), Arg("plane")
	Advance(main, beside, next)
	rows := []Register{main, left, beside, next}
	if corners {
		greater := Arg("apart")
		lesser := Minus(next, greater)
		ADDQ(next, greater)
		rows = append(rows, lesser, greater)
	}
	carry := GP32()
	Label("plane")
	XORL(carry, carry)
	var before VecVirtual
	if corners {
		before = AVX512.Zero()
	}
	vectors(func(of func(base Register) Mem, mask OpmaskVirtual) {
		runs, v := load(of(left), mask), load(of(main), mask)
		for _, base := range rows[2:] {
			VPORQ(of(base), v, mask, v)
		}
		if corners {
			up := New(ZMM, VALIGNQ, U8(7), before, v)
			down := New(ZMM, VALIGNQ, U8(1), v, zero)
			VMOVDQA64(v, before)
			VPSHLDQ(U8(1), up, v, up) // one bit up, with the last bit of the previous word
			VPSHRDQ(U8(1), down, v, down)
			wide := New(ZMM, VPORQ, up, v)
			VPORQ(down, wide, v)
		}
		VPANDQ(runs, v, v)
		fillUp(v, runs, ones, one, carry)
		shifted := ZMM()
		for range 2 {
			VPSRLQ(U8(1), v, shifted)
			VPTERNLOGQ(A|B&C, runs, shifted, v)
		}
		VALIGNQ(U8(1), v, zero, shifted)
		VPSLLQ(U8(63), shifted, shifted)
		VPTERNLOGQ(A|B&C, runs, shifted, v)
		VMOVDQU64(v, mask, of(main))
	})
	Advance(step, rows...)
	Repeat(planes, "plane")
	End()
}

// fillUp fills runs up from the bits of v that they have, and from the carry out of the vector before.
func fillUp(v, runs, ones, one VecVirtual, carry Register) {
	fill := func(v VecVirtual) {
		sum := New(ZMM, VPADDQ, v, runs)
		VPTERNLOGQ(A|B&^C, sum, runs, v)
	}
	fill(v)
	// Carry from words that are filled to their last bit, through words that are all ones.
	full := New(K, VPMOVQ2M, v)
	whole := New(K, VPCMPEQQ, ones, runs)
	f := New(GP32, KMOVB, full)
	w := New(GP32, KMOVB, whole)
	LEAL(Mem{Base: carry, Index: f, Scale: 2}, f)
	to := New(GP32, MOVL, f)
	ANDL(w, to)
	ADDL(w, to)
	XORL(w, to)
	ORL(f, to)
	MOVL(to, carry)
	SHRL(U8(8), carry)
	ANDL(U8(1), carry)
	into := New(K, KMOVB, to)
	more := New(ZMM, VMOVDQA64_Z, one, into)
	VPANDQ(runs, more, more)
	fill(more)
	VPORQ(more, v, v)
}

// down512 writes a function that grows the trunk down a row: see growDown.
func down512() {
	Func("downavx512", "func(main, left *uint64, words, step, planes int)",
		"grows the trunk down to the first bits of runs in a row of words, in each of several planes, step bytes "+
			"apart.")
	const all = 255 // words of a vector
	main, left, step, planes := Arg("main"), Arg("left"), Arg("step"), Arg("planes")
	ones := AVX512.Ones()
	lowest := New(ZMM, VPSRLQ, U8(63), ones)
	most, carry := GP64(), GP32()
	Label("plane")
	Load(Param("words"), most)
	at := New(GP64, LEAQ, Mem{Base: most, Disp: -1})
	ANDQ(I32(-vector), at) // the start of the last vector, and its number of words
	SUBQ(at, most)
	some := New(GP32, MOVL, I32(all))
	BZHIL(most.As32(), some, some)
	XORL(carry, carry)
	Label("words")
	mask := New(K, KMOVB, some)
	of := func(base Register) Mem { return Mem{Base: base, Index: at, Scale: vector} }
	runs, v := load(of(left), mask), load(of(main), mask)
	top := New(ZMM, VPANDNQ, ones, runs) // runs at the end of a word
	VPLZCNTQ(top, top)
	VPSRLVQ(top, ones, top)
	VPANDNQ(ones, top, top)
	reach := runs
	for by := uint8(1); by < 64; by *= 2 {
		shifted := New(ZMM, VPSRLQ, U8(by), v)
		VPTERNLOGQ(A|B&C, reach, shifted, v)
		if by < 32 { // the bits followed by enough more of their run
			further := New(ZMM, VPSRLQ, U8(by), reach)
			VPANDQ(reach, further, further)
			reach = further
		}
	}
	// Carry from words that are filled from their first bit to the words before them, through words
	// that are all ones.
	begins := New(K, VPTESTMQ, lowest, v)
	whole := New(K, VPCMPEQQ, ones, runs)
	g := New(GP32, KMOVB, begins)
	w := New(GP32, KMOVB, whole)
	t := carriedDown(g, w, carry)
	into := New(K, KMOVB, t)
	VPORQ(top, v, into, v)
	ANDL(w, t)
	ORL(g, t)
	ANDL(U8(1), t)
	MOVL(t, carry)
	VMOVDQU64(v, mask, of(main))
	MOVL(I32(all), some)
	SUBQ(I32(vector), at)
	JGE(LabelRef("words"))
	Advance(step, main, left)
	Repeat(planes, "plane")
	End()
}

// carriedDown returns a bit for each word that a carry reaches: from the words after it that have a bit in begins, and
// from the carry, through those of whole. It overwrites carry.
func carriedDown(begins, whole, carry GPVirtual) GPVirtual {
	more := GP32()
	t := New(GP32, MOVL, begins)
	SHLL(U8(vector), carry)
	ORL(carry, t)
	SHRL(U8(1), t)
	MOVL(whole, carry) // temporarily: the words that a carry passes through
	for by := uint8(1); by < vector; by *= 2 {
		MOVL(t, more)
		ANDL(carry, more)
		SHRL(U8(by), more)
		ORL(more, t)
		MOVL(carry, more)
		SHLL(U8(by), more)
		ANDL(more, carry)
	}
	return t
}

// A sieve has the registers of a function that compares voxels with their neighbours, in left (0) and in main (1).
type sieve struct {
	corners     bool
	bases       [2][3]GPVirtual // the previous rows of the previous, own and next plane
	stride      Register
	mask, marks OpmaskVirtual
}

// row returns row y of plane z, both from 0 (before) to 2 (after).
func (s sieve) row(i, z, y int) Mem {
	m := Mem{Base: s.bases[i][z]}
	if y > 0 {
		m.Index, m.Scale = s.stride, uint8(y)
	}
	return m
}

func (s sieve) own(i int) Mem { return s.row(i, 1, 1) }

// mark marks the words that have a bit.
func (s sieve) mark(v VecVirtual, at Register) {
	VPTESTMQ(v, v, s.marks)
	m := New(GP32, KMOVB, s.marks)
	MOVB(m.As8(), Mem{Base: at})
}

// near returns the neighbours of the voxels v.
func (s sieve) near(i int, v VecVirtual) VecVirtual {
	const own, word = 1, 8
	beside := AVX512.Zero()
	before, after := load(s.own(i).Offset(-word), s.mask), load(s.own(i).Offset(word), s.mask)
	for z := range 3 {
		for y := range 3 {
			if z == own && y == own || !s.corners && z != own && y != own {
				continue
			}
			VPORQ(s.row(i, z, y), beside, s.mask, beside)
			if s.corners {
				VPORQ(s.row(i, z, y).Offset(-word), before, s.mask, before)
				VPORQ(s.row(i, z, y).Offset(word), after, s.mask, after)
			}
		}
	}
	wide := v
	if s.corners {
		wide = New(ZMM, VPORQ, beside, v)
	}
	VPSHLDQ(U8(1), before, wide, before)
	VPSHRDQ(U8(1), after, wide, after)
	VPTERNLOGQ(A|B|C, after, before, beside)
	return beside
}

// advance moves all rows.
func (s sieve) advance(by Op) {
	for i := range s.bases {
		Advance(by, s.bases[i][:]...)
	}
}

// sift512 writes a function that counts the bits of a row without a neighbour: see sift.
func sift512(of string, corners bool) {
	Func(of+"siftavx512", "func(left, main *uint64, stride, plane, words, rows int, kept uint64, some, touching *byte) "+
		"int64",
		"removes bits that have no neighbour in left from rows of words, except those in kept, and counts those "+
			"without one in main, too. It marks the words that have bits left, and those that touch main. Distances "+
			"are in bytes.")
	stride, plane := Arg("stride"), Arg("plane")
	s := sieve{corners: corners, stride: stride}
	for i, param := range []string{"left", "main"} {
		base := Minus(Arg(param), stride)
		s.bases[i] = [3]GPVirtual{Minus(base, plane), base, New(GP64, LEAQ, Mem{Base: base, Index: plane, Scale: 1})}
	}
	words := Arg("words")
	ADDQ(I32(vector-1), words)
	ANDQ(I32(-vector), words)
	SHLQ(U8(3), words)
	further := Minus(stride, words) // from the end of a row's vectors
	rows, some, touching := Arg("rows"), Arg("some"), Arg("touching")
	kept := New(ZMM, VPBROADCASTQ, Address("kept"))
	sum := AVX512.Zero()
	s.mask, s.marks = K(), K()
	Label("row")
	Load(Param("words"), words)
	Label("words")
	FirstWords(words, s.mask)
	left := load(s.own(0), s.mask)
	s.mark(left, some)
	KTESTB(s.marks, s.marks)
	JZ(LabelRef("none"))
	alone := s.near(0, left)
	VPORQ(kept, alone, alone)
	VPANDNQ(left, alone, alone)
	VPXORQ(alone, left, left)
	VMOVDQU64(left, s.mask, s.own(0))
	s.mark(left, some)
	main := load(s.own(1), s.mask)
	touched := s.near(1, main)
	VPANDNQ(alone, touched, alone)
	VPOPCNTQ(alone, alone)
	VPADDQ(alone, sum, sum)
	VPANDQ(left, touched, touched)
	s.mark(touched, touching)
	JMP(LabelRef("next"))
	Label("none")
	MOVB(I8(0), Mem{Base: touching})
	Label("next")
	s.advance(I32(8 * vector))
	INCQ(some)
	INCQ(touching)
	SUBQ(I32(vector), words)
	JG(LabelRef("words"))
	s.advance(further)
	Repeat(rows, "row")
	End(SumWords(sum))
}

// characteristic512 writes a function that counts the characteristic between two planes: see
// characteristic.
func characteristic512() {
	Func("characteristicavx512", "func(before, plane *uint64, stride, rows, words int) int64",
		"returns the characteristic of the cells that begin at rows of vertices. The first is after "+
			"the given rows of two planes, stride bytes apart.")
	runsBetween("before", "plane", func(v, to VecVirtual) { VPORQ(v, to, to) })
}

// runsBetween adds up the runs of the cells between two planes. join joins the voxels of a cell.
func runsBetween(first, second string, join func(v, to VecVirtual)) {
	betweenPlanes(first, second, func(v [4]VecVirtual) [4]VecVirtual {
		all, lower, upper, own := v[0], v[1], v[2], v[3]
		join(own, lower)
		join(own, upper)
		join(lower, all)
		join(upper, all)
		return v
	}, func(v, before VecVirtual) {
		VPANDNQ(v, before, before)
		VPOPCNTQ(before, before)
	})
}
