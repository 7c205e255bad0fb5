package fingerprint

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A scan goes through the values at the start of an array that make up whole groups.
type scan struct {
	dst, table, src, n, ahead, done Register
}

// scanned loads the parameters.
func scanned() scan {
	return scan{Arg("dst"), Arg("table"), Arg("src"), Arg("n"), Arg("ahead"), GP64()}
}

// groups takes groups of values until none is left. A jump to "stop" returns the number of values
// that are done. Values ahead are prefetched: they are a plane away, so the processor does not
// predict them.
func (s scan) groups(group, size int, take func()) {
	ADDQ(s.src, s.ahead)
	XORQ(s.done, s.done)
	SUBQ(U8(group), s.n)
	JL(LabelRef("stop"))
	Label("group")
	PREFETCHT1(Mem{Base: s.ahead, Index: s.done, Scale: uint8(size)})
	take()
	ADDQ(U8(group), s.done)
	CMPQ(s.done, s.n)
	JLE(LabelRef("group"))
	Label("stop")
	End(s.done)
}

// weights looks up half a vector of indices, the part of a group with a number.
func (i isa) weights(s scan, index Register, part int) {
	w := i.Wide()
	i.gather(s.table, index, w)
	VMOVUPD(w, Mem{Base: s.dst, Index: s.done, Scale: 8, Disp: part * i.Bytes})
}

// integers generates the look-up of the weights of values of size bytes, by their bit patterns.
func (i isa) integers(what string, size int, widen func(...Op)) {
	Func(what+i.Name, "func(dst, table *uint64, src *byte, n, ahead int) int",
		fmt.Sprintf("looks up the weights of values of %d bits, and returns of how many of n.", 8*size))
	const parts = 2
	lanes := i.Bytes / 8
	s := scanned()
	s.groups(parts*lanes, size, func() {
		for part := range parts {
			index := New(i.Half, widen, Mem{Base: s.src, Index: s.done, Scale: uint8(size), Disp: part * lanes * size})
			i.weights(s, index, part)
		}
	})
}

// A ladder is the parameters of an affine ladder, in all lanes, and the registers of its
// arithmetic: vectors of float32, or of float64 for half as many values.
type ladder struct {
	isa
	double            bool
	lo, inverse, step VecVirtual
	last              VecVirtual // of integers
	offset            VecVirtual // of fused operations, −lo · inverse; nil if each operation is rounded
}

// values is a register for the float32 values, or their levels, that are done at a time.
func (l ladder) values() VecVirtual {
	if l.double {
		return l.Half()
	}
	return l.Wide()
}

// nearest is the nearest level of each value, not kept within the ladder.
func (l ladder) nearest(x VecVirtual) VecVirtual {
	if l.double {
		d := New(l.Wide, VCVTPS2PD, x)
		VSUBPD(l.lo, d, d)
		VMULPD(l.inverse, d, d)
		return New(l.values, l.ToInts, d)
	}
	f := l.Wide()
	if l.offset != nil {
		VMOVAPS(l.offset, f)
		VFMADD231PS(l.inverse, x, f)
	} else {
		VSUBPS(l.lo, x, f)
		VMULPS(l.inverse, f, f)
	}
	return New(l.values, VCVTPS2DQ, f)
}

// value is the value of each level, by the ladder's own arithmetic.
func (l ladder) value(level VecVirtual) VecVirtual {
	if l.double {
		d := New(l.Wide, VCVTDQ2PD, level)
		VMULPD(l.step, d, d)
		VADDPD(l.lo, d, d)
		return New(l.values, l.ToFloats, d)
	}
	v := New(l.values, VCVTDQ2PS, level)
	if l.offset != nil {
		VFMADD213PS(l.lo, l.step, v)
	} else {
		VMULPS(l.step, v, v)
		VADDPS(l.lo, v, v)
	}
	return v
}

// ladder loads the parameters of a function.
func (i isa) ladder(double bool) ladder {
	l := ladder{isa: i, double: double}
	l.lo, l.inverse = l.BroadcastFloat("lo", l.double), l.BroadcastFloat("inverse", l.double)
	l.step = l.BroadcastFloat("step", l.double)
	l.last = New(l.values, VPBROADCASTD, New(XMM, VMOVQ, Arg("last")))
	return l
}

// lanes returns the number of values of one step.
func (l ladder) lanes() int {
	if l.double {
		return l.Bytes / 8
	}
	return l.Bytes / 4
}

// off writes the code for values that are off the levels, after a function: it stops if the last level carries the flag
// for values on levels alone.
func (l ladder) off(between func()) {
	Label("between")
	wish := Arg("last")
	SHRQ(U8(32), wish)
	JNZ(LabelRef("stop"))
	between()
	JMP(LabelRef("found"))
}

// between writes the levels of values that may lie between levels, each checked by the definition.
// It jumps to the label "stop" if a value has no such level.
func (l ladder) between(values, level VecVirtual) {
	unlessAll := func(bits Register) {
		CMPL(bits, U32(1<<l.lanes()-1))
		JNE(LabelRef("stop"))
	}
	zero := Like(level)
	VPXOR(zero.AsX(), zero.AsX(), zero.AsX())
	VMOVUPS(l.nearest(values), level)
	VPMAXSD(zero, level, level)
	VPMINSD(l.last, level, level)
	l.Raise(l.Compare(LT, values, l.value(level)), level)
	unlessAll(l.Bits(l.Equal(New(l.values, VPMINSD, l.last, level), level)))
	unlessAll(l.compared(LE, l.value(level), values)) // values ≤ the level's
	ones := Like(level)
	VPCMPEQD(ones.AsX(), ones.AsX(), ones.AsX())
	VPBROADCASTD(ones.AsX(), ones)
	before := New(l.values, VPADDD, ones, level)
	bits := l.compared(LT, values, l.value(before)) // the level before is less than the values
	ORL(l.Bits(l.Equal(zero, level)), bits)
	unlessAll(bits)
}

// floats generates the look-up of the weights of float32 values on an affine ladder, with the
// ladder's arithmetic in float32 or in float64. A value is nearly always on a level. If one of a
// group is not, the level above the nearest one is tried too, and each is checked by the
// definition. If neither is its level, the function returns.
func (i isa) floats(double bool) {
	kind, float := "single", "float32"
	if double {
		kind, float = "double", "float64"
	}
	Func(kind+i.Name, "func(dst, table *uint64, src *byte, n, ahead int, lo, inverse, step "+float+", last uint64) int",
		"looks up the weights of float32 values on an affine ladder, and returns of how many of n; where a bit of last "+
			"above its 32 lowest is set, of those before a group in which one is no level's own.")
	l := i.ladder(double)
	level, values := l.values(), l.values()
	s := scanned()
	s.groups(l.lanes(), 4, func() {
		VMOVUPS(Mem{Base: s.src, Index: s.done, Scale: 4}, values)
		VPMINUD(l.last, l.nearest(values), level) // values off the ladder have another value
		bits := i.compared(EQ, l.value(level), values)
		CMPL(bits, U32(1<<l.lanes()-1))
		JNE(LabelRef("between"))
		Label("found")
		if double {
			i.weights(s, level, 0)
			return
		}
		i.weights(s, i.Lower(level), 0)
		i.weights(s, New(i.Half, i.Upper, level), 1)
	})
	l.off(func() { l.between(values, level) })
}
