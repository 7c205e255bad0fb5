package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rest is the mask of the lanes that are left of n, of so many to a vector.
func rest(n, least Register, lanes int) Register {
	all, k := GP64(), K()
	MOVQ(U32(lanes), least)
	CMPQ(n, least)
	CMOVQLT(n, least)
	MOVQ(I32(-1), all)
	BZHIQ(least, all, all)
	KMOVQ(all, k)
	return k
}

// shift512 turns n 8 or 16-bit values into levels of as many or fewer bytes.
func shift512(from, to int) {
	name := fmt.Sprintf("shift%dto%davx512", 8*from, 8*to)
	TEXT(name, NOSPLIT, "func(dst, src *byte, n int, flip, lo, top uint64)")
	Pragma("noescape")
	Doc(name + " writes min(max(src^flip − lo, 0), top) of n values.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	all := func(name string) VecVirtual {
		x, v := Load(Param(name), GP64()), ZMM()
		if from == 1 {
			VPBROADCASTB(x.(GPVirtual).As32(), v)
		} else {
			VPBROADCASTW(x.(GPVirtual).As32(), v)
		}
		return v
	}
	flip, lo, top := all("flip"), all("lo"), all("top")
	lanes := 64 / from
	taken := GP64()
	Label("vector")
	k := rest(n, taken, lanes)
	v := ZMM()
	if from == 1 {
		VMOVDQU8_Z(Mem{Base: src}, k, v)
		VPXORD(flip, v, v)
		VPSUBUSB(lo, v, v)
		VPMINUB(top, v, v)
		VMOVDQU8(v, k, Mem{Base: dst})
	} else {
		VMOVDQU16_Z(Mem{Base: src}, k, v)
		VPXORD(flip, v, v)
		VPSUBUSW(lo, v, v)
		VPMINUW(top, v, v)
		if to == 1 {
			VPMOVWB(v, k, Mem{Base: dst})
		} else {
			VMOVDQU16(v, k, Mem{Base: dst})
		}
	}
	ADDQ(U8(64), src)
	ADDQ(U8(lanes*to), dst)
	SUBQ(taken, n)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// affine512 turns float32 values that stand on the levels of an affine ladder
// into levels of so many bytes, with the ladder's arithmetic in float32 or, as
// the ladder itself does, in float64.
func affine512(to int, double bool) {
	kind, float := "single", "float32"
	if double {
		kind, float = "double", "float64"
	}
	name := fmt.Sprintf("%sto%davx512", kind, 8*to)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst, src *byte, n int, lo, inverse, step %s, last uint64) int", float))
	Pragma("noescape")
	Doc(name + " writes the levels of up to n values, and returns how many: all, or those before a vector in which one stands on no level.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	all := func(name string) VecVirtual {
		v := ZMM()
		x := Load(Param(name), XMM())
		if double {
			VBROADCASTSD(x, v)
		} else {
			VBROADCASTSS(x, v)
		}
		return v
	}
	lo, inverse, step, last := all("lo"), all("inverse"), all("step"), ZMM()
	VPBROADCASTD(Load(Param("last"), GP64()).(GPVirtual).As32(), last)
	done, taken := GP64(), GP64()
	XORQ(done, done)
	Label("vector")
	k := rest(n, taken, 16)
	x, level, value := ZMM(), ZMM(), ZMM()
	VMOVUPS_Z(Mem{Base: src, Index: done, Scale: 4}, k, x)
	if double {
		var levels, values [2]VecVirtual
		half := YMM()
		for i := range 2 {
			q := ZMM()
			if i == 0 {
				VCVTPS2PD(x.AsY(), q)
			} else {
				VEXTRACTF64X4(U8(1), x, half)
				VCVTPS2PD(half, q)
			}
			VSUBPD(lo, q, q)
			VMULPD(inverse, q, q)
			levels[i], values[i] = YMM(), YMM()
			VCVTPD2DQ(q, levels[i])
			VCVTDQ2PD(levels[i], q)
			VMULPD(step, q, q)
			VADDPD(lo, q, q)
			VCVTPD2PS(q, values[i])
		}
		VINSERTI64X4(U8(1), levels[1], levels[0].(interface{ AsZ() Register }).AsZ(), level)
		VINSERTF64X4(U8(1), values[1], values[0].(interface{ AsZ() Register }).AsZ(), value)
	} else {
		VSUBPS(lo, x, level)
		VMULPS(inverse, level, level)
		VCVTPS2DQ(level, level)
		VCVTDQ2PS(level, value)
		VMULPS(step, value, value)
		VADDPS(lo, value, value)
	}
	on := K()
	VCMPPS(U8(0), value, x, k, on)
	VPCMPUD(atMost, last, level, on, on)
	KXORW(k, on, on)
	KTESTW(on, on)
	JNZ(LabelRef("end"))
	switch to {
	case 1:
		VPMOVDB(level, k, Mem{Base: dst, Index: done, Scale: 1})
	case 2:
		VPMOVDW(level, k, Mem{Base: dst, Index: done, Scale: 2})
	case 4:
		VMOVDQU32(level, k, Mem{Base: dst, Index: done, Scale: 4})
	}
	ADDQ(taken, done)
	SUBQ(taken, n)
	JNZ(LabelRef("vector"))
	Label("end")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	RET()
}
