package binned

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// AVX2 has 16 registers and no mask registers. So the neighbours of a row are loaded again, and
// comparisons are vectors of 0 and −1.

func newTriple256() triple { return triple{YMM(), YMM(), YMM()} }

// row256 returns a triple from memory: the minimum of below and more.
func row256(below Mem, more ...Mem) triple {
	t := newTriple256()
	for i := range t {
		VMOVUPS(below.Offset((i-1)*lane), t[i])
		for _, m := range more {
			VMINPS(m.Offset((i-1)*lane), t[i], t[i])
		}
	}
	return t
}

// falls256 returns the lanes above the next lane, and below the previous lane.
func falls256(s triple) (after, before VecVirtual) {
	after, before = YMM(), YMM()
	VCMPPS(greater, s[2], s[1], after)
	VCMPPS(greater, s[1], s[0], before)
	return after, before
}

// pair256 returns the changes of the minima of a row and the next one: those of the lanes that the
// row owns, and the others.
func pair256(s, next triple) (kept, rest VecVirtual) {
	kept, rest = YMM(), YMM()
	own := YMM()
	VCMPPS(atMost, next[1], s[1], own)
	for i := range next {
		VMINPS(next[i], s[i], next[i])
	}
	after, before := falls256(next)
	VPSUBD(after, before, rest)
	VPAND(own, rest, kept)
	VPSUBD(kept, rest, rest)
	return kept, rest
}

// column256 processes a column of vectors of two planes: see the portable kernel.
func column256() {
	Func("column256", "func(below, above *float32, owed *int32, out *uint8, stride, apart, rows int)",
		"stores the changes of a column of 8 values of rows of the plane below.")
	below, above, owed := Arg("below"), Arg("above"), Arg("owed")
	out, stride, apart, rows := Arg("out"), Arg("stride"), Arg("apart"), Arg("rows")
	toV, toZ := YMM(), YMM()
	here, over := Mem{Base: below}, Mem{Base: above}
	next := func(m Mem) Mem { return m.Idx(stride, 1) }

	// The row before the strip only passes changes on.
	_, rest := pair256(row256(here, over), row256(next(here), next(over)))
	VPXOR(toZ, toZ, toZ)
	VPSUBD(rest, toZ, toZ)
	_, rest = pair256(row256(here), row256(next(here)))
	VMOVDQA(rest, toV)

	Label("row")
	ADDQ(stride, below)
	ADDQ(stride, above)
	// The change of z: its own extrema, plus the changes from the previous row, minus those of yz
	// where z is the owner.
	z := row256(here, over)
	kept, rest := pair256(z, row256(next(here), next(over)))
	dz := YMM()
	VPSUBD(kept, toZ, dz)
	VPXOR(toZ, toZ, toZ)
	VPSUBD(rest, toZ, toZ)
	after, before := falls256(z)
	VPSUBD(after, dz, dz)
	VPADDD(before, dz, dz)
	// The change of v: the changes from the previous row and plane, and of y and z where v is the
	// owner, minus its own extrema.
	v := row256(here)
	keptY, rest := pair256(v, row256(next(here)))
	dv := YMM()
	VPADDD(keptY, toV, dv)
	VMOVDQA(rest, toV)
	after, before = falls256(v)
	VPADDD(after, dv, dv)
	VPSUBD(before, dv, dv)
	own := YMM()
	VCMPPS(equal, z[1], v[1], own)
	VPAND(own, dz, own)
	VPADDD(own, dv, dv)
	VPADDD(Mem{Base: owed}, dv, dv)
	VPSUBD(own, dz, dz)
	VMOVDQU(dz, Mem{Base: owed})
	ADDQ(stride, owed)
	// Pack eight 32-bit numbers into bytes.
	high := XMM()
	VEXTRACTI128(U8(1), dv, high)
	VPACKSSDW(high, dv.AsX(), high)
	VPACKSSWB(high, high, high)
	VMOVQ(high, Mem{Base: out})
	ADDQ(apart, out)
	Repeat(rows, "row")
	End()
}

// tilted256 computes the rest of a row value by value.
func tilted256() {
	tilted("tilt256", 8, YMM, func(r tiltedRow) {
		Label("value")
		CMPQ(r.n, U8(0))
		JE(LabelRef("done"))
		v := XMM()
		VADDSS(r.at(r.along), r.of.AsX(), v)
		VADDSS(r.at(r.row), v, v)
		VMOVSS(v, r.at(r.dst))
		INCQ(r.x)
		DECQ(r.n)
		JMP(LabelRef("value"))
		Label("done")
	})
}
