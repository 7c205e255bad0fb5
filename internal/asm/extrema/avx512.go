package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A width512 is the instructions for lanes of size bytes.
type width512 struct {
	size           int
	load           func(...Op)
	least          func(...Op)
	add, sub       func(...Op)
	compare        func(...Op)
	expand         func(Op, Op) // a mask to lanes of −1 and 0
	test           func(...Op)
	compress, keep func(Op, Op, Op) // under a mask, zeroing
}

func widths512() []width512 {
	return []width512{
		{1, VMOVDQU8, VPMINUB, VPADDB, VPSUBB, VPCMPUB, VPMOVM2B, VPTESTMB, VPCOMPRESSB_Z, VMOVDQU8_Z},
		{2, VMOVDQU16, VPMINUW, VPADDW, VPSUBW, VPCMPUW, VPMOVM2W, VPTESTMW, VPCOMPRESSW_Z, VMOVDQU16_Z},
		{4, VMOVDQU32, VPMINUD, VPADDD, VPSUBD, VPCMPUD, VPMOVM2D, VPTESTMD, VPCOMPRESSD_Z, VMOVDQU32_Z},
	}
}

// The predicates of unsigned comparisons: the relation of the second operand, in Intel's order, to
// the third.
var equal, atMost, greater = U8(0), U8(2), U8(6)

// A triple is three vectors: shifted by −1, 0 and 1 lanes.
type triple [3]VecVirtual

func triple512() triple { return triple{ZMM(), ZMM(), ZMM()} }

// at returns the memory of a vector of a triple.
func (w width512) at(base Register, i int) Mem { return Mem{Base: base, Disp: (i - 1) * w.size} }

func (w width512) loaded(base Register) triple {
	t := triple512()
	for i := range t {
		w.load(w.at(base, i), t[i])
	}
	return t
}

// leastOf returns the minimum of a and b; leastAt the minimum of a and memory.
func (w width512) leastOf(a, b triple) triple {
	t := triple512()
	for i := range t {
		w.least(a[i], b[i], t[i])
	}
	return t
}

func (w width512) leastAt(a triple, base Register) triple {
	t := triple512()
	for i := range t {
		w.least(w.at(base, i), a[i], t[i])
	}
	return t
}

// falls returns the masks of the lanes above the next lane, and of the lanes below the previous
// lane or at the edge.
func (w width512) falls(s triple, edge Register) (after, before Register) {
	after, before = K(), K()
	w.compare(greater, s[2], s[1], after)
	w.compare(greater, s[1], s[0], before)
	if edge != nil {
		KORQ(edge, before, before)
	}
	return after, before
}

// extrema returns 1 where a row falls to both sides, −1 where it rises to both, 0 elsewhere.
func (w width512) extrema(s triple, edge, minusOne Register) VecVirtual {
	after, before := w.falls(s, edge)
	d := ZMM()
	w.expand(before, d)
	w.sub(minusOne, d, after, d)
	return d
}

// owner returns the mask of the lanes where a ≤ b.
func (w width512) owner(a, b VecVirtual) Register {
	k := K()
	w.compare(atMost, b, a, k)
	return k
}

func assign(to, from triple) {
	for i := range to {
		VMOVDQA64(from[i], to[i])
	}
}

// arguments are the common parameters of volume and area.
type arguments struct {
	below, values, changes, stride, rows, n Register
	edge, keepY                             Register // masks; a nil edge means none
	minusOne                                VecVirtual
}

func mask(name string) Register {
	k := K()
	KMOVQ(Arg(name), k)
	return k
}

func arguments512(edge bool) arguments {
	a := arguments{
		below: Arg("below"), values: Arg("values"), changes: Arg("changes"),
		stride: Arg("stride"), rows: Arg("rows"), n: GP64(),
		keepY: mask("keepY"), minusOne: ZMM(),
	}
	if edge {
		a.edge = mask("edge")
	}
	XORQ(a.n, a.n)
	VPTERNLOGD(U8(0xff), a.minusOne, a.minusOne, a.minusOne)
	return a
}

// emit appends the lanes with a change other than 0, and their levels.
func (w width512) emit(a arguments, level, change VecVirtual) {
	k, found, levels, changes := K(), GP64(), ZMM(), ZMM()
	w.test(change, change, k)
	w.compress(level, k, levels)
	w.compress(change, k, changes)
	w.load(levels, Mem{Base: a.values, Index: a.n, Scale: uint8(w.size)})
	w.load(changes, Mem{Base: a.changes, Index: a.n, Scale: uint8(w.size)})
	KMOVQ(k, found)
	POPCNTQ(found, found)
	ADDQ(found, a.n)
}

// named returns the name of a kernel. With edge it is the kernel for the first column of an image
// whose last level is the highest value of a lane. In other columns the outside is above every
// voxel.
func named(kernel string, edge bool) string {
	if edge {
		return kernel + "Edge"
	}
	return kernel
}

// volume processes a column of vectors of two planes: see the portable kernel.
func (w width512) volume(edge bool) {
	name := fmt.Sprintf("%s%davx512", named("volume", edge), 8*w.size)
	Func(name, volumeSignature, "appends the changes of a column of rows of two planes, and returns how many.")
	a := arguments512(edge)
	fetchLines := fetch()
	above, owed, keepZ := Arg("above"), Arg("owed"), mask("keepZ")
	toV, toZ := ZMM(), ZMM()
	v := w.loaded(a.below)
	z := w.leastAt(v, above)

	// pair loads the next row, and returns the changes of the minima over y and over both axes, with
	// their owners.
	pair := func() (u, zu triple, dy, dyz VecVirtual, ownY, ownYZ Register) {
		ADDQ(a.stride, a.below)
		ADDQ(a.stride, above)
		u = w.loaded(a.below)
		zu = w.leastAt(u, above)
		ownY, ownYZ = w.owner(v[1], u[1]), w.owner(z[1], zu[1])
		dy = w.extrema(w.leastOf(v, u), a.edge, a.minusOne)
		dyz = w.extrema(w.leastOf(z, zu), a.edge, a.minusOne)
		return
	}
	u, zu, dy, dyz, ownY, ownYZ := pair() // the row before the strip
	KANDQ(a.keepY, ownY, ownY)
	KANDQ(a.keepY, ownYZ, ownYZ)
	w.keep(dy, ownY, toV)
	w.sub(toV, dy, toV)
	w.keep(dyz, ownYZ, toZ)
	w.sub(dyz, toZ, toZ)
	assign(v, u)
	assign(z, zu)

	Label("row")
	fetchLines()
	u, zu, dy, dyz, ownY, ownYZ = pair()
	// The change of z: its own extrema, plus the changes from the previous row, minus those of yz
	// where z is the owner.
	kept, dz := ZMM(), ZMM()
	w.keep(dyz, ownYZ, kept)
	w.sub(kept, toZ, dz)
	w.sub(dyz, kept, toZ)
	after, before := w.falls(z, a.edge)
	w.sub(a.minusOne, dz, after, dz)
	w.add(a.minusOne, dz, before, dz)
	// The change of v: the changes from the previous row and plane, and of y and z where v is the
	// owner, minus its own extrema.
	dv, keptY, keptZ := ZMM(), ZMM(), ZMM()
	w.keep(dy, ownY, keptY)
	w.add(keptY, toV, dv)
	w.sub(keptY, dy, toV)
	after, before = w.falls(v, a.edge)
	w.add(a.minusOne, dv, after, dv)
	w.sub(a.minusOne, dv, before, dv)
	ownZ := K()
	w.compare(equal, z[1], v[1], keepZ, ownZ)
	w.keep(dz, ownZ, keptZ)
	w.add(keptZ, dv, dv)
	w.add(Mem{Base: owed}, dv, dv)
	w.sub(keptZ, dz, dz)
	w.load(dz, Mem{Base: owed})
	ADDQ(a.stride, owed)
	w.emit(a, v[1], dv)
	assign(v, u)
	assign(z, zu)
	Repeat(a.rows, "row")
	w.done(a)
}

func (w width512) done(a arguments) {
	End(a.n)
}

// area processes a column of vectors of a 2D image.
func (w width512) area(edge bool) {
	name := fmt.Sprintf("%s%davx512", named("area", edge), 8*w.size)
	Func(name, areaSignature, "appends the changes of a column of rows of a 2D image, and returns how many.")
	a := arguments512(edge)
	fetchLines := fetch()
	toV := ZMM()
	v := w.loaded(a.below)
	pair := func() (u triple, dy VecVirtual, own Register) {
		ADDQ(a.stride, a.below)
		u = w.loaded(a.below)
		return u, w.extrema(w.leastOf(v, u), a.edge, a.minusOne), w.owner(v[1], u[1])
	}
	u, dy, own := pair()
	KANDQ(a.keepY, own, own)
	w.keep(dy, own, toV)
	w.sub(dy, toV, toV)
	assign(v, u)

	Label("row")
	fetchLines()
	u, dy, own = pair()
	kept, dv := ZMM(), ZMM()
	w.keep(dy, own, kept)
	w.sub(kept, toV, dv)
	w.sub(dy, kept, toV)
	after, before := w.falls(v, a.edge)
	w.sub(a.minusOne, dv, after, dv)
	w.add(a.minusOne, dv, before, dv)
	w.emit(a, v[1], dv)
	assign(v, u)
	Repeat(a.rows, "row")
	w.done(a)
}
