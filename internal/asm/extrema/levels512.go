package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// rows512 processes the values of each row by vectors of the given number of lanes. The mask is nil
// for whole vectors, which come first; the rest follows under a mask.
func rows512(from, lanes int, take func(c conversion, done, k Register)) {
	eachRow(from, func(c conversion, done Register) {
		left := GP64()
		MOVQ(c.n, left)
		Label("whole")
		CMPQ(left, U8(lanes))
		JL(LabelRef("rest"))
		take(c, done, nil)
		ADDQ(U8(lanes), done)
		SUBQ(U8(lanes), left)
		JMP(LabelRef("whole"))
		Label("rest")
		IfZero(left, "next")
		all, k := GP64(), K()
		MOVQ(I32(-1), all)
		BZHIQ(left, all, all)
		KMOVQ(all, k)
		take(c, done, k)
		Label("next")
	})
}

// under moves all lanes, or the lanes of a mask.
func under(k Register, move func(...Op), from, to Op) {
	if k == nil {
		move(from, to)
	} else {
		move(from, k, to)
	}
}

// load512 loads all lanes, or the lanes of a mask and zeros elsewhere.
func load512(k Register, all func(...Op), some func(Op, Op, Op), from Mem, to Op) {
	if k == nil {
		all(from, to)
	} else {
		some(from, k, to)
	}
}

// at returns the element with an index of an array of elements of size bytes.
func at(base, index Register, size int) Mem { return Mem{Base: base, Index: index, Scale: uint8(size)} }

// shift512 converts 8 or 16-bit values to levels of the same or a smaller size.
func shift512(from, to int) {
	name := fmt.Sprintf("shift%dto%davx512", 8*from, 8*to)
	Func(name, shiftSignature,
		"writes min(max(src^flip − lo, 0), top) of rows of n values, and returns how many values.")
	all := func(name string) VecVirtual {
		x, v := Arg(name), ZMM()
		if from == 1 {
			VPBROADCASTB(x.(GPVirtual).As32(), v)
		} else {
			VPBROADCASTW(x.(GPVirtual).As32(), v)
		}
		return v
	}
	flip, lo, top := all("flip"), all("lo"), all("top")
	rows512(from, 64/from, func(c conversion, done, k Register) {
		v, src, dst := ZMM(), at(c.src, done, from), at(c.dst, done, to)
		if from == 1 {
			load512(k, VMOVDQU8, VMOVDQU8_Z, src, v)
			VPXORD(flip, v, v)
			VPSUBUSB(lo, v, v)
			VPMINUB(top, v, v)
			under(k, VMOVDQU8, v, dst)
			return
		}
		load512(k, VMOVDQU16, VMOVDQU16_Z, src, v)
		VPXORD(flip, v, v)
		VPSUBUSW(lo, v, v)
		VPMINUW(top, v, v)
		if to == 1 { // in a register: a narrowing store is slow
			VPMOVWB(v, v.AsY())
			under(k, VMOVDQU8, v.AsY(), dst)
		} else {
			under(k, VMOVDQU16, v, dst)
		}
	})
}

// affine starts a function that converts float32 values to levels of a number of bytes, and returns
// the ladder of its parameters.
func affine(isa string, to int, double bool, w vectors) ladder {
	kind, float := "single", "float32"
	if double {
		kind, float = "double", "float64"
	}
	name := fmt.Sprintf("%sto%d%s", kind, 8*to, isa)
	Func(name, affineSignature(float),
		"writes the levels of rows of n values, and returns how many values: all, or those before a vector in "+
			"which one is not between the nearest level and the next ones, or not on the nearest one where a bit of last "+
			"above its 32 lowest is set.")
	all := func(name string) VecVirtual {
		v := w.whole()
		x := Load(Param(name), XMM())
		if double {
			VBROADCASTSD(x, v)
		} else {
			VBROADCASTSS(x, v)
		}
		return v
	}
	return ladder{w, double, all("lo"), all("inverse"), all("step")}
}

// affine512 converts float32 values to levels of an affine ladder, of a number of bytes. The
// arithmetic is in float32 or, as in the ladder, in float64. The level of a value is the lowest one
// not below it: the nearest level or the next one. Usually all values of a vector are on their
// levels.
func affine512(to int, double bool) {
	l, last := affine("avx512", to, double, vectors512()), ZMM()
	VPBROADCASTD(Arg("last").(GPVirtual).As32(), last)
	var later []func() // rare code is placed after the function
	rows512(4, 16, func(c conversion, done, k Register) {
		x, level, value := ZMM(), ZMM(), ZMM()
		load512(k, VMOVUPS, VMOVUPS_Z, at(c.src, done, 4), x)
		l.nearest(x, level)
		l.value(level, value)
		on := K()
		if k == nil {
			VCMPPS(U8(0), value, x, on)
		} else {
			VCMPPS(U8(0), value, x, k, on)
		}
		VPCMPUD(atMost, last, level, on, on)
		part := "whole"
		if k != nil {
			part = "rest"
		}
		found, between := part+"found", part+"between"
		unlessAll(on, k, between)
		later = append(later, func() {
			Label(between)
			stopIfExactly()
			between512(l, x, level, last, on)
			if k != nil {
				KANDW(k, on, on)
			}
			unlessAll(on, k, "stop")
			JMP(LabelRef(found))
		})
		Label(found)
		dst := at(c.dst, done, to)
		switch to {
		case 1:
			VPMOVDB(level, level.AsX())
			under(k, VMOVDQU8, level.AsX(), dst)
		case 2:
			VPMOVDW(level, level.AsY())
			under(k, VMOVDQU16, level.AsY(), dst)
		case 4:
			under(k, VMOVDQU32, level, dst)
		}
	})
	for _, f := range later {
		f()
	}
}

// stopIfExactly stops if the last level carries the flag for values on levels alone.
func stopIfExactly() {
	wish := Arg("last")
	SHRQ(U8(32), wish)
	JNZ(LabelRef("stop"))
}

// unlessAll jumps unless all lanes, or all lanes of the mask k, are in on. on has no other lanes.
func unlessAll(on, k Register, to string) {
	if k == nil {
		KORTESTW(on, on)
		JCC(LabelRef(to))
	} else {
		KXORW(k, on, on)
		KTESTW(on, on)
		JNZ(LabelRef(to))
	}
}

// between512 compares each of sixteen values with the nearest level, in level, and with the next
// one on its side. It leaves the upper one of the two in level. on gets the lanes where the value
// is not above the upper level, and is above the lower one if there is one.
func between512(l ladder, x, level, last VecVirtual, on Register) {
	const less = 1 // VCMPPS
	value, other, one, r := ZMM(), ZMM(), ZMM(), GP32()
	VPXORD(other, other, other)
	VPMAXSD(other, level, level)
	VPMINSD(last, level, level)
	l.value(level, value)
	upper, below, lowest := K(), K(), K() // whether the other level is the upper one
	VCMPPS(U8(less), x, value, upper)
	MOVL(U32(1), r)
	VPBROADCASTD(r, one)
	VPSUBD(one, level, other)
	VPADDD(one, level, upper, other)
	l.value(other, value)
	VCMPPS(U8(less), x, value, below)
	VPTESTNMD(level, level, lowest)
	KXORW(upper, below, below)
	KANDNW(lowest, upper, lowest)
	KORW(lowest, below, on)
	VMOVDQA32(other, upper, level)
	VPCMPUD(atMost, last, level, on, on)
}
