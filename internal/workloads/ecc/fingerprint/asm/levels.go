package main

import (
	"fmt"
	"math/bits"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// What a list of levels has beside them.
const (
	plusBit    = 1 << 15 // of a level that counts positively
	outsideBit = 1 << 14 // of what is outside, which is above all levels
	upperShift = 5       // the upper numbers of a level are by its bits from here on, the lower ones by those before
)

// wordsOf is a vector of one word.
func wordsOf(word uint32) VecVirtual {
	v, w := ZMM(), GP32()
	MOVL(U32(word), w)
	VPBROADCASTW(w, v)
	return v
}

// A kind is of rows: whether what falls to the next one counts positively, and what does not fall is kept, or
// the other way round, and whether it counts in the lanes given alone.
type kind struct{ positive, within bool }

// predicate is of what is kept of a row and the next one: greater, or no greater.
func (k kind) predicate() Op {
	if k.positive {
		return U8(6)
	}
	return U8(2)
}

// turnLevels writes the turning points of the columns of a vector, down its rows: of a row of levels, of
// the lesser of each and the next one, and of the same with the plane above. What falls to the next row
// and did not before, or the other way round, turns. Of the first and the last of these kinds those
// that fall count positively, of the others those that do not.
func turnLevels(volume bool) {
	name, above := "levelsareaavx512", ""
	if volume {
		name, above = "levelsvolumeavx512", "above *uint16, "
	}
	TEXT(name, NOSPLIT, "func(below *uint16, "+above+"stride, rows int, lanes uint64, to *uint16, next uintptr, apart int) int")
	Pragma("noescape")
	Doc(name+" writes what counts of the positions of so many rows of 32 columns of levels, and of the row after them, and returns how many levels those are.",
		"The next row is stride bytes on. Of what is in no lane of those given, only the lesser of it and the next column counts.",
		"Two lines of each of as many rows that are apart bytes apart are fetched into the second cache, from next on.")
	p, q := Load(Param("below"), GP64()), GP64()
	if volume {
		Load(Param("above"), q)
	}
	w, left, to := Load(Param("stride"), GP64()), Load(Param("rows"), GP64()), Load(Param("to"), GP64())
	next, apart := Load(Param("next"), GP64()), Load(Param("apart"), GP64())
	given := K()
	KMOVQ(Load(Param("lanes"), GP64()), given)
	plus := wordsOf(plusBit)

	kinds := []kind{{true, true}, {false, false}}
	if volume {
		kinds = append(kinds, kind{false, true}, kind{true, false})
	}
	row := func(to []VecVirtual) {
		v, x := to[0], to[1]
		VMOVDQU16(Mem{Base: p}, v)
		VPMINUW(Mem{Base: p, Disp: 2}, v, x)
		if !volume {
			return
		}
		z, xz, u := to[2], to[3], ZMM()
		VMOVDQU16(Mem{Base: q}, u)
		VPMINUW(u, v, z)
		VPMINUW(Mem{Base: q, Disp: 2}, u, u)
		VPMINUW(u, x, xz)
	}
	write := func(v VecVirtual, turning Register) {
		packed, n := ZMM(), GP64()
		VPCOMPRESSW_Z(v, turning, packed)
		VMOVDQU16(packed, Mem{Base: to})
		KMOVD(turning, n.As32())
		POPCNTL(n.As32(), n.As32())
		LEAQ(Mem{Base: to, Index: n, Scale: 2}, to)
	}

	var rows [2][]VecVirtual
	for i := range rows {
		for range kinds {
			rows[i] = append(rows[i], ZMM())
		}
	}
	// What held of the row before, of each kind, and a mask that is free. A kind's new mask is the one
	// that is free, and its old one is free then.
	masks := []Register{}
	for range len(kinds) + 1 {
		masks = append(masks, K())
	}
	for i, kind := range kinds {
		switch {
		case kind.positive:
			KXORD(masks[i], masks[i], masks[i])
		case kind.within:
			KMOVQ(given, masks[i])
		default:
			KXNORD(masks[i], masks[i], masks[i])
		}
	}
	row(rows[0])
	Label("rows")
	stages := len(masks) // until they are where they were
	var ends []func()
	for stage := range stages {
		now, after := rows[stage%2], rows[(stage+1)%2]
		ADDQ(w, p)
		if volume {
			ADDQ(w, q)
		}
		PREFETCHT1(Mem{Base: next})
		PREFETCHT1(Mem{Base: next, Disp: 64})
		ADDQ(apart, next)
		row(after)
		for i, kind := range kinds {
			holds, turning := masks[len(kinds)], masks[i]
			if kind.within {
				VPCMPUW(kind.predicate(), after[i], now[i], given, holds)
			} else {
				VPCMPUW(kind.predicate(), after[i], now[i], holds)
			}
			KXORD(holds, turning, turning)
			VPADDW(plus, now[i], holds, now[i])
			write(now[i], turning)
			masks[i], masks[len(kinds)] = holds, turning
		}
		last := slices.Clone(masks)
		ends = append(ends, func() { // of the row after them, which no row is after
			for i, kind := range kinds {
				turning := last[i]
				if !kind.positive {
					VPADDW(plus, after[i], after[i])
					if kind.within {
						KANDND(given, turning, turning)
					} else {
						KNOTD(turning, turning)
					}
				}
				write(after[i], turning)
			}
		})
		DECQ(left)
		if stage < stages-1 {
			JZ(LabelRef(fmt.Sprint("end", stage)))
			continue
		}
		JZ(LabelRef("end"))
		for i := range kinds {
			VMOVDQA64(after[i], rows[0][i])
		}
		JMP(LabelRef("rows"))
	}
	for stage, end := range ends {
		if stage < stages-1 {
			Label(fmt.Sprint("end", stage))
		} else {
			Label("end")
		}
		end()
		if stage < stages-1 {
			JMP(LabelRef("done"))
		}
	}
	Label("done")
	SUBQ(Load(Param("to"), GP64()), to)
	SHRQ(U8(1), to)
	VZEROUPPER()
	Store(to, ReturnIndex(0))
	RET()
}

// sumLevels adds up the bilinear weights of a list of levels: in each form the products of two numbers of each level.
// Among 64 upper numbers, those of what is outside are 0; among the lower ones, those of levels that count positively
// have the other sign.
func sumLevels() {
	const name = "sumlevelsavx512"
	TEXT(name, NOSPLIT, "func(numbers *[5 * 128]byte, factors *[5]uint64, src *uint16, n int) int64")
	Pragma("noescape")
	Doc(name + " adds up the bilinear weights of n times 64 levels of a list.")
	f := formsOf()
	within := wordsOf(1<<upperShift - 1)
	Label("vector")
	{
		var uppers, lowers [2]VecVirtual
		for half := range 2 {
			v, high := ZMM(), ZMM()
			lower, upper := ZMM(), ZMM()
			VMOVDQU16(Mem{Base: f.src, Disp: 64 * half}, v)
			VPSRLW(U8(bitOf(plusBit)-upperShift), v, lower)
			VPTERNLOGQ(U8(either), v, within, lower)
			VPSRLW(U8(upperShift), v, high)
			VPSRLW(U8(bitOf(outsideBit)-upperShift), v, upper)
			VPTERNLOGQ(U8(either), high, within, upper)
			uppers[half], lowers[half] = upper, lower
		}
		upper, lower := ZMM(), ZMM() // in one order, whichever
		VPACKUSWB(uppers[1], uppers[0], upper)
		VPACKUSWB(lowers[1], lowers[0], lower)
		f.add(upper, lower)
	}
	ADDQ(I32(128), f.src)
	f.total(added)
}

// either is the truth table of VPTERNLOG that takes a value's bits where a mask has some, else those that are
// replaced.
const either = 0xb8

func bitOf(word int) int { return bits.Len(uint(word)) - 1 }

// levelsOf16 turns rows of values of 16 bits into levels: how far they are above the first one, of none that are
// below it, and what is outside for those beyond the last one.
func levelsOf16() {
	const name = "levelspairsavx512"
	TEXT(name, NOSPLIT, "func(dst *uint16, src *byte, n, rows, stride, apart int, flip, first, last, reverse uint64) int")
	Pragma("noescape")
	Doc(name+" turns rows of n values of 16 bits, 32 at least, into levels, and returns how many rows: of bit patterns with the bits of flip turned, those from first",
		"to first and last, of which the bits of reverse are turned.")
	all := func(name string) VecVirtual {
		v, word := ZMM(), GP64()
		Load(Param(name), word)
		VPBROADCASTW(word.As32(), v)
		return v
	}
	flip, first, last, reverse, outside := all("flip"), all("first"), all("last"), all("reverse"), wordsOf(outsideBit)
	inRows(32, 2, func(from, to Mem) {
		v, beyond := ZMM(), K()
		VPXORD(from, flip, v)
		VPSUBUSW(first, v, v)
		VPCMPUW(U8(6), last, v, beyond)
		VPXORD(reverse, v, v)
		VMOVDQU16(outside, beyond, v)
		VMOVDQU16(v, to)
	})
}

// inRows takes groups of values of so many bytes, which become 2, row by row, of which the last one ends with the row.
// What jumps to "stop" returns how many rows were taken before.
func inRows(group, size int, take func(from, to Mem)) {
	dst, src, rows := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("rows"), GP64())
	n, at, done := Load(Param("n"), GP64()), GP64(), GP64()
	stride, apart := Load(Param("stride"), GP64()), Load(Param("apart"), GP64())
	SUBQ(U8(group), n) // where the last group begins
	XORQ(done, done)
	Label("row")
	XORQ(at, at)
	Label("group")
	take(Mem{Base: src, Index: at, Scale: uint8(size)}, Mem{Base: dst, Index: at, Scale: 2})
	CMPQ(at, n)
	JE(LabelRef("next"))
	ADDQ(U8(group), at)
	CMPQ(at, n)
	CMOVQGT(n, at)
	JMP(LabelRef("group"))
	Label("next")
	ADDQ(stride, dst)
	ADDQ(apart, src)
	INCQ(done)
	CMPQ(done, rows)
	JL(LabelRef("row"))
	Label("stop")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	RET()
}

// levelsOfFloats turns rows of float32 values on an affine ladder into levels, with its arithmetic in float32, fused,
// or in float64: see floats.
func (i isa) levelsOfFloats(double bool) {
	name, parameters := "levelssingle", "lo, inverse, step, offset float32"
	if double {
		name, parameters = "levelsdouble", "lo, inverse, step float64"
	}
	name += i.name
	TEXT(name, NOSPLIT, "func(dst *uint16, src *byte, n, rows, stride, apart int, "+parameters+", last, reverse uint64) int")
	Pragma("noescape")
	Doc(name+" turns rows of n float32 values on an affine ladder, 32 at least, into levels, of which the bits of reverse are turned, and returns how many rows,",
		"up to one with a value that is above the ladder; where a bit of last above its 32 lowest is set, to one with a value that is no level's own.")
	l := i.ladderOf(double)
	if !double {
		l.offset = l.all("offset")
	}
	reverse, word, order := ZMM(), GP64(), ZMM()
	Load(Param("reverse"), word)
	VPBROADCASTW(word.As32(), reverse)
	{
		inOrder := GLOBL("inorder"+name, RODATA|NOPTR)
		for lane, quarter := range []uint64{0, 2, 4, 6, 1, 3, 5, 7} {
			DATA(8*lane, U64(quarter))
		}
		VMOVDQU64(inOrder, order)
	}
	level, values := [2]VecVirtual{l.values(), l.values()}, [2]VecVirtual{l.values(), l.values()}
	inRows(2*l.lanes(), 4, func(from, to Mem) {
		var other [2]Register
		for half := range 2 {
			VMOVUPS(from.Offset(4*l.lanes()*half), values[half])
			VPMINUD(l.last, l.nearest(values[half]), level[half]) // what is not on the ladder has another value
			other[half] = K()
			VCMPPS(U8(unequal), l.value(level[half]), values[half], other[half])
		}
		KORTESTW(other[1], other[0])
		JNZ(LabelRef("between"))
		Label("found")
		if double {
			packed := YMM()
			VPACKUSDW(level[1], level[0], packed)
			VPERMQ(U8(0b11011000), packed, packed)
			VPXORD(reverse.AsY(), packed, packed)
			VMOVDQU16(packed, to)
			return
		}
		packed := ZMM()
		VPACKUSDW(level[1], level[0], packed)
		VPERMQ(packed, order, packed)
		VPXORD(reverse, packed, packed)
		VMOVDQU16(packed, to)
	})
	Label("between")
	wish := Load(Param("last"), GP64())
	SHRQ(U8(32), wish)
	JNZ(LabelRef("stop"))
	for half := range 2 {
		l.between(values[half], level[half], "stop")
	}
	JMP(LabelRef("found"))
}
