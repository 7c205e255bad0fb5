package bits

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Flood writes all functions of package flood.
func Flood(ISA) {
	flood("floodFacesAVX512", false)
	flood("floodCornersAVX512", true)
	alone("aloneFacesAVX512", false)
	alone("aloneCornersAVX512", true)
}

const vector = 8 // words

// flood writes a function that grows the main component in a row of several planes: see grow.
func flood(name string, corners bool) {
	Func(name, "func(main, left *uint64, words, row, plane, apart, step, planes int)",
		"grows the main component in a row of words in each of several planes, step bytes apart, "+
			"from the rows that lie row and plane bytes further, "+
			"and at corners from those apart bytes beside the second one.")
	zero, ones := AVX512.Zero(), AVX512.Ones()
	lowest := New(ZMM, VPSRLQ, U8(63), ones)
	bases := []Register{Arg("main"), Arg("left")}
	more := func(from Register, param string) Register {
		base := Arg(param)
		ADDQ(from, base)
		bases = append(bases, base)
		return base
	}
	main, left := bases[0], bases[1]
	sources := []Register{main, more(main, "row"), more(main, "plane")}
	if corners {
		beyond := more(sources[2], "apart")
		before := Minus(sources[2], beyond)
		ADDQ(sources[2], before)
		bases = append(bases, before)
		sources = append(sources, beyond, before)
	}
	planes := Arg("planes")
	carry := GP32()
	Label("plane")
	XORL(carry, carry)
	var last VecVirtual
	if corners {
		last = AVX512.Zero()
	}
	vectors(func(of func(base Register) Mem, lanes OpmaskVirtual) {
		runs, v := load(of(left), lanes), load(of(main), lanes)
		for _, source := range sources[1:] {
			VPORQ(of(source), v, lanes, v)
		}
		if corners { // also the bits on both sides
			lesser := New(ZMM, VALIGNQ, U8(vector-1), last, v)
			greater := New(ZMM, VALIGNQ, U8(1), v, zero)
			VMOVDQA64(v, last)
			VPSHLDQ(U8(1), lesser, last, lesser)
			VPSHRDQ(U8(1), greater, last, greater)
			VPTERNLOGQ(A|B|C, greater, lesser, v)
		}
		VPANDQ(runs, v, v)
		runUp(v, runs, ones, lowest, carry)
		runDown(v, runs, zero)
		VMOVDQU64(v, lanes, of(main))
	})
	step := Arg("step")
	Advance(step, bases...)
	Repeat(planes, "plane")
	End()
}

// runUp grows v to the ends of its runs, from the carry out of the vector before on.
func runUp(v, runs, ones, lowest VecVirtual, carry Register) {
	// The carry runs to the end of a run in its word.
	upwards := func(v VecVirtual) {
		sum := New(ZMM, VPADDQ, runs, v)
		VPTERNLOGQ(A|B&^C, sum, runs, v)
	}
	upwards(v)
	// Likewise from word to word, where each word is a bit of a mask.
	ends := New(K, VPMOVQ2M, v)
	passes := New(K, VPCMPEQQ, ones, runs)
	e := New(GP32, KMOVB, ends)
	p := New(GP32, KMOVB, passes)
	LEAL(Mem{Base: carry, Index: e, Scale: 2}, e)
	begins := New(GP32, MOVL, p)
	ANDL(e, begins)
	ADDL(p, begins)
	XORL(p, begins)
	ORL(e, begins)
	MOVL(begins, carry)
	SHRL(U8(vector), carry)
	begun := New(K, KMOVB, begins)
	next := New(ZMM, VPANDQ_Z, lowest, runs, begun)
	upwards(next)
	VPORQ(next, v, v)
}

// runDown grows v down its runs by seven voxels, and by one from word to word.
func runDown(v, runs, zero VecVirtual) {
	reach := runs // the bits followed by enough more of their run
	for by := uint8(1); by < 8; by *= 2 {
		down := New(ZMM, VPSRLQ, U8(by), v)
		VPTERNLOGQ(A|B&C, reach, down, v)
		if by < 4 {
			further := New(ZMM, VPSRLQ, U8(by), reach)
			VPANDQ(reach, further, further)
			reach = further
		}
	}
	down := New(ZMM, VALIGNQ, U8(1), v, zero)
	VPSLLQ(U8(63), down, down)
	VPTERNLOGQ(A|B&C, runs, down, v)
}

// alone writes a function that removes voxels without a neighbour: see alone in Go.
func alone(name string, corners bool) {
	Func(name, "func(main, left *uint64, words, row, plane int) int",
		"removes voxels that have no neighbour in left from a row of words, "+
			"adds those that touch the main component to it, and counts the others. "+
			"Rows are row bytes apart, and planes plane bytes, at corners too.")
	main, left, words, row, plane := Arg("main"), Arg("left"), Arg("words"), Arg("row"), Arg("plane")
	rows, planes := New(GP64, MOVQ, row), New(GP64, MOVQ, plane) // distances back
	NEGQ(rows)
	NEGQ(planes)
	steps, across := []Register{rows, row, planes, plane}, []Register(nil) // to adjacent rows: at faces, only at edges
	if corners {
		for _, way := range [4][2]Register{{planes, rows}, {planes, row}, {plane, rows}, {plane, row}} {
			across = append(across, New(GP64, LEAQ, Mem{Base: way[0], Index: way[1], Scale: 1}))
		}
	}
	count := AVX512.Zero()
	Label("vector")
	lanes := K()
	FirstWords(words, lanes)
	v := load(Mem{Base: left}, lanes)
	is := New(K, VPTESTMQ, v, v)
	KORTESTB(is, is)
	JZ(LabelRef("next"))
	single := New(ZMM, VPANDNQ, v, besideAt(left, steps, across, lanes))
	VPTESTMQ(single, single, is)
	KORTESTB(is, is)
	JZ(LabelRef("next"))
	VPANDNQ(v, single, v)
	VMOVDQU64(v, lanes, Mem{Base: left})
	touching := New(ZMM, VPANDQ, besideAt(main, steps, across, lanes), single)
	VPANDNQ(single, touching, single)
	VPORQ(Mem{Base: main}, touching, lanes, touching)
	VMOVDQU64(touching, lanes, Mem{Base: main})
	VPOPCNTQ(single, single)
	VPADDQ(single, count, count)
	Label("next")
	Advance(I32(8*vector), main, left)
	SUBQ(I32(vector), words)
	JG(LabelRef("vector"))
	End(SumWords(count))
}

// besideAt returns the voxels adjacent to those at a base. Steps lead to the rows at faces; across leads to the rows at
// edges alone, and is empty if voxels are adjacent at faces.
func besideAt(base Register, steps, across []Register, lanes OpmaskVirtual) VecVirtual {
	const word = 8 // bytes
	of := func(by Register, disp int) Mem {
		m := Mem{Base: base, Disp: disp}
		if by != nil {
			m.Index, m.Scale = by, 1
		}
		return m
	}
	beside := load(of(steps[0], 0), lanes)
	for _, by := range steps[1:] {
		VPORQ(of(by, 0), beside, lanes, beside)
	}
	lesser, greater, wide := load(of(nil, -word), lanes), load(of(nil, word), lanes), load(of(nil, 0), lanes)
	if len(across) > 0 {
		for _, by := range across {
			VPORQ(of(by, 0), beside, lanes, beside)
		}
		VPORQ(beside, wide, wide)
		for _, by := range slices.Concat(steps, across) {
			VPORQ(of(by, -word), lesser, lanes, lesser)
			VPORQ(of(by, word), greater, lanes, greater)
		}
	}
	VPSHLDQ(U8(1), lesser, wide, lesser)
	VPSHRDQ(U8(1), greater, wide, greater)
	VPTERNLOGQ(A|B|C, greater, lesser, beside)
	return beside
}
