package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// values are what a row of voxels is of.
type values struct {
	name         string
	bytes        int
	least, most  func(...Op)
	compare      func(...Op) // of lanes, by a predicate, to a mask
	load         func(m Mem, v VecVirtual)
	loadSome     func(m Mem, k Register, v VecVirtual)
	compress     func(v VecVirtual, k Register, to VecVirtual)
	toBits, from func(a, b Op)
}

func ofBytes() values {
	return values{
		name: "bytes", bytes: 1, least: VPMINUB, most: VPMAXUB, compare: VPCMPUB,
		load:     func(m Mem, v VecVirtual) { VMOVDQU8(m, v) },
		loadSome: func(m Mem, k Register, v VecVirtual) { VMOVDQU8_Z(m, k, v) },
		compress: func(v VecVirtual, k Register, to VecVirtual) { VPCOMPRESSB_Z(v, k, to) },
		toBits:   KMOVQ, from: KMOVQ,
	}
}

func ofPairs(signed bool) values {
	t := values{
		name: "pairs", bytes: 2, least: VPMINUW, most: VPMAXUW, compare: VPCMPUW,
		load:     func(m Mem, v VecVirtual) { VMOVDQU16(m, v) },
		loadSome: func(m Mem, k Register, v VecVirtual) { VMOVDQU16_Z(m, k, v) },
		compress: func(v VecVirtual, k Register, to VecVirtual) { VPCOMPRESSW_Z(v, k, to) },
		toBits:   KMOVD, from: KMOVD,
	}
	if signed {
		t.name, t.least, t.most, t.compare = "signed", VPMINSW, VPMAXSW, VPCMPW
	}
	return t
}

// turns writes the turning points of rows one after another, a vector of voxels at a time: of
// the least (or greatest) of each row and the one below it, and of both in the next plane.
// A turning point is where "no greater than the next" (no less) starts or stops to hold.
// Before a row it does not, behind the last voxel it does, so there is an odd number of them,
// and a voxel 0 after those of each row makes it even.
func (t values) turns(volume, greatest bool) {
	minimum, predicate := t.least, uint8(2)
	if greatest {
		minimum, predicate = t.most, 5
	}
	lanes := 64 / t.bytes
	streams := beginTurns(t.name, "avx512", "rows", volume, greatest)
	// Where the next vectors of a row and of the next one are, in each plane.
	var at [2][2]Register
	w := Load(Param("stride"), GP64())
	planes := []string{"below", "above"}[:streams/2]
	for i, plane := range planes {
		p, next := Load(Param(plane), GP64()), GP64()
		LEAQ(Mem{Base: p, Index: w, Scale: 1}, next)
		at[i] = [2]Register{p, next}
	}
	p := at[0][0]
	to := listsOf(streams)
	last := AllocLocal(8)     // where the last vector of a row begins if it is whole
	lastPair := AllocLocal(8) // and the vector before
	toLast := AllocLocal(8)   // bytes from the first voxel of a row to there
	beyond := AllocLocal(8)   // the last voxel of a row, and what would be behind it, a bit each
	{
		bytes := Load(Param("columns"), GP64())
		if t.bytes == 2 {
			ADDQ(bytes, bytes)
		}
		SUBQ(U8(64), bytes)
		MOVQ(bytes, toLast)
	}
	to.row()
	{
		end := GP64()
		MOVQ(toLast, end)
		ADDQ(p, end)
		MOVQ(end, last)
		SUBQ(U8(64), end)
		MOVQ(end, lastPair)
	}
	var before []GPVirtual // what held of the voxels before, of each kind
	for range streams {
		held := GP64()
		XORL(held.As32(), held.As32())
		before = append(before, held)
	}

	// block takes so many vectors of voxels, whose successors are in the row but for that of the last voxel; of one
	// vector those in a mask.
	block := func(vectors int, mask, next Register, forced func(held GPVirtual)) {
		load := func(m Mem, k Register) VecVirtual {
			v := ZMM()
			if k == nil {
				t.load(m, v)
			} else {
				t.loadSome(m, k, v)
			}
			return v
		}
		least := func(a Op, b VecVirtual) VecVirtual {
			v := ZMM()
			minimum(a, b, v)
			return v
		}
		rows := make([][2][]VecVirtual, vectors) // of the voxels, and of those after them
		for vector := range rows {
			for x, k := range []Register{mask, next} {
				of := func(plane, row int) Mem { return Mem{Base: at[plane][row], Disp: 64*vector + x*t.bytes} }
				v0, v1 := load(of(0, 0), k), load(of(0, 1), k)
				if !volume {
					rows[vector][x] = []VecVirtual{v0, least(v0, v1)}
					continue
				}
				with := func(row int, v VecVirtual) VecVirtual {
					if k == nil {
						return least(of(1, row), v)
					}
					return least(load(of(1, row), k), v)
				}
				a, b := with(0, v0), with(1, v1)
				rows[vector][x] = []VecVirtual{v0, a, least(v0, v1), least(a, b)}
			}
		}
		for s, o := range to.ends {
			turning, held := before[s], GP64()
			for vector, rows := range rows {
				k, v := K(), ZMM()
				t.compare(U8(predicate), rows[1][s], rows[0][s], k)
				if lanes == 64 {
					t.toBits(k, held)
					forced(held)
					SHRQ(U8(63), held, turning) // which is what held of the voxel before each
					XORQ(held, turning)
					t.from(turning, k)
				} else {
					t.toBits(k, held.As32())
					forced(held)
					SHRL(U8(31), held.As32(), turning.As32())
					XORL(held.As32(), turning.As32())
					t.from(turning.As32(), k)
				}
				t.compress(rows[0][s], k, v)
				VMOVDQU8(v, Mem{Base: o})
				POPCNTQ(turning, turning)
				LEAQ(Mem{Base: o, Index: turning, Scale: uint8(t.bytes)}, o)
				if turning, held = held, turning; vectors%2 == 1 && vector == vectors-1 {
					MOVQ(turning, held) // where it was
				}
			}
		}
	}
	some := func(vectors int) {
		for vector := range vectors {
			if volume { // both planes are in a second cache at best
				PREFETCHT0(Mem{Base: at[0][0], Index: w, Scale: 4, Disp: 64 * vector})
				PREFETCHT0(Mem{Base: at[1][0], Index: w, Scale: 4, Disp: 64 * vector})
			}
		}
		block(vectors, nil, nil, func(GPVirtual) {})
		for i := range planes {
			SUBQ(I8(-64*vectors), at[i][0]) // 128 is no byte
			SUBQ(I8(-64*vectors), at[i][1])
		}
	}

	CMPQ(p, lastPair)
	JGE(LabelRef("one"))
	Label("pair") // so that what held need not be moved where it was
	some(2)
	CMPQ(p, lastPair)
	JL(LabelRef("pair"))
	Label("one")
	CMPQ(p, last)
	JGE(LabelRef("last"))
	some(1)

	Label("last") // one voxel to a vector of them
	{
		k, next, some, count := K(), K(), GP64(), GP64()
		MOVQ(last, count)
		SUBQ(p, count)
		ADDQ(U8(64), count)
		if t.bytes == 2 {
			SHRQ(U8(1), count)
		}
		MOVQ(I64(-1), some)
		BZHIQ(count, some, some)
		KMOVQ(some, k)
		SHRQ(U8(1), some)
		KMOVQ(some, next)
		NOTQ(some)
		MOVQ(some, beyond)
		block(1, k, next, func(held GPVirtual) {
			if lanes == 64 {
				ORQ(beyond, held)
			} else {
				ORL(beyond, held.As32())
			}
		})
	}
	for _, o := range to.ends {
		nothing(t.bytes, o)
	}
	{ // to the next row
		on := GP64()
		MOVQ(last, on)
		SUBQ(toLast, on)
		ADDQ(w, on)
		SUBQ(p, on)
		for i := range planes {
			ADDQ(on, at[i][0])
			ADDQ(on, at[i][1])
		}
	}
	to.done()
}

// beginTurns begins a function that writes the turning points of rows, of some voxels by an instruction set, and says
// of how many kinds of rows.
func beginTurns(of, isa, rows string, volume, greatest bool) (kinds int) {
	what, which, above, kinds := "area", "least", "", 2
	if volume {
		what, above, kinds = "volume", "above *byte, ", 4
	}
	if greatest {
		which = "greatest"
	}
	name := of + what + which + isa
	TEXT(name, NOSPLIT, "func(below *byte, "+above+"stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s writes the turning points of %d kinds of %s, each kind apart bytes from the one before, behind as many bytes as there are, and", name, kinds, rows),
		"counts those. The next row is stride bytes on. Before a row that would begin behind more than full bytes of a list it ends, and returns how many there were.")
	return kinds
}

// lists are where turning points go, those of each kind of rows to one.
type lists struct {
	ends []Register // where the next one goes
	most []Mem      // from where on there is no room for a row
	left Mem        // rows
}

// listsOf loads the parameters.
func listsOf(kinds int) lists {
	l := lists{left: AllocLocal(8)}
	to, apart, counts := Load(Param("to"), GP64()), Load(Param("apart"), GP64()), Load(Param("counts"), GP64())
	for kind := range kinds {
		end, most := GP64(), Load(Param("full"), GP64())
		if kind > 0 {
			ADDQ(apart, to)
		}
		MOVQ(Mem{Base: counts, Disp: 8 * kind}, end)
		ADDQ(to, end)
		l.ends = append(l.ends, end)
		ADDQ(to, most)
		l.most = append(l.most, AllocLocal(8))
		MOVQ(most, l.most[kind])
	}
	rows := Load(Param("rows"), GP64())
	MOVQ(rows, l.left)
	return l
}

// row begins a row, if there is room for it.
func (l lists) row() {
	Label("row")
	for kind, end := range l.ends {
		CMPQ(end, l.most[kind])
		JHI(LabelRef("done"))
	}
}

// done goes on to the next row, if one is left, and ends the function with the counts.
func (l lists) done() {
	DECQ(l.left)
	JNZ(LabelRef("row"))
	Label("done")
	to, apart, counts := Load(Param("to"), GP64()), Load(Param("apart"), GP64()), Load(Param("counts"), GP64())
	for kind, end := range l.ends {
		if kind > 0 {
			ADDQ(apart, to)
		}
		SUBQ(to, end)
		MOVQ(end, Mem{Base: counts, Disp: 8 * kind})
	}
	taken := Load(Param("rows"), GP64())
	SUBQ(l.left, taken)
	VZEROUPPER()
	Store(taken, ReturnIndex(0))
	RET()
}

// nothing writes a voxel 0 of so many bytes to a list.
func nothing(bytes int, end Register) {
	if bytes == 1 {
		MOVB(U8(0), Mem{Base: end})
	} else {
		MOVW(U16(0), Mem{Base: end})
	}
	ADDQ(U8(bytes), end)
}

// alternate adds up what a table of so many digits has for bytes, those with even places, less
// those with odd ones. The table has the lowest byte of all entries first. Where it is of what is
// left of a line, the bytes themselves are added up too, times a slope, from bit 31 on.
func alternate(digits int, line bool) {
	name, slope, ends := "alternateavx512", "", "."
	if line {
		name, slope, ends = "alternatelineavx512", ", slope int64", ", and so the bytes themselves times the slope, from bit 31 on."
	}
	TEXT(name, NOSPLIT, fmt.Sprintf("func(table *[5 * 256]byte, src *byte, n int%s) int64", slope))
	Pragma("noescape")
	Doc(name + " adds up the entries of n times 64 bytes with even places, less those with odd ones" + ends)
	table, src, n := Load(Param("table"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	signs := NewDataAddr(Symbol{Name: "signsavx512", Static: true}, 0)
	if !line {
		signs = GLOBL("signsavx512", RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(0xff01ff01ff01ff01))
		}
	}
	sign := ZMM()
	VMOVDQU8(signs, sign)
	sums, parts := make([]VecVirtual, digits), make([][4]VecVirtual, digits) // parts of the table
	for d := range sums {
		sums[d] = ZMM()
		VPXORQ(sums[d], sums[d], sums[d])
		for i := range parts[d] {
			parts[d][i] = ZMM()
			VMOVDQU8(Mem{Base: table, Disp: 256*d + 64*i}, parts[d][i])
		}
	}
	bytes := ZMM()
	if line {
		VPXORQ(bytes, bytes, bytes)
	}
	Label("vector")
	{
		v := ZMM()
		VMOVDQU8(Mem{Base: src}, v)
		if line {
			VPDPBUSD(sign, v, bytes)
		}
		upper := K()
		VPMOVB2M(v, upper)
		for d, sum := range sums {
			lower, higher := ZMM(), ZMM() // of the bytes below 128, and of the others
			VMOVDQA64(v, lower)
			VMOVDQA64(v, higher)
			VPERMI2B(parts[d][1], parts[d][0], lower)
			VPERMI2B(parts[d][3], parts[d][2], higher)
			VMOVDQU8(higher, upper, lower)
			VPDPBUSD(sign, lower, sum)
		}
	}
	ADDQ(U8(64), src)
	DECQ(n)
	JNZ(LabelRef("vector"))
	total := GP64()
	XORL(total.As32(), total.As32())
	for d := digits - 1; d >= 0; d-- {
		SHLQ(U8(8), total)
		ADDQ(added(sums[d]), total)
	}
	if line {
		wide := added(bytes)
		IMULQ(Load(Param("slope"), GP64()), wide)
		SHLQ(U8(31), wide)
		ADDQ(wide, total)
	}
	VZEROUPPER()
	Store(total, ReturnIndex(0))
	RET()
}

// sumOfForms is of bilinear weights: in each of five forms the products of an upper number and a lower one.
type sumOfForms struct {
	src, n             Register
	upper, lower, sums [5]VecVirtual
}

// formsOf loads the parameters.
func formsOf() sumOfForms {
	f := sumOfForms{src: Load(Param("src"), GP64()), n: Load(Param("n"), GP64())}
	numbers := Load(Param("numbers"), GP64())
	for i := range f.sums {
		f.upper[i], f.lower[i], f.sums[i] = ZMM(), ZMM(), ZMM()
		VMOVDQU8(Mem{Base: numbers, Disp: 128 * i}, f.upper[i])
		VMOVDQU8(Mem{Base: numbers, Disp: 128*i + 64}, f.lower[i])
		VPXORQ(f.sums[i], f.sums[i], f.sums[i])
	}
	return f
}

// add adds the products of the numbers at the lowest six bits of bytes.
func (f sumOfForms) add(upper, lower VecVirtual) {
	for i, sum := range f.sums {
		a, b := ZMM(), ZMM()
		VPERMB(f.upper[i], upper, a)
		VPERMB(f.lower[i], lower, b)
		VPDPBUSD(b, a, sum)
	}
}

// total ends the loop, and the function with the sums times the factors, each added up from lanes.
func (f sumOfForms) total(added func(v VecVirtual) GPVirtual) {
	DECQ(f.n)
	JNZ(LabelRef("vector"))
	factors, total := Load(Param("factors"), GP64()), GP64()
	XORL(total.As32(), total.As32())
	for i, sum := range f.sums {
		wide := added(sum)
		IMULQ(Mem{Base: factors, Disp: 8 * i}, wide)
		ADDQ(wide, total)
	}
	VZEROUPPER()
	Store(total, ReturnIndex(0))
	RET()
}

// alternateForms adds up bilinear weights of bytes, of which those at odd places have lower numbers of the other sign.
func alternateForms() {
	TEXT("alternateformsavx512", NOSPLIT, "func(numbers *[5 * 128]byte, factors *[5]uint64, src *byte, n int) int64")
	Pragma("noescape")
	Doc("alternateformsavx512 adds up the bilinear weights of n times 64 bytes with even places, less those with odd ones.")
	f := formsOf()
	all := func(name string, word uint64) VecVirtual {
		data, v := GLOBL(name, RODATA|NOPTR), ZMM()
		DATA(0, U64(word))
		VPBROADCASTQ(data, v)
		return v
	}
	within, odd := all("withinavx512", 0x0f0f0f0f0f0f0f0f), all("oddavx512", 0x1000100010001000)
	Label("vector")
	{
		v, high := ZMM(), ZMM()
		VMOVDQU8(Mem{Base: f.src}, v)
		VPSRLW(U8(4), v, high) // and other bits, as the numbers are there four times
		VPTERNLOGQ(U8(0xea), odd, within, v)
		f.add(high, v)
	}
	ADDQ(U8(64), f.src)
	f.total(added)
}

// alternatePairs is alternateForms of voxels of 16 bits, with products of three numbers: one of 16 by the upper
// four bits of a voxel, which has the other sign at odd places, and two of 64 by the six below and the lowest six.
func alternatePairs() {
	TEXT("alternatepairsavx512", NOSPLIT, "func(numbers *[5 * 192]byte, factors *[5]uint64, src *byte, n int) int64")
	Pragma("noescape")
	Doc("alternatepairsavx512 adds up the trilinear weights of n times 64 voxels of 16 bits with even places, less those with odd ones.")
	f := sumOfForms{src: Load(Param("src"), GP64()), n: Load(Param("n"), GP64())}
	numbers := Load(Param("numbers"), GP64())
	var upper, middle, lower [5]VecVirtual
	for i := range f.sums {
		for part, to := range []*VecVirtual{&upper[i], &middle[i], &lower[i]} {
			*to = ZMM()
			VMOVDQU8(Mem{Base: numbers, Disp: 192*i + 64*part}, *to)
		}
		f.sums[i] = ZMM()
		VPXORQ(f.sums[i], f.sums[i], f.sums[i])
	}
	odd, second := everywhere(ZMM(), 0x10000), wordsOf(0xff00)
	in := [2]Register{K(), K()} // the bytes of voxels of either vector
	for half, places := range []uint64{0x5555555555555555, 0xaaaaaaaaaaaaaaaa} {
		word := GP64()
		MOVQ(U64(places), word)
		KMOVQ(word, in[half])
	}
	Label("vector")
	{
		// Bytes of two vectors take turns, so that both have voxels of odd places in the same words.
		var v [2]VecVirtual
		for half := range v {
			v[half] = ZMM()
			VMOVDQU16(Mem{Base: f.src, Disp: 64 * half}, v[half])
		}
		high, highOfSecond, mid, midOfSecond := ZMM(), ZMM(), ZMM(), ZMM()
		VPSHRDW(U8(12), odd, v[0], high) // with bit 4 at odd places
		VPSHRDW(U8(4), odd, v[1], highOfSecond)
		VPTERNLOGQ(U8(either), highOfSecond, second, high)
		VPSRLW(U8(6), v[0], mid)
		VPSLLW(U8(2), v[1], midOfSecond)
		VPTERNLOGQ(U8(either), midOfSecond, second, mid)
		for i, sum := range f.sums {
			m := ZMM()
			VPERMB(middle[i], mid, m)
			for half := range v {
				product, l := ZMM(), ZMM()
				VPERMB_Z(upper[i], high, in[half], product)
				VPMADDUBSW(product, m, product) // of one pair of bytes each
				VPERMB_Z(lower[i], v[half], in[0], l)
				VPDPWSSD(l, product, sum)
			}
		}
	}
	ADDQ(I32(128), f.src)
	f.total(addedWide)
}

// addedWide is what the lanes of a vector of either instruction set sum to, which may leave 32 bits.
func addedWide(v VecVirtual) GPVirtual {
	wide := YMM()
	if v.Size() == 64 {
		half, all, other := YMM(), ZMM(), ZMM()
		VEXTRACTI64X4(U8(1), v, half)
		VPMOVSXDQ(half, other)
		VPMOVSXDQ(v.AsY(), all)
		VPADDQ(other, all, all)
		VEXTRACTI64X4(U8(1), all, wide)
		VPADDQ(all.AsY(), wide, wide)
	} else {
		half, other := XMM(), YMM()
		VEXTRACTI128(U8(1), v, half)
		VPMOVSXDQ(half, other)
		VPMOVSXDQ(v.AsX(), wide)
		VPADDQ(other, wide, wide)
	}
	half := XMM()
	VEXTRACTI128(U8(1), wide, half)
	VPADDQ(wide.AsX(), half, half)
	sum, second := GP64(), GP64()
	VPEXTRQ(U8(1), half, second)
	VMOVQ(half, sum)
	ADDQ(second, sum)
	return sum
}

// added is what the 16 lanes of a vector sum to.
func added(v VecVirtual) GPVirtual {
	half, quarter := YMM(), XMM()
	VEXTRACTI64X4(U8(1), v, half)
	VPADDD(v.AsY(), half, half)
	VEXTRACTI128(U8(1), half, quarter)
	VPADDD(half.AsX(), quarter, quarter)
	shuffled := XMM()
	VPSHUFD(U8(0x4e), quarter, shuffled)
	VPADDD(shuffled, quarter, quarter)
	VPSHUFD(U8(0xb1), quarter, shuffled)
	VPADDD(shuffled, quarter, quarter)
	sum := GP32()
	VMOVD(quarter, sum)
	wide := GP64()
	MOVLQSX(sum, wide)
	return wide
}
