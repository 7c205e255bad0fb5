package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// eachVector512 takes n elements, so many to a vector: whole vectors, then what
// is left under a mask, which is nil for whole vectors. Every take advances.
func eachVector512(n Register, lanes int, take func(k Register, taken Op)) {
	Label("whole")
	CMPQ(n, U8(lanes))
	JL(LabelRef("rest"))
	take(nil, U8(lanes))
	SUBQ(U8(lanes), n)
	JMP(LabelRef("whole"))
	Label("rest")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	all, k := GP64(), K()
	MOVQ(I32(-1), all)
	BZHIQ(n, all, all)
	KMOVQ(all, k)
	take(k, n)
	Label("end")
}

// under stores or loads under a mask where there is one.
func under(k Register, move func(...Op), from, to Op) {
	if k == nil {
		move(from, to)
	} else {
		move(from, k, to)
	}
}

// shift512 turns n 8 or 16-bit values into levels of as many or fewer bytes.
func shift512(from, to int) {
	name := fmt.Sprintf("shift%dto%davx512", 8*from, 8*to)
	TEXT(name, NOSPLIT, shiftSignature)
	Pragma("noescape")
	Doc(name + " writes min(max(src^flip − lo, 0), top) of n values, and returns n.")
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
	eachVector512(n, lanes, func(k Register, _ Op) {
		v := ZMM()
		if from == 1 {
			load512(k, VMOVDQU8, VMOVDQU8_Z, Mem{Base: src}, v)
			VPXORD(flip, v, v)
			VPSUBUSB(lo, v, v)
			VPMINUB(top, v, v)
			under(k, VMOVDQU8, v, Mem{Base: dst})
		} else {
			load512(k, VMOVDQU16, VMOVDQU16_Z, Mem{Base: src}, v)
			VPXORD(flip, v, v)
			VPSUBUSW(lo, v, v)
			VPMINUW(top, v, v)
			if to == 1 {
				VPMOVWB(v, v.AsY())
				under(k, VMOVDQU8, v.AsY(), Mem{Base: dst})
			} else {
				under(k, VMOVDQU16, v, Mem{Base: dst})
			}
		}
		ADDQ(U8(64), src)
		ADDQ(U8(lanes*to), dst)
	})
	VZEROUPPER()
	Load(Param("n"), n)
	Store(n, ReturnIndex(0))
	RET()
}

// load512 loads all lanes, or those of a mask and zeros.
func load512(k Register, all func(...Op), some func(Op, Op, Op), from Mem, to Op) {
	if k == nil {
		all(from, to)
	} else {
		some(from, k, to)
	}
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
	TEXT(name, NOSPLIT, affineSignature(float))
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
	done := GP64()
	XORQ(done, done)
	eachVector512(n, 16, func(k Register, taken Op) {
		x, level, value := ZMM(), ZMM(), ZMM()
		load512(k, VMOVUPS, VMOVUPS_Z, Mem{Base: src, Index: done, Scale: 4}, x)
		if double {
			ladder64(x, level, value, lo, inverse, step)
		} else {
			VSUBPS(lo, x, level)
			VMULPS(inverse, level, level)
			VCVTPS2DQ(level, level)
			VCVTDQ2PS(level, value)
			VMULPS(step, value, value)
			VADDPS(lo, value, value)
		}
		on := K()
		if k == nil {
			VCMPPS(U8(0), value, x, on)
		} else {
			VCMPPS(U8(0), value, x, k, on)
		}
		VPCMPUD(atMost, last, level, on, on)
		if k == nil {
			KORTESTW(on, on)
			JCC(LabelRef("end")) // not all set
		} else {
			KXORW(k, on, on)
			KTESTW(on, on)
			JNZ(LabelRef("end"))
		}
		to := Mem{Base: dst, Index: done, Scale: uint8(to)}
		switch to.Scale {
		case 1:
			VPMOVDB(level, level.AsX())
			under(k, VMOVDQU8, level.AsX(), to)
		case 2:
			VPMOVDW(level, level.AsY())
			under(k, VMOVDQU16, level.AsY(), to)
		case 4:
			under(k, VMOVDQU32, level, to)
		}
		ADDQ(taken, done)
	})
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	RET()
}

// ladder64 is the ladder's arithmetic in float64: the nearest level of each of
// sixteen values x, and the value of that level.
func ladder64(x, level, value, lo, inverse, step VecVirtual) {
	var levels, values [2]VecVirtual
	for i := range 2 {
		half, q := YMM(), ZMM()
		if i == 0 {
			VCVTPS2PD(x.AsY(), q)
		} else {
			VEXTRACTF64X4(U8(1), x, half)
			VCVTPS2PD(half, q)
		}
		VSUBPD(lo, q, q)
		VMULPD(inverse, q, q)
		levels[i], values[i] = ZMM(), ZMM()
		VCVTPD2DQ(q, levels[i].AsY())
		VCVTDQ2PD(levels[i].AsY(), q)
		VMULPD(step, q, q)
		VADDPD(lo, q, q)
		VCVTPD2PS(q, values[i].AsY())
	}
	VINSERTI64X4(U8(1), levels[1].AsY(), levels[0], level)
	VINSERTF64X4(U8(1), values[1].AsY(), values[0], value)
}
