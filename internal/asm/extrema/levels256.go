package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// rows256 processes the values of each row by vectors of the given number of lanes. The last vector
// of a row ends with the row; n is at least one vector.
func rows256(from, lanes int, take func(c conversion, done Register)) {
	eachRow(from, func(c conversion, done Register) {
		last := GP64()
		MOVQ(c.n, last)
		SUBQ(U8(lanes), last)
		Label("whole")
		take(c, done)
		ADDQ(U8(lanes), done)
		CMPQ(done, last)
		JL(LabelRef("whole"))
		MOVQ(last, done)
		take(c, done)
	})
}

// shift256 converts 8 or 16-bit values to levels of the same size.
func shift256(size int) {
	name := fmt.Sprintf("shift%dto%davx2", 8*size, 8*size)
	Func(name, shiftSignature,
		"writes min(max(src^flip − lo, 0), top) of rows of n values, and returns how many values.")
	all := func(name string) VecVirtual {
		x, v := XMM(), YMM()
		VMOVQ(Arg(name), x)
		if size == 1 {
			VPBROADCASTB(x, v)
		} else {
			VPBROADCASTW(x, v)
		}
		return v
	}
	flip, lo, top := all("flip"), all("lo"), all("top")
	rows256(size, 32/size, func(c conversion, done Register) {
		v := YMM()
		VPXOR(at(c.src, done, size), flip, v)
		if size == 1 {
			VPSUBUSB(lo, v, v)
			VPMINUB(top, v, v)
		} else {
			VPSUBUSW(lo, v, v)
			VPMINUW(top, v, v)
		}
		VMOVDQU(v, at(c.dst, done, size))
	})
}

// affine256 is affine512 for eight values at a time, without a partial vector.
func affine256(to int, double bool) {
	l, last := affine("avx2", to, double, vectors256()), YMM()
	x := XMM()
	VMOVQ(Arg("last"), x)
	VPBROADCASTD(x, last)
	unlessAll := func(level, on VecVirtual, to string) {
		range_, all := YMM(), GP32()
		VPMINUD(last, level, range_)
		VPCMPEQD(level, range_, range_)
		VPAND(range_, on, on)
		VMOVMSKPS(on, all)
		CMPL(all, U32(0xff))
		JNE(LabelRef(to))
	}
	var later []func()
	rows256(4, 8, func(c conversion, done Register) {
		x, level, value, on := YMM(), YMM(), YMM(), YMM()
		VMOVUPS(at(c.src, done, 4), x)
		l.nearest(x, level)
		l.value(level, value)
		VCMPPS(U8(0), value, x, on)
		found, between := fmt.Sprintf("found%d", len(later)), fmt.Sprintf("between%d", len(later))
		unlessAll(level, on, between)
		later = append(later, func() {
			Label(between)
			stopIfExactly()
			between256(l, x, level, last, on)
			unlessAll(level, on, "stop")
			JMP(LabelRef(found))
		})
		Label(found)
		dst := at(c.dst, done, to)
		high := XMM()
		switch to {
		case 4:
			VMOVDQU(level, dst)
		default:
			VEXTRACTI128(U8(1), level, high)
			VPACKUSDW(high, level.AsX(), high)
			if to == 2 {
				VMOVDQU(high, dst)
			} else {
				VPACKUSWB(high, high, high)
				VMOVQ(high, dst)
			}
		}
	})
	for _, f := range later {
		f()
	}
}

// between256 is between512 for eight values, except that the upper level may be beyond the last
// one.
func between256(l ladder, x, level, last, on VecVirtual) {
	const less = 1 // VCMPPS
	value, other, upper, zero := YMM(), YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPMAXSD(zero, level, level)
	VPMINSD(last, level, level)
	l.value(level, value)
	VCMPPS(U8(less), x, value, upper) // 0 or −1
	VPCMPEQD(other, other, other)
	VPADDD(other, level, other)
	VPSUBD(upper, other, other)
	VPSUBD(upper, other, other)
	l.value(other, value)
	VCMPPS(U8(less), x, value, on)
	VXORPS(upper, on, on)
	VPCMPEQD(zero, level, zero)
	VPANDN(zero, upper, zero)
	VPOR(zero, on, on)
	VPSUBD(upper, level, level)
}
