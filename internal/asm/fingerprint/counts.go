package fingerprint

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A lane is a voxel. AVX2 compares signed numbers only.
type lane struct {
	name string
	Lane
}

// lanes returns the sizes of lanes.
func lanes() []lane { return []lane{{"bytes", Lanes[0]}, {"words", Lanes[1]}, {"doubles", Lanes[2]}} }

// An order of lanes has the instructions for the minimum, and the predicates of comparisons to masks.
type order struct {
	name           string
	least, compare func(...Op)
	greater        U8
}

// orders returns the orders of images' values, ascending or descending.
func (l lane) orders() []order {
	switch l.Bytes {
	case 1:
		return []order{{"least", VPMINUB, VPCMPUB, GT}, {"greatest", VPMAXUB, VPCMPUB, LT}}
	case 4: // which are no image's own
		return []order{{"signedleast", VPMINSD, VPCMPD, GT}}
	}
	return []order{
		{"least", VPMINUW, VPCMPUW, GT}, {"greatest", VPMAXUW, VPCMPUW, LT},
		{"signedleast", VPMINSW, VPCMPW, GT}, {"signedgreatest", VPMAXSW, VPCMPW, LT},
	}
}

// counting holds the registers of a function that counts the cells of one vector of columns of a
// tile.
type counting struct {
	lane
	volume bool
	p, q   Register // a row of the plane, and of the next one
	w      Register // bytes to the next row, 0 after the last one
	left   Register // rows
	handed Register // values handed to the plane, and to its lesser columns
	beside Register // values handed to columns, of the vector before
	own    Register // columns that count more than the cells between them and the next one
	// The prefetched rows are a plane away, so the processor does not predict them.
	ahead, apart Register
	to           Register // the end of the list
	behind       Register // bytes from there to the end of the list of counts, if that is another one
}

// counts generates the function that counts cells down the rows of some columns: those of a plane,
// and those between it and the next plane. Each cell is counted at the lesser of its voxels. The
// cells between two rows come first, then those between planes, then those between columns. The
// values of a voxel of the next plane or column are handed on to it. Rows alternate between two
// stages: one stage loads the next row, which is the current row of the other.
func (l lane) counts(order, isa string, volume bool, begin func(counting) (stages, ends [2]func())) {
	what, planes, handed := "area", "plane", ""
	if volume {
		what, planes, handed = "volume", "below, above", "handed, "
	}
	name := l.name + what + order + isa
	to, written := "to *byte", "voxels and their counts, in turns,"
	two := isa == "avx512" || l.Bytes == 4
	if two {
		to, written = "to *byte, counts int", "voxels, and of their counts behind a number of bytes,"
	}
	Func(name, "func("+planes+" *byte, stride, rows int, inside, own, beside, "+handed+to+", next uintptr, apart int) int",
		"counts the cells of a vector of columns in rows that each have a row after them, and in the last one, and "+
			"returns the number of bytes",
		"of "+written+" that it wrote. What is inside falls to the first row. What is handed to the columns beside is kept for "+
			"each row.",
		"A line of each of as many rows that are apart bytes apart is fetched, from next on.")
	c := counting{lane: l, volume: volume}
	if volume {
		c.p, c.q, c.handed = Arg("below"), Arg("above"), Arg("handed")
	} else {
		c.p = Arg("plane")
	}
	c.ahead, c.apart = Arg("next"), Arg("apart")
	c.own, c.beside = Arg("own"), Arg("beside")
	if two {
		c.behind = Arg("counts")
	}
	c.w, c.left, c.to = Arg("stride"), Arg("rows"), Arg("to")
	stages, ends := begin(c)
	last := func() {
		XORQ(c.w, c.w)
		INCQ(c.left)
	}
	TESTQ(c.left, c.left)
	JNZ(LabelRef("rows"))
	last()
	Label("rows")
	stages[0]()
	DECQ(c.left)
	JZ(LabelRef("first"))
	Label("other")
	stages[1]()
	Repeat(c.left, "rows")
	IfZero(c.w, "end")
	last()
	JMP(LabelRef("rows"))
	Label("first")
	IfZero(c.w, "done")
	last()
	JMP(LabelRef("other"))
	Label("end")
	ends[1]()
	JMP(LabelRef("return"))
	Label("done")
	ends[0]()
	Label("return")
	SUBQ(Arg("to"), c.to)
	End(c.to)
}

// at addresses the voxels of a plane, some columns ahead, in the current row (0) or the next one (1).
func (c counting) at(plane Register, columns, row int) Mem {
	m := Mem{Base: plane, Disp: columns * c.Bytes}
	if row > 0 {
		m.Index, m.Scale = c.w, 1
	}
	return m
}

// kinds returns the number of vectors of a row: the voxels, the lesser of each and the next voxel,
// and in a volume also the lesser of both with the plane above.
func (c counting) kinds() int {
	if c.volume {
		return 4
	}
	return 2
}

// load loads all kinds of a row.
func (c counting) load(v []VecVirtual, row int, register func() VecVirtual, move, least func(...Op)) {
	move(c.at(c.p, 0, row), v[0])
	least(c.at(c.p, 1, row), v[0], v[1])
	if c.volume {
		u := register()
		move(c.at(c.q, 0, row), u)
		least(u, v[0], v[2])
		least(c.at(c.q, 1, row), u, u)
		least(u, v[1], v[3])
	}
}

// next advances to the next row.
func (c counting) next(vector int) {
	PREFETCHT0(Mem{Base: c.ahead})
	if vector == 64 && c.Bytes == 2 { // of float32
		PREFETCHT0(Mem{Base: c.ahead, Disp: 64})
	}
	ADDQ(c.apart, c.ahead)
	ADDQ(c.w, c.p)
	ADDQ(U8(vector), c.beside)
	if c.volume {
		ADDQ(c.w, c.q)
		SUBQ(I8(-2*vector), c.handed) // 128 is no byte
	}
}

// countsByAVX2 has no registers to spare, so voxels of the row are read again.
func (l lane) countsByAVX2(words, doubles Mem, volume bool) {
	l.counts("", "avx2", volume, func(c counting) (stages, ends [2]func()) {
		shuffles := GP64()
		if l.Bytes == 1 {
			LEAQ(words, shuffles)
		} else {
			LEAQ(doubles, shuffles)
		}
		var rows, fell [2][]VecVirtual // by kinds
		for i := range rows {
			for range c.kinds() {
				rows[i], fell[i] = append(rows[i], YMM()), append(fell[i], YMM())
			}
		}
		c.load(rows[0], 0, YMM, func(ops ...Op) { VMOVDQU(ops[0], ops[1]) }, l.SignedLeast)
		inside := Arg("inside")
		VMOVDQU(Mem{Base: inside}, fell[0][0])
		for _, v := range fell[0][1:] {
			VMOVDQA(fell[0][0], v)
		}
		for i := range stages {
			s := stageAVX2{c, rows[i], rows[1-i], fell[i], fell[1-i]}
			stages[i] = func() { s.write(shuffles) }
		}
		return stages, [2]func(){func() {}, func() {}}
	})
}

// A stageAVX2 counts the cells of a row. It has the row and the next one, and where the row and the
// one before were greater than the next ones, all by kinds.
type stageAVX2 struct {
	counting
	now, after, fell, falls []VecVirtual
}

// write counts the cells of the row, and writes its counts.
func (s stageAVX2) write(shuffles Register) {
	const vector = 32
	var count [2]VecVirtual
	u := YMM()
	for beside := range count {
		count[beside] = s.count(beside, u)
	}
	first, n := s.now[1], count[0] // first: the column is no greater than the next one
	theirs := New(YMM, VPANDN, count[1], first)
	kept := New(YMM, VPAND, count[1], first)
	// The last lanes, and the lower half in place of the upper one.
	VPERM2I128(U8(0x03), Mem{Base: s.beside}, theirs, first)
	VMOVDQU(theirs, Mem{Base: s.beside})
	VPALIGNR(U8(16-s.Bytes), first, theirs, theirs)
	s.Sub(theirs, n, n)
	VPAND(Mem{Base: s.own}, n, n)
	s.Sub(kept, n, n)
	s.writeByAVX2(n, shuffles)
	s.next(vector)
}

// count returns the counts of the voxels (0), or of the lesser of each and the next one (1).
func (s stageAVX2) count(beside int, u VecVirtual) VecVirtual {
	const vector = 32
	fallen := func(kind int) VecVirtual {
		s.SignedAbove(s.after[kind], s.now[kind], s.falls[kind])
		return New(YMM, s.Sub, s.falls[kind], s.fell[kind])
	}
	below := YMM() // where a plane is no greater than the next one
	if s.volume {
		s.Equal(s.now[2+beside], s.now[beside], below)
	}
	if beside == 0 {
		VMOVDQU(s.at(s.p, 0, 1), s.after[0])
	} else {
		s.SignedLeast(s.at(s.p, 1, 1), s.after[0], s.after[1])
	}
	n := fallen(beside)
	if beside == 1 {
		s.Equal(s.at(s.p, 0, 0), s.now[1], s.now[1])
	}
	if !s.volume {
		return n
	}
	if beside == 0 {
		VMOVDQU(s.at(s.q, 0, 1), u)
	} else {
		s.SignedLeast(s.at(s.q, 1, 1), u, u)
	}
	s.SignedLeast(u, s.after[beside], s.after[2+beside])
	between := fallen(2 + beside)
	handed := Mem{Base: s.handed, Disp: vector * beside}
	kept := New(YMM, VPAND, between, below)
	s.Sub(handed, n, n)
	VPANDN(between, below, between)
	VMOVDQU(between, handed)
	s.Sub(kept, n, n)
	return n
}

// writeByAVX2 writes the voxels of the row with a nonzero count. Each count follows its voxel;
// counts of double words have a separate list.
func (c counting) writeByAVX2(n VecVirtual, shuffles Register) {
	v := New(YMM, VMOVDQU, Mem{Base: c.p})
	zero := AVX2.Zero()
	if c.Bytes == 4 {
		VPCMPEQD(n, zero, zero)
		bits := New(GP32, VMOVMSKPS, zero)
		XORL(U8(0xff), bits)
		order := New(YMM, VPMOVZXBD, Mem{Base: shuffles, Index: bits, Scale: 8})
		VPERMD(v, order, v)
		VPERMD(n, order, n)
		VMOVDQU(v, Mem{Base: c.to})
		VMOVDQU(n, Mem{Base: c.to, Index: c.behind, Scale: 1})
		POPCNTL(bits, bits)
		LEAQ(Mem{Base: c.to, Index: bits, Scale: 4}, c.to)
		return
	}
	if c.Bytes == 1 {
		VPCMPEQB(n, zero, zero)
		pairs := AVX2.Zip(VPUNPCKLBW, VPUNPCKHBW, n, v)
		without := New(GP32, VPMOVMSKB, zero) // a bit each
		NOTL(without)
		for group := range 4 {
			bits := without
			if group < 3 {
				bits = New(GP32, MOVBLZX, without.As8())
				SHRL(U8(8), without)
			}
			from := pairs[group%2].AsX()
			if group >= 2 {
				from = New(XMM, VEXTRACTI128, U8(1), pairs[group%2])
			}
			ADDL(bits, bits)
			packed := New(XMM, VPSHUFB, Mem{Base: shuffles, Index: bits, Scale: 8}, from)
			VMOVDQU(packed, Mem{Base: c.to})
			POPCNTL(bits, bits)
			LEAQ(Mem{Base: c.to, Index: bits, Scale: 2}, c.to)
		}
		return
	}
	VPCMPEQW(n, zero, zero)
	for _, unpack := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
		pairs := New(YMM, unpack, n, v)
		bits := New(GP32, VMOVMSKPS, New(YMM, unpack, zero, zero))
		XORL(U8(0xff), bits)
		order := New(YMM, VPMOVZXBD, Mem{Base: shuffles, Index: bits, Scale: 8})
		VPERMD(pairs, order, order)
		VMOVDQU(order, Mem{Base: c.to})
		POPCNTL(bits, bits)
		LEAQ(Mem{Base: c.to, Index: bits, Scale: 4}, c.to)
	}
}

// together returns a table of shuffles that move the elements of an eight-bit mask together. Words
// are shuffled by bytes, double words by their numbers. The other elements are arbitrary.
func together(name string, bytes int) Mem {
	var table []int
	for mask := range 256 {
		shuffle, n := make([]int, bytes), 0
		for at := range 8 * bytes {
			if mask>>(at/bytes)&1 == 1 {
				shuffle[n/8] |= at << (8 * (n % 8))
				n++
			}
		}
		table = append(table, shuffle...)
	}
	return Table(name, table...)
}

// sumsByAVX2 adds up the weights of voxels, each times its count, one by one.
func (l lane) sumsByAVX2() {
	name := l.name + "sumavx2"
	Func(name, "func(table *uint64, list *byte, n int) uint64",
		fmt.Sprintf("adds up the weights of n times 8 voxels of a list of voxels of %d bits and counts in turns, by a "+
			"table, each times its count.", 8*l.Bytes))
	table, list, n, sum, other := Arg("table"), Arg("list"), Arg("n"), GP64(), GP64()
	zero, sign := MOVBQZX, MOVBQSX
	if l.Bytes == 2 {
		zero, sign = MOVWQZX, MOVWQSX
	}
	XORL(sum.As32(), sum.As32())
	XORL(other.As32(), other.As32())
	Label("group")
	for i := range 8 {
		v, count := GP64(), GP64()
		zero(Mem{Base: list, Disp: 2 * l.Bytes * i}, v)
		sign(Mem{Base: list, Disp: 2*l.Bytes*i + l.Bytes}, count)
		IMULQ(Mem{Base: table, Index: v, Scale: 8}, count)
		ADDQ(count, []Register{sum, other}[i%2])
	}
	ADDQ(U8(16*l.Bytes), list)
	Repeat(n, "group")
	ADDQ(other, sum)
	Store(sum, ReturnIndex(0))
	RET()
}

// sumsOfWords is sumsByAVX2 of two lists of words, eight at a time.
func sumsOfWords() {
	Func("wordssumavx512", "func(table *uint64, list *byte, counts, n int) uint64",
		"adds up the weights of n times 8 voxels of a list of voxels of 16 bits, by a table, each times its count, which "+
			"is counts bytes behind it.")
	table, list, counts, n := Arg("table"), Arg("list"), Arg("counts"), Arg("n")
	sums := AVX512.Zero()
	Label("group")
	all := K()
	v := New(ZMM, VPMOVZXWQ, Mem{Base: list})
	times := New(ZMM, VPMOVSXWQ, Mem{Base: list, Index: counts, Scale: 1})
	KXNORB(all, all, all)
	w := AVX512.Zero()
	VPGATHERQQ(Mem{Base: table, Index: v, Scale: 8}, all, w)
	VPMULLQ(w, times, times)
	VPADDQ(times, sums, sums)
	ADDQ(U8(16), list)
	Repeat(n, "group")
	added(sums)
}

// countsByAVX512 is countsByAVX2 with masks.
func (l lane) countsByAVX512(o order, volume bool) {
	l.counts(o.name, "avx512", volume, func(c counting) (stages, ends [2]func()) {
		word := New(GP32, MOVL, U32(map[int]uint32{1: 0x01010101, 2: 0x00010001, 4: 1}[l.Bytes]))
		ones := New(ZMM, VPBROADCASTD, word)
		var rows [2][]VecVirtual // by kinds
		var fell []Register
		for range c.kinds() {
			rows[0], rows[1], fell = append(rows[0], ZMM()), append(rows[1], ZMM()), append(fell, K())
		}
		load := func(v []VecVirtual, row int) {
			c.load(v, row, ZMM, func(ops ...Op) { VMOVDQU64(ops...) }, o.least)
		}
		load(rows[0], 0)
		inside := New(ZMM, VMOVDQU64, Mem{Base: Arg("inside")})
		for _, k := range fell {
			l.Signs(inside, k)
		}
		var of [2]stageAVX512
		for i := range of {
			of[i] = stageAVX512{c, o, ones, rows[i], rows[1-i], fell, ZMM(), ZMM(), ZMM(), K()}
		}
		for _, v := range []VecVirtual{of[1].v, of[1].n, of[1].between} { // a row before the first one, with no counts
			VPXORQ(v, v, v)
		}
		KXORQ(of[1].first, of[1].first, of[1].first)
		for i, s := range of {
			stages[i] = func() {
				load(s.after, 1)
				of[1-i].finish()
				s.count()
			}
			ends[i] = s.finish
		}
		return stages, ends
	})
}

// A stageAVX512 counts the cells of a row. The rest of a row is computed during the next row, so that
// no instruction waits for the one before it.
type stageAVX512 struct {
	counting
	order
	ones          VecVirtual
	now, after    []VecVirtual // by kinds
	fell          []Register   // where the row before was greater, by kinds
	v, n, between VecVirtual   // voxels, their counts, and the counts between them and the next ones
	first         Register     // where a column is no greater than the next one
}

// finish completes the counts of the row and writes them.
func (s stageAVX512) finish() {
	const vector = 64
	before, beside := ZMM(), Mem{Base: s.beside, Disp: -vector}
	theirs := New(ZMM, VMOVDQA64, s.between)
	s.Sub(s.between, theirs, s.first, theirs)
	VALIGNQ(U8(6), beside, theirs, before) // the last lanes, and the first quarters in place of those after them
	VMOVDQU64(theirs, beside)
	VPALIGNR(U8(16-s.Bytes), before, theirs, theirs)
	s.Sub(theirs, s.n, s.n)
	VPANDQ(Mem{Base: s.own}, s.n, s.n)
	s.Sub(s.between, s.n, s.first, s.n)
	s.writeByAVX512(s.v, s.n)
}

// count counts the cells of the row.
func (s stageAVX512) count() {
	const vector = 64
	greater := func(kind int) { s.compare(s.greater, s.after[kind], s.now[kind], s.fell[kind]) }
	// falls updates a count: it subtracts the previous comparison and adds the new one.
	falls := func(kind int, n VecVirtual) {
		s.Sub(s.ones, n, s.fell[kind], n)
		greater(kind)
		s.Add(s.ones, n, s.fell[kind], n)
	}
	for beside, n := range []VecVirtual{s.n, s.between} {
		if !s.volume {
			VPXORQ(n, n, n)
			falls(beside, n)
			continue
		}
		handed := Mem{Base: s.handed, Disp: vector * beside}
		VMOVDQU64(handed, n)
		falls(beside, n)
		below := K() // subtracted counts; where a plane is no greater than the next one
		between := New(ZMM, s.Keep, s.ones, s.fell[2+beside])
		greater(2 + beside)
		s.Sub(s.ones, between, s.fell[2+beside], between)
		s.Equal(s.now[2+beside], s.now[beside], below)
		s.Add(between, n, below, n)
		s.Sub(between, between, below, between)
		VMOVDQU64(between, handed)
	}
	s.Equal(s.now[1], s.now[0], s.first)
	VMOVDQA64(s.now[0], s.v)
	s.next(vector)
}

// writeByAVX512 writes the voxels of the row with a nonzero count, and their counts.
func (c counting) writeByAVX512(v, n VecVirtual) {
	many := c.Pack(v, n)
	VMOVDQU64(v, Mem{Base: c.to})
	VMOVDQU64(n, Mem{Base: c.to, Index: c.behind, Scale: 1})
	LEAQ(Mem{Base: c.to, Index: many, Scale: uint8(c.Bytes)}, c.to)
}

// digits is the number of bytes of weights that are looked up byte by byte.
const digits = 5

// sumsByDigits generates sumsOfWords for bytes whose weights have few bytes. Each byte of a weight
// is looked up for 64 voxels at a time, in two tables of 128 bytes, and multiplied by the counts.
func sumsByDigits() {
	Func("bytesdigitsavx512", "func(table *[5 * 256]byte, list *byte, counts, n int) int64",
		"adds up the weights of n times 64 voxels of a list of voxels of 8 bits, each times its count, which is counts "+
			"bytes behind it.",
		"The table has the lowest bytes of the weights of all first.")
	table, list, counts, n := Arg("table"), Arg("list"), Arg("counts"), Arg("n")
	sums := AVX512.Zeros(digits)
	var parts [digits][4]VecVirtual // of the table
	for d := range sums {
		for i := range parts[d] {
			parts[d][i] = New(ZMM, VMOVDQU8, Mem{Base: table, Disp: 256*d + 64*i})
		}
	}
	Label("vector")
	v := New(ZMM, VMOVDQU8, Mem{Base: list})
	count := New(ZMM, VMOVDQU8, Mem{Base: list, Index: counts, Scale: 1})
	upper := New(K, VPMOVB2M, v)
	for d, sum := range sums {
		lower, higher := ZMM(), ZMM() // of the bytes below 128, and of the others
		VMOVDQA64(v, lower)
		VMOVDQA64(v, higher)
		VPERMI2B(parts[d][1], parts[d][0], lower)
		VPERMI2B(parts[d][3], parts[d][2], higher)
		VMOVDQU8(higher, upper, lower)
		VPDPBUSD(count, lower, sum)
	}
	ADDQ(U8(64), list)
	Repeat(n, "vector")
	total := GP64()
	XORL(total.As32(), total.As32())
	for d := digits - 1; d >= 0; d-- {
		SHLQ(U8(8), total)
		half := New(YMM, VEXTRACTI64X4, U8(1), sums[d])
		VPADDD(sums[d].AsY(), half, half)
		quarter := New(XMM, VEXTRACTI128, U8(1), half)
		VPADDD(half.AsX(), quarter, quarter)
		shuffled := New(XMM, VPSHUFD, U8(0x4e), quarter)
		VPADDD(shuffled, quarter, quarter)
		VPSHUFD(U8(0xb1), quarter, shuffled)
		VPADDD(shuffled, quarter, quarter)
		sum := New(GP32, VMOVD, quarter)
		wide := New(GP64, MOVLQSX, sum)
		ADDQ(wide, total)
	}
	End(total)
}

// times generates the sum of counts × (weight − outside weight).
func (i isa) times() {
	Func("times"+i.Name, "func(weights *uint64, counts *int32, n int, outside uint64) uint64",
		"adds up n times 8 weights, each less that of what is outside, times its count.")
	weights, counts, n, outside := Arg("weights"), Arg("counts"), Arg("n"), Arg("outside")
	if i.Bytes == 64 {
		sums := AVX512.Zero()
		all := New(ZMM, VPBROADCASTQ, outside)
		Label("group")
		w := New(ZMM, VMOVDQU64, Mem{Base: weights})
		VPSUBQ(all, w, w)
		times := New(ZMM, VPMOVSXDQ, Mem{Base: counts})
		VPMULLQ(w, times, times)
		VPADDQ(times, sums, sums)
		ADDQ(U8(64), weights)
		ADDQ(U8(32), counts)
		Repeat(n, "group")
		added(sums)
		return
	}
	sum, other := GP64(), GP64()
	XORL(sum.As32(), sum.As32())
	XORL(other.As32(), other.As32())
	Label("group")
	for j := range 8 {
		times := New(GP64, MOVLQSX, Mem{Base: counts, Disp: 4 * j})
		w := New(GP64, MOVQ, Mem{Base: weights, Disp: 8 * j})
		SUBQ(outside, w)
		IMULQ(times, w)
		ADDQ(w, []Register{sum, other}[j%2])
	}
	ADDQ(U8(64), weights)
	ADDQ(U8(32), counts)
	Repeat(n, "group")
	ADDQ(other, sum)
	Store(sum, ReturnIndex(0))
	RET()
}

// added ends a function with the sum of the eight lanes of a vector.
func added(sums VecVirtual) {
	half := New(YMM, VEXTRACTI64X4, U8(1), sums)
	VPADDQ(sums.AsY(), half, half)
	quarter := New(XMM, VEXTRACTI128, U8(1), half)
	VPADDQ(half.AsX(), quarter, quarter)
	other := New(GP64, VPEXTRQ, U8(1), quarter)
	sum := New(GP64, VMOVQ, quarter)
	ADDQ(other, sum)
	End(sum)
}
