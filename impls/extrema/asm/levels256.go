package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// eachVector256 takes whole vectors of n elements; done is how many were taken.
func eachVector256(n Register, lanes int, take func(done Register)) {
	done := GP64()
	XORQ(done, done)
	SUBQ(U8(lanes), n)
	Label("whole")
	CMPQ(done, n)
	JG(LabelRef("end"))
	take(done)
	ADDQ(U8(lanes), done)
	JMP(LabelRef("whole"))
	Label("end")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	RET()
}

// shift256 turns 8 or 16-bit values into levels of as many bytes.
func shift256(size int) {
	name := fmt.Sprintf("shift%dto%davx2", 8*size, 8*size)
	TEXT(name, NOSPLIT, shiftSignature)
	Pragma("noescape")
	Doc(name + " writes min(max(src^flip − lo, 0), top) of whole vectors of n values, and returns how many.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	all := func(name string) VecVirtual {
		x, v := XMM(), YMM()
		VMOVQ(Load(Param(name), GP64()), x)
		if size == 1 {
			VPBROADCASTB(x, v)
		} else {
			VPBROADCASTW(x, v)
		}
		return v
	}
	flip, lo, top := all("flip"), all("lo"), all("top")
	eachVector256(n, 32/size, func(done Register) {
		v := YMM()
		VPXOR(Mem{Base: src, Index: done, Scale: uint8(size)}, flip, v)
		if size == 1 {
			VPSUBUSB(lo, v, v)
			VPMINUB(top, v, v)
		} else {
			VPSUBUSW(lo, v, v)
			VPMINUW(top, v, v)
		}
		VMOVDQU(v, Mem{Base: dst, Index: done, Scale: uint8(size)})
	})
}

// affine256 is affine512 for eight values at a time, without what is left of a
// vector.
func affine256(to int, double bool) {
	kind, float := "single", "float32"
	if double {
		kind, float = "double", "float64"
	}
	name := fmt.Sprintf("%sto%davx2", kind, 8*to)
	TEXT(name, NOSPLIT, affineSignature(float))
	Pragma("noescape")
	Doc(name + " writes the levels of whole vectors of n values, and returns how many: those before a vector in which one stands on no level.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	all := func(name string) VecVirtual {
		v := YMM()
		x := Load(Param(name), XMM())
		if double {
			VBROADCASTSD(x, v)
		} else {
			VBROADCASTSS(x, v)
		}
		return v
	}
	lo, inverse, step, last := all("lo"), all("inverse"), all("step"), YMM()
	x := XMM()
	VMOVQ(Load(Param("last"), GP64()), x)
	VPBROADCASTD(x, last)
	eachVector256(n, 8, func(done Register) {
		x, level, value, on := YMM(), YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: src, Index: done, Scale: 4}, x)
		if double {
			var levels, values [2]VecVirtual
			for i := range 2 {
				q := YMM()
				if i == 0 {
					VCVTPS2PD(x.AsX(), q)
				} else {
					half := XMM()
					VEXTRACTF128(U8(1), x, half)
					VCVTPS2PD(half, q)
				}
				VSUBPD(lo, q, q)
				VMULPD(inverse, q, q)
				levels[i], values[i] = YMM(), YMM()
				VCVTPD2DQY(q, levels[i].AsX())
				VCVTDQ2PD(levels[i].AsX(), q)
				VMULPD(step, q, q)
				VADDPD(lo, q, q)
				VCVTPD2PSY(q, values[i].AsX())
			}
			VINSERTI128(U8(1), levels[1].AsX(), levels[0], level)
			VINSERTF128(U8(1), values[1].AsX(), values[0], value)
		} else {
			VSUBPS(lo, x, level)
			VMULPS(inverse, level, level)
			VCVTPS2DQ(level, level)
			VCVTDQ2PS(level, value)
			VMULPS(step, value, value)
			VADDPS(lo, value, value)
		}
		VCMPPS(U8(0), value, x, on)
		range_, all := YMM(), GP32()
		VPMINUD(last, level, range_)
		VPCMPEQD(level, range_, range_)
		VPAND(range_, on, on)
		VMOVMSKPS(on, all)
		CMPL(all, U32(0xff))
		JNE(LabelRef("end"))
		at := Mem{Base: dst, Index: done, Scale: uint8(to)}
		high := XMM()
		switch to {
		case 4:
			VMOVDQU(level, at)
		default:
			VEXTRACTI128(U8(1), level, high)
			VPACKUSDW(high, level.AsX(), high)
			if to == 2 {
				VMOVDQU(high, at)
			} else {
				VPACKUSWB(high, high, high)
				VMOVQ(high, at)
			}
		}
	})
}
