package extrema

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// vectors are the registers of an instruction set, and the operations that split them: float32
// lanes need two registers of float64 lanes.
type vectors struct {
	whole, half     func() VecVirtual
	lower           func(VecVirtual) Register // the first half of a vector
	extract         func(from, upper Op)
	insert          func(upper, lower, to Op)
	integers, float func(...Op) // from float64 to int32, and to float32
}

func vectors512() vectors {
	return vectors{
		ZMM, YMM, func(v VecVirtual) Register { return v.AsY() },
		func(from, upper Op) { VEXTRACTF64X4(U8(1), from, upper) },
		func(upper, lower, to Op) { VINSERTF64X4(U8(1), upper, lower, to) },
		VCVTPD2DQ, VCVTPD2PS,
	}
}

func vectors256() vectors {
	return vectors{
		YMM, XMM, func(v VecVirtual) Register { return v.AsX() },
		func(from, upper Op) { VEXTRACTF128(U8(1), from, upper) },
		func(upper, lower, to Op) { VINSERTF128(U8(1), upper, lower, to) },
		VCVTPD2DQY, VCVTPD2PSY,
	}
}

// inFloat64 widens each half of a vector to float64, calls do on it in place, and narrows it.
func (w vectors) inFloat64(from, to VecVirtual, widen, narrow func(...Op), do func(q VecVirtual)) {
	var halves [2]VecVirtual
	for i := range halves {
		q := w.whole()
		if i == 0 {
			widen(w.lower(from), q)
		} else {
			upper := w.half()
			w.extract(from, upper)
			widen(upper, q)
		}
		do(q)
		halves[i] = w.whole()
		narrow(q, w.lower(halves[i]))
	}
	w.insert(w.lower(halves[1]), halves[0], to)
}

// A ladder is the parameters of an affine ladder, each in all lanes, and whether its arithmetic is
// in float64.
type ladder struct {
	vectors
	double            bool
	lo, inverse, step VecVirtual
}

// nearest computes the nearest level of each value x.
func (l ladder) nearest(x, level VecVirtual) {
	if l.double {
		l.inFloat64(x, level, VCVTPS2PD, l.integers, func(q VecVirtual) {
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
		l.inFloat64(level, value, VCVTDQ2PD, l.float, func(q VecVirtual) {
			VMULPD(l.step, q, q)
			VADDPD(l.lo, q, q)
		})
		return
	}
	VCVTDQ2PS(level, value)
	VMULPS(l.step, value, value)
	VADDPS(l.lo, value, value)
}
