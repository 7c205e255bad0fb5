package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// at returns the element with an index of an array of elements of size bytes.
func at(base, index Register, size int) Mem { return Mem{Base: base, Index: index, Scale: uint8(size)} }

// rows writes a function that converts contiguous rows of n values at src to rows that are stride bytes apart at dst.
// take converts a vector of lanes from x on. Whole vectors, without a mask k, come first. AVX-512 converts the rest of
// a row under a mask; with AVX2, the last vector ends with the row, which has at least one. At the label "stop", x is
// the number of values of the row that were converted before.
func rows(i ISA, from, lanes int, take func(dst, src, x, k Register)) {
	src, n, line, rows := Arg("src"), Arg("n"), Arg("dst"), Arg("rows")
	stride, x, total := Arg("stride"), GP64(), GP64()
	XORQ(total, total)
	IfZero(rows, "stop")
	Label("row")
	dst := New(GP64, MOVQ, line)
	XORQ(x, x)
	left := New(GP64, MOVQ, n)
	if i.Bytes == 64 {
		Label("whole")
		CMPQ(left, U8(lanes))
		JL(LabelRef("rest"))
		take(dst, src, x, nil)
		ADDQ(U8(lanes), x)
		SUBQ(U8(lanes), left)
		JMP(LabelRef("whole"))
		Label("rest")
		IfZero(left, "next")
		take(dst, src, x, FirstLanes(left))
		Label("next")
	} else {
		SUBQ(U8(lanes), left) // the last vector
		Label("whole")
		take(dst, src, x, nil)
		ADDQ(U8(lanes), x)
		CMPQ(x, left)
		JL(LabelRef("whole"))
		MOVQ(left, x)
		take(dst, src, x, nil)
	}
	ADDQ(n, total)
	LEAQ(Mem{Base: src, Index: n, Scale: uint8(from)}, src)
	ADDQ(stride, line)
	Repeat(rows, "row")
	XORQ(x, x)
	Label("stop")
	ADDQ(x, total)
	End(total)
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

// shift converts 8 or 16-bit values to levels of the same or a smaller size.
func shift(i ISA, from, to int) {
	Func(fmt.Sprintf("shift%dto%d%s", 8*from, 8*to, i.Name),
		"func(dst, src *byte, n, rows, stride int, flip, lo, top uint64) int",
		"writes min(max(src^flip − lo, 0), top) of rows of n values, and returns how many values.")
	flip, lo, top := i.Broadcast("flip", from), i.Broadcast("lo", from), i.Broadcast("top", from)
	w, saturated := Lanes[from-1], []func(...Op){VPSUBUSB, VPSUBUSW}[from-1]
	rows(i, from, i.Bytes/from, func(dst, src, x, k Register) {
		v, to512 := i.Wide(), w.Load
		if i.Bytes == 64 {
			load512(k, w.Load, w.Keep, at(src, x, from), v)
			VPXORD(flip, v, v)
		} else {
			VPXOR(at(src, x, from), flip, v)
		}
		saturated(lo, v, v)
		w.Least(top, v, v)
		switch {
		case i.Bytes == 32:
			VMOVDQU(v, at(dst, x, to))
			return
		case to < from: // in a register: a narrowing store is slow
			VPMOVWB(v, v.AsY())
			v, to512 = i.Lower(v), VMOVDQU8
		}
		under(k, to512, v, at(dst, x, to))
	})
}

// affine converts float32 values to levels of an affine ladder, of a number of bytes. The
// arithmetic is in float32 or, as in the ladder, in float64. The level of a value is the lowest one
// not below it: the nearest level or the next one. Usually all values of a vector are on their
// levels.
func affine(i ISA, to int, double bool) {
	kind, float := "single", "float32"
	if double {
		kind, float = "double", "float64"
	}
	Func(fmt.Sprintf("%sto%d%s", kind, 8*to, i.Name),
		"func(dst, src *byte, n, rows, stride int, lo, inverse, step "+float+", last uint64) int",
		"writes the levels of rows of n values, and returns how many values: all, or those before a vector in "+
			"which one is not between the nearest level and the next ones, or not on the nearest one where a bit of last "+
			"above its 32 lowest is set.")
	l := ladder{i, double, i.BroadcastFloat("lo", double), i.BroadcastFloat("inverse", double),
		i.BroadcastFloat("step", double), i.Broadcast("last", 4)}
	var later []func() // rare code is placed after the function
	rows(i, 4, i.Bytes/4, func(dst, src, x, k Register) {
		v, level, value := i.Wide(), i.Wide(), i.Wide()
		if i.Bytes == 64 {
			load512(k, VMOVUPS, VMOVUPS_Z, at(src, x, 4), v)
		} else {
			VMOVUPS(at(src, x, 4), v)
		}
		l.nearest(v, level)
		l.value(level, value)
		on := i.Compare(EQ, value, v)
		found, between := fmt.Sprint("found", len(later)), fmt.Sprint("between", len(later))
		l.unlessAll(level, on, k, between)
		later = append(later, func() {
			Label(between)
			wish := Arg("last") // stop if it carries the flag for values on levels alone
			SHRQ(U8(32), wish)
			JNZ(LabelRef("stop"))
			l.unlessAll(level, l.between(v, level), k, "stop")
			JMP(LabelRef(found))
		})
		Label(found)
		l.store(level, k, at(dst, x, to), to)
	})
	for _, f := range later {
		f()
	}
}

// A ladder is the parameters of an affine ladder, each in all lanes, and whether its arithmetic is
// in float64.
type ladder struct {
	ISA
	double                  bool
	lo, inverse, step, last VecVirtual
}

// inFloat64 widens each half of a vector to float64, calls do on it in place, and narrows it.
func (l ladder) inFloat64(from, to VecVirtual, widen, narrow func(...Op), do func(q VecVirtual)) {
	var halves [2]VecVirtual
	for i := range halves {
		q := l.Wide()
		if i == 0 {
			widen(l.Lower(from), q)
		} else {
			upper := New(l.Half, l.Upper, from)
			widen(upper, q)
		}
		do(q)
		halves[i] = l.Wide()
		narrow(q, l.Lower(halves[i]))
	}
	l.Join(l.Lower(halves[1]), halves[0], to)
}

// nearest computes the nearest level of each value x.
func (l ladder) nearest(x, level VecVirtual) {
	if l.double {
		l.inFloat64(x, level, VCVTPS2PD, func(ops ...Op) { l.ToInts(ops[0], ops[1]) }, func(q VecVirtual) {
			VSUBPD(l.lo, q, q)
			VMULPD(l.inverse, q, q)
		})
		return
	}
	VSUBPS(l.lo, x, level)
	VMULPS(l.inverse, level, level)
	VCVTPS2DQ(level, level)
}

// value computes the value of each level.
func (l ladder) value(level, value VecVirtual) {
	if l.double {
		l.inFloat64(level, value, VCVTDQ2PD, func(ops ...Op) { l.ToFloats(ops[0], ops[1]) }, func(q VecVirtual) {
			VMULPD(l.step, q, q)
			VADDPD(l.lo, q, q)
		})
		return
	}
	VCVTDQ2PS(level, value)
	VMULPS(l.step, value, value)
	VADDPS(l.lo, value, value)
}

// unlessAll jumps unless all lanes, or all lanes of the mask k, are in on and on the ladder.
func (l ladder) unlessAll(level VecVirtual, on, k Register, to string) {
	if l.Bytes == 32 {
		within := New(YMM, VPMINUD, l.last, level)
		VPCMPEQD(level, within, within)
		VPAND(within, on, on)
		CMPL(l.Bits(on), U32(0xff))
		JNE(LabelRef(to))
		return
	}
	VPCMPUD(LE, l.last, level, on, on)
	if k == nil {
		KORTESTW(on, on)
		JCC(LabelRef(to))
	} else {
		KANDNW(k, on, on)
		KTESTW(on, on)
		JNZ(LabelRef(to))
	}
}

// between compares each value with the nearest level, in level, and with the next one on its side. It leaves the upper
// one of the two in level, and returns the lanes where the value is not above the upper level, and is above the lower
// one if there is one.
func (l ladder) between(x, level VecVirtual) Register {
	xor, or, andNot := KXORW, KORW, KANDNW
	if l.Bytes == 32 {
		xor, or, andNot = VPXOR, VPOR, VPANDN
	}
	value, other, zero, ones := l.Wide(), l.Wide(), l.Zero(), l.Ones()
	VPMAXSD(zero, level, level)
	VPMINSD(l.last, level, level)
	l.value(level, value)
	upper := l.Compare(LT, x, value) // whether the other level is the upper one
	VPADDD(ones, level, other)
	l.Raise(upper, other)
	l.Raise(upper, other)
	l.value(other, value)
	on, lowest := l.Compare(LT, x, value), l.Equal(zero, level)
	xor(upper, on, on)
	andNot(lowest, upper, lowest)
	or(lowest, on, on)
	l.Raise(upper, level)
	return on
}

// store narrows levels to a number of bytes.
func (l ladder) store(level VecVirtual, k Register, to Mem, bytes int) {
	if l.Bytes == 64 {
		switch bytes {
		case 1:
			VPMOVDB(level, level.AsX())
			under(k, VMOVDQU8, level.AsX(), to)
		case 2:
			VPMOVDW(level, level.AsY())
			under(k, VMOVDQU16, level.AsY(), to)
		case 4:
			under(k, VMOVDQU32, level, to)
		}
		return
	}
	if bytes == 4 {
		VMOVDQU(level, to)
		return
	}
	high := New(XMM, l.Upper, level)
	VPACKUSDW(high, level.AsX(), high)
	if bytes == 2 {
		VMOVDQU(high, to)
	} else {
		VPACKUSWB(high, high, high)
		VMOVQ(high, to)
	}
}
