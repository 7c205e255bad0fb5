// Package binned writes the vector instructions of binned soft curves.
package binned

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// The predicates of comparisons: the relation of the second operand, in Intel's order, to the
// third.
var equal, atMost, greater = U8(0), U8(2), U8(14)

// lane is the size of a value.
const lane = 4

// Write writes all functions of an instruction set.
func Write(isa string) {
	switch isa {
	case "avx512":
		column()
		tilted512()
	case "avx2":
		column256()
		tilted256()
	}
}

// A triple is three vectors: shifted by −1, 0 and 1 lanes.
type triple [3]VecVirtual

func newTriple() triple { return triple{ZMM(), ZMM(), ZMM()} }

func at(base Register, i int) Mem { return Mem{Base: base, Disp: (i - 1) * lane} }

func loaded(base Register) triple {
	t := newTriple()
	for i := range t {
		VMOVUPS(at(base, i), t[i])
	}
	return t
}

func leastOf(a, b triple) triple {
	t := newTriple()
	for i := range t {
		VMINPS(b[i], a[i], t[i])
	}
	return t
}

func leastAt(a triple, base Register) triple {
	t := newTriple()
	for i := range t {
		VMINPS(at(base, i), a[i], t[i])
	}
	return t
}

// falls returns the masks of the lanes above the next lane, and below the previous lane.
func falls(s triple) (after, before Register) {
	after, before = K(), K()
	VCMPPS(greater, s[2], s[1], after)
	VCMPPS(greater, s[1], s[0], before)
	return after, before
}

// extrema returns 1 where a row falls to both sides, −1 where it rises to both, 0 elsewhere.
func extrema(s triple, minusOne Register) VecVirtual {
	after, before := falls(s)
	d := ZMM()
	VPMOVM2D(before, d)
	VPSUBD(minusOne, d, after, d)
	return d
}

// owner returns the mask of the lanes where a ≤ b.
func owner(a, b VecVirtual) Register {
	k := K()
	VCMPPS(atMost, b, a, k)
	return k
}

func assign(to, from triple) {
	for i := range to {
		VMOVAPS(from[i], to[i])
	}
}

// column processes a column of vectors of two planes: see the portable kernel.
func column() {
	Func("column512", "func(below, above *float32, owed *int32, out *uint8, stride, apart, rows int, mask "+
		"uint64)",
		"stores the changes of a column of 16 values of rows of the plane below, of the lanes of a mask.")
	below, above, owed := Arg("below"), Arg("above"), Arg("owed")
	out, stride, apart, rows := Arg("out"), Arg("stride"), Arg("apart"), Arg("rows")
	mask, minusOne := K(), ZMM()
	KMOVQ(Arg("mask"), mask)
	VPTERNLOGD(U8(0xff), minusOne, minusOne, minusOne)
	toV, toZ := ZMM(), ZMM()
	v := loaded(below)
	z := leastAt(v, above)

	// pair loads the next row, and returns the changes of the minima over y and over both axes, with
	// their owners.
	pair := func() (u, zu triple, dy, dyz VecVirtual, ownY, ownYZ Register) {
		ADDQ(stride, below)
		ADDQ(stride, above)
		u = loaded(below)
		zu = leastAt(u, above)
		ownY, ownYZ = owner(v[1], u[1]), owner(z[1], zu[1])
		dy = extrema(leastOf(v, u), minusOne)
		dyz = extrema(leastOf(z, zu), minusOne)
		return
	}
	u, zu, dy, dyz, ownY, ownYZ := pair() // the row before the strip
	VMOVDQA32_Z(dy, ownY, toV)
	VPSUBD(toV, dy, toV)
	VMOVDQA32_Z(dyz, ownYZ, toZ)
	VPSUBD(dyz, toZ, toZ)
	assign(v, u)
	assign(z, zu)

	Label("row")
	u, zu, dy, dyz, ownY, ownYZ = pair()
	// The change of z: its own extrema, plus the changes from the previous row, minus those of yz
	// where z is the owner.
	kept, dz := ZMM(), ZMM()
	VMOVDQA32_Z(dyz, ownYZ, kept)
	VPSUBD(kept, toZ, dz)
	VPSUBD(dyz, kept, toZ)
	after, before := falls(z)
	VPSUBD(minusOne, dz, after, dz)
	VPADDD(minusOne, dz, before, dz)
	// The change of v: the changes from the previous row and plane, and of y and z where v is the
	// owner, minus its own extrema.
	dv, keptY, keptZ := ZMM(), ZMM(), ZMM()
	VMOVDQA32_Z(dy, ownY, keptY)
	VPADDD(keptY, toV, dv)
	VPSUBD(keptY, dy, toV)
	after, before = falls(v)
	VPADDD(minusOne, dv, after, dv)
	VPSUBD(minusOne, dv, before, dv)
	ownZ := K()
	VCMPPS(equal, z[1], v[1], ownZ)
	VMOVDQA32_Z(dz, ownZ, keptZ)
	VPADDD(keptZ, dv, dv)
	VPADDD(Mem{Base: owed}, dv, dv)
	VPSUBD(keptZ, dz, dz)
	VMOVDQU32(dz, Mem{Base: owed})
	ADDQ(stride, owed)
	VPMOVDB(dv, mask, Mem{Base: out})
	ADDQ(apart, out)
	assign(v, u)
	assign(z, zu)
	Repeat(rows, "row")
	End()
}

// A tiltedRow is a row of Y with n values left from x on.
type tiltedRow struct {
	dst, row, along, n, x Register
	of                    VecVirtual
}

func (r tiltedRow) at(base Register) Mem { return Mem{Base: base, Index: r.x, Scale: lane} }

// tilted computes a row of Y, row + (of + along), by whole vectors, and calls rest for the
// remaining values.
func tilted(name string, lanes uint8, vector func() VecVirtual, rest func(r tiltedRow)) {
	Func(name, "func(dst, row, along *float32, of float32, n int)", "sets n values of dst to row + (of + along).")
	r := tiltedRow{dst: Arg("dst"), row: Arg("row"), along: Arg("along"), n: Arg("n"), x: GP64(), of: vector()}
	v := vector()
	VBROADCASTSS(Address("of"), r.of)
	XORQ(r.x, r.x)
	Label("more")
	CMPQ(r.n, U8(lanes))
	JL(LabelRef("rest"))
	VADDPS(r.at(r.along), r.of, v)
	VADDPS(r.at(r.row), v, v)
	VMOVUPS(v, r.at(r.dst))
	ADDQ(U8(lanes), r.x)
	SUBQ(U8(lanes), r.n)
	JMP(LabelRef("more"))
	Label("rest")
	rest(r)
	End()
}

// tilted512 computes the rest of a row under a mask.
func tilted512() {
	tilted("tilt512", 16, ZMM, func(r tiltedRow) {
		bits, ones, k := GP64(), GP64(), K()
		MOVQ(I32(-1), ones)
		BZHIQ(r.n, ones, bits)
		KMOVW(bits.As32(), k)
		v, w := ZMM(), ZMM()
		VMOVUPS_Z(r.at(r.along), k, v)
		VADDPS(r.of, v, v)
		VMOVUPS_Z(r.at(r.row), k, w)
		VADDPS(w, v, v)
		VMOVUPS(v, k, r.at(r.dst))
	})
}
