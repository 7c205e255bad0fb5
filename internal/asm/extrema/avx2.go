package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A width256 is the instructions for lanes of size bytes.
type width256 struct {
	size     int
	least    func(...Op)
	add, sub func(...Op)
	equal    func(...Op)
}

func widths256() []width256 {
	return []width256{
		{1, VPMINUB, VPADDB, VPSUBB, VPCMPEQB},
		{2, VPMINUW, VPADDW, VPSUBW, VPCMPEQW},
		{4, VPMINUD, VPADDD, VPSUBD, VPCMPEQD},
	}
}

func triple256() triple { return triple{YMM(), YMM(), YMM()} }

// A column is the position in the rows of one plane: a row, and the distance to the next one.
type column struct{ base, stride Register }

func (w width256) row(c column, i int) Mem { return Mem{Base: c.base, Disp: (i - 1) * w.size} }

func (w width256) next(c column, i int) Mem {
	return Mem{Base: c.base, Index: c.stride, Scale: 1, Disp: (i - 1) * w.size}
}

// leastAt returns the minimum of a and memory.
func (w width256) leastAt(a triple, at func(column, int) Mem, c column) triple {
	t := triple256()
	for i := range t {
		w.least(at(c, i), a[i], t[i])
	}
	return t
}

// extrema returns 1 where a row falls to both sides, −1 where it rises to both, 0 elsewhere. It is
// the difference of two masks of lanes that do not fall. The lane at the edge falls from the
// previous one.
func (w width256) extrema(s triple, edge Op) VecVirtual {
	after, before := YMM(), YMM()
	w.least(s[1], s[2], after)
	w.equal(s[1], after, after)
	w.least(s[0], s[1], before)
	w.equal(s[0], before, before)
	VPAND(edge, before, before)
	w.sub(before, after, after)
	return after
}

// split returns the part of an extremum that belongs to its owner, the first voxel of a minimum,
// and the rest for the other voxel.
func (w width256) split(d, own VecVirtual) (kept, left VecVirtual) {
	kept, left = YMM(), YMM()
	VPAND(own, d, kept)
	w.sub(kept, d, left)
	return kept, left
}

func (w width256) owner(first, least VecVirtual) VecVirtual {
	own := YMM()
	w.equal(first, least, own)
	return own
}

func zero256() VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

// A frame256 is the common parameters of volume and area. The masks edge and keep are on the stack,
// because there are few registers.
type frame256 struct {
	below                           column
	values, changes, order, rows, n Register
	edge, keepY                     Mem
}

// spread stores a vector of copies of a mask's byte: 0 or all ones.
func spread(name string) Mem {
	at, x := AllocLocal(32), XMM()
	v := YMM()
	VMOVQ(Arg(name), x)
	VPBROADCASTQ(x, v)
	VMOVDQU(v, at)
	return at
}

func (w width256) frame() frame256 {
	f := frame256{
		below:  column{Arg("below"), Arg("stride")},
		values: Arg("values"), changes: Arg("changes"), order: Arg("order"),
		rows: Arg("rows"), n: GP64(), keepY: spread("keepY"), edge: AllocLocal(32),
	}
	XORQ(f.n, f.n)
	// All ones except in the first lane if it is at the edge.
	ones, edge := YMM(), Arg("edge")
	VPCMPEQD(ones, ones, ones)
	VMOVDQU(ones, f.edge)
	one := GP64()
	MOVQ(I32(-1), one)
	SHLQ(U8(8*w.size), one)
	IfZero(edge, "inside")
	MOVQ(one, f.edge)
	Label("inside")
	return f
}

// emit appends the lanes with a change other than 0, and their levels, eight lanes at a time,
// packed by the table order.
func (w width256) emit(f frame256, level, change VecVirtual) {
	zeros := YMM()
	none := zero256()
	w.equal(change, none, zeros)
	bits := GP32()
	if w.size == 4 {
		VMOVMSKPS(zeros, bits)
		XORL(U8(0xff), bits)
		order, packed := YMM(), YMM()
		VPMOVZXBD(Mem{Base: f.order, Index: bits.As64(), Scale: 8}, order)
		VPERMD(level, order, packed)
		VMOVDQU(packed, Mem{Base: f.values, Index: f.n, Scale: 4})
		VPERMD(change, order, packed)
		VMOVDQU(packed, Mem{Base: f.changes, Index: f.n, Scale: 4})
		POPCNTL(bits, bits)
		ADDQ(bits.As64(), f.n)
		return
	}
	VPMOVMSKB(zeros, bits)
	NOTL(bits)
	if w.size == 2 { // one bit per pair, sixteen bits in total
		every := GP32()
		MOVL(U32(0x55555555), every)
		PEXTL(every, bits, bits)
	}
	levels, changes := []VecVirtual{level.AsX().(VecVirtual), XMM()}, []VecVirtual{change.AsX().(VecVirtual), XMM()}
	VEXTRACTI128(U8(1), level, levels[1])
	VEXTRACTI128(U8(1), change, changes[1])
	for i := range 4 / w.size {
		some, order, packed := GP32(), XMM(), XMM()
		MOVBLZX(bits.As8(), some)
		half := i * w.size / 2
		if w.size == 1 {
			VMOVQ(Mem{Base: f.order, Index: some.As64(), Scale: 8}, order)
		} else {
			SHLL(U8(1), some)
			VMOVDQU(Mem{Base: f.order, Index: some.As64(), Scale: 8}, order)
		}
		for _, p := range []struct {
			from []VecVirtual
			to   Register
		}{{levels, f.values}, {changes, f.changes}} {
			VPSHUFB(order, p.from[half], packed)
			to := Mem{Base: p.to, Index: f.n, Scale: uint8(w.size)}
			if w.size == 1 {
				VMOVQ(packed, to)
				if i%2 == 0 {
					VPSRLDQ(U8(8), p.from[half], p.from[half])
				}
			} else {
				VMOVDQU(packed, to)
			}
		}
		POPCNTL(some, some)
		ADDQ(some.As64(), f.n)
		if i+1 < 4/w.size {
			SHRL(U8(8), bits)
		}
	}
}

// volume processes a column of vectors of two planes: see the portable kernel.
func (w width256) volume() {
	name := fmt.Sprintf("volume%davx2", 8*w.size)
	Func(name, volumeSignature, "appends the changes of a column of rows of two planes, and returns how many.")
	f := w.frame()
	fetchLines := fetch()
	above := column{Arg("above"), f.below.stride}
	owed, keepZ := Arg("owed"), spread("keepZ")
	toV, toZ := YMM(), YMM()

	// pairs returns a row of voxels and of minima over z, and the changes of the minima with the next
	// row with their owners.
	pairs := func() (v, z triple, dy, dyz, ownY, ownYZ VecVirtual) {
		v = triple256()
		for i := range v {
			VMOVDQU(w.row(f.below, i), v[i])
		}
		y := w.leastAt(v, w.next, f.below)
		ownY = w.owner(v[1], y[1])
		dy = w.extrema(y, f.edge)
		z = w.leastAt(v, w.row, above)
		yz := w.leastAt(y, w.row, above)
		yz = w.leastAt(yz, w.next, above)
		ownYZ = w.owner(z[1], yz[1])
		dyz = w.extrema(yz, f.edge)
		return
	}
	_, _, dy, dyz, ownY, ownYZ := pairs() // the row before the strip
	VPAND(f.keepY, ownY, ownY)
	VPAND(f.keepY, ownYZ, ownYZ)
	_, left := w.split(dy, ownY)
	VMOVDQA(left, toV)
	kept, _ := w.split(dyz, ownYZ)
	w.sub(dyz, kept, toZ)

	Label("row")
	fetchLines()
	ADDQ(f.below.stride, f.below.base)
	ADDQ(f.below.stride, above.base)
	v, z, dy, dyz, ownY, ownYZ := pairs()
	dz := w.extrema(z, f.edge)
	w.add(toZ, dz, dz)
	kept, _ = w.split(dyz, ownYZ)
	w.sub(kept, dz, dz)
	w.sub(dyz, kept, toZ)

	own := w.extrema(v, f.edge)
	kept, left = w.split(dy, ownY)
	dv := YMM()
	w.add(kept, toV, dv)
	w.sub(own, dv, dv)
	VMOVDQA(left, toV)
	ownZ := w.owner(v[1], z[1])
	VPAND(keepZ, ownZ, ownZ)
	kept, left = w.split(dz, ownZ)
	w.add(kept, dv, dv)
	w.add(Mem{Base: owed}, dv, dv)
	VMOVDQU(left, Mem{Base: owed})
	ADDQ(f.below.stride, owed)
	w.emit(f, v[1], dv)
	w.end(f)
}

func (w width256) end(f frame256) {
	Repeat(f.rows, "row")
	End(f.n)
}

// area processes a column of vectors of a 2D image.
func (w width256) area() {
	name := fmt.Sprintf("area%davx2", 8*w.size)
	Func(name, areaSignature, "appends the changes of a column of rows of a 2D image, and returns how many.")
	f := w.frame()
	fetchLines := fetch()
	toV := YMM()
	pairs := func() (v triple, dy, own VecVirtual) {
		v = triple256()
		for i := range v {
			VMOVDQU(w.row(f.below, i), v[i])
		}
		y := w.leastAt(v, w.next, f.below)
		return v, w.extrema(y, f.edge), w.owner(v[1], y[1])
	}
	_, dy, own := pairs()
	VPAND(f.keepY, own, own)
	kept, _ := w.split(dy, own)
	w.sub(dy, kept, toV)

	Label("row")
	fetchLines()
	ADDQ(f.below.stride, f.below.base)
	v, dy, own := pairs()
	dv := w.extrema(v, f.edge)
	w.add(toV, dv, dv)
	kept, _ = w.split(dy, own)
	w.sub(kept, dv, dv)
	w.sub(dy, kept, toV)
	w.emit(f, v[1], dv)
	w.end(f)
}
