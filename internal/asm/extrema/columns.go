// Package extrema writes the vector instructions of the package that finds extrema, and of binned soft curves.
package extrema

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A width is a lane, or one of float32 with changes as integers.
type width struct {
	Lane
	float bool
}

func floats() width {
	w := width{Lanes[2], true}
	w.Least, w.Compare = VMINPS, VCMPPS
	w.Equal = func(ops ...Op) { VCMPPS(EQ, ops[0], ops[1], ops[2]) }
	return w
}

// A frame has the registers of a column of vectors of rows of a 2D image, or of two planes.
type frame struct {
	ISA
	width
	below, above, owed, stride, rows Register
	edge, keepY, keepZ               Op // masks, with AVX2 in memory, because there are few registers; nil means none
	minusOne                         VecVirtual
	emit                             func(level, change VecVirtual)
	fetch                            func() // prefetches
}

// A triple is three vectors: shifted by −1, 0 and 1 lanes.
type triple [3]VecVirtual

func (t triple) at(i int) Op { return t[i] }

// row returns the memory of the triple at a base, and next that of the next row.
func (f frame) row(base Register) func(i int) Op {
	return func(i int) Op { return Mem{Base: base, Disp: (i - 1) * f.Lane.Bytes} }
}

func (f frame) next(base Register) func(i int) Op {
	return func(i int) Op { return Mem{Base: base, Index: f.stride, Scale: 1, Disp: (i - 1) * f.Lane.Bytes} }
}

func (f frame) move(from, to Op) {
	if f.Bytes == 64 {
		f.Load(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func (f frame) loaded() triple {
	t := triple{f.Wide(), f.Wide(), f.Wide()}
	for i := range t {
		f.move(f.row(f.below)(i), t[i])
	}
	return t
}

// minima returns the minimum of a and another triple.
func (f frame) minima(a triple, other func(i int) Op) triple {
	t := triple{f.Wide(), f.Wide(), f.Wide()}
	for i := range t {
		f.Least(other(i), a[i], t[i])
	}
	return t
}

// falls returns the masks of the lanes above the next lane, and of the lanes below the previous
// lane or at the edge.
func (f frame) falls(s triple) (after, before Register) {
	after, before = K(), K()
	f.Lane.Compare(GT, s[2], s[1], after)
	f.Lane.Compare(GT, s[1], s[0], before)
	if f.edge != nil {
		KORQ(f.edge, before, before)
	}
	return after, before
}

// notAbove sets to to the lanes where a ≤ b.
func (f frame) notAbove(a, b, to VecVirtual) {
	if f.float {
		VCMPPS(LE, b, a, to)
		return
	}
	f.Least(a, b, to)
	f.Lane.Equal(a, to, to)
}

// extrema returns 1 where a row falls to both sides, −1 where it rises to both, 0 elsewhere. With AVX2 it is the
// difference of two masks of lanes that do not fall. The lane at the edge falls from the previous one.
func (f frame) extrema(s triple) VecVirtual {
	if f.Bytes == 64 {
		after, before := f.falls(s)
		d := ZMM()
		f.Expand(before, d)
		f.Sub(f.minusOne, d, after, d)
		return d
	}
	after, before := YMM(), YMM()
	f.notAbove(s[1], s[2], after)
	f.notAbove(s[0], s[1], before)
	if f.edge != nil {
		VPAND(f.edge, before, before)
	}
	f.Sub(before, after, after)
	return after
}

// owner returns the lanes of a minimum with another voxel where the first one is the lesser.
func (f frame) owner(first, other VecVirtual) Register {
	if f.Bytes == 64 {
		k := K()
		f.Lane.Compare(LE, other, first, k)
		return k
	}
	own := YMM()
	f.Lane.Equal(first, other, own)
	return own
}

// limit keeps the lanes of a mask, if there is one.
func (f frame) limit(own Register, keep Op) {
	switch {
	case keep == nil:
	case f.Bytes == 64:
		KANDQ(keep, own, own)
	default:
		VPAND(keep, own, own)
	}
}

// owned returns the part of a change that belongs to its owner, the first voxel of a minimum.
func (f frame) owned(d VecVirtual, own Register) VecVirtual {
	kept := f.Wide()
	if f.Bytes == 64 {
		f.Keep(d, own, kept)
	} else {
		VPAND(own, d, kept)
	}
	return kept
}

// pass sets to to the part of d that is not kept, for the next row: negated if d is of an even number of axes.
func (f frame) pass(d, kept, to VecVirtual, negated bool) {
	if negated {
		f.Sub(d, kept, to)
	} else {
		f.Sub(kept, d, to)
	}
}

// addExtrema adds the extrema of a row to its changes, or takes them from these.
func (f frame) addExtrema(s triple, to VecVirtual, add bool) {
	if f.Bytes == 32 {
		if own := f.extrema(s); add {
			f.Add(to, own, to)
		} else {
			f.Sub(own, to, to)
		}
		return
	}
	after, before := f.falls(s)
	plus, minus := f.Sub, f.Add // of −1
	if !add {
		plus, minus = minus, plus
	}
	plus(f.minusOne, to, after, to)
	minus(f.minusOne, to, before, to)
}

func assign(to, from triple) {
	for i := range to {
		VMOVDQA64(from[i], to[i])
	}
}

// A pair has the minima of a row with the next one: their changes, and the lanes that the row owns.
type pair struct {
	d   VecVirtual
	own Register
}

// pairs returns a function that loads the next row, and returns the current one and its pairs: of the plane, and of
// the minima with the plane above. AVX-512 keeps a row in registers for the next one; AVX2 reads both.
func (f frame) pairs() (next func() (v, z triple, y, yz pair), done func()) {
	volume := f.above != nil
	advance := func() {
		ADDQ(f.stride, f.below)
		if volume {
			ADDQ(f.stride, f.above)
		}
	}
	if f.Bytes == 32 {
		begun := false
		return func() (v, z triple, y, yz pair) {
			if begun {
				advance()
			}
			begun = true
			v = f.loaded()
			s := f.minima(v, f.next(f.below))
			y.own = f.owner(v[1], s[1])
			y.d = f.extrema(s)
			if volume {
				z = f.minima(v, f.row(f.above))
				s = f.minima(f.minima(s, f.row(f.above)), f.next(f.above))
				yz.own = f.owner(z[1], s[1])
				yz.d = f.extrema(s)
			}
			return v, z, y, yz
		}, func() {}
	}
	var z, zu triple
	v := f.loaded()
	u := v
	if volume {
		z = f.minima(v, f.row(f.above))
	}
	return func() (_, _ triple, y, yz pair) {
			advance()
			u = f.loaded()
			if volume {
				zu = f.minima(u, f.row(f.above))
			}
			y.own = f.owner(v[1], u[1])
			if volume {
				yz.own = f.owner(z[1], zu[1])
			}
			y.d = f.extrema(f.minima(u, v.at))
			if volume {
				yz.d = f.extrema(f.minima(zu, z.at))
			}
			return v, z, y, yz
		}, func() {
			assign(v, u)
			if volume {
				assign(z, zu)
			}
		}
}

// volume processes a column of vectors of two planes: see the portable kernel.
func (f frame) volume() {
	toV, toZ := f.Wide(), f.Wide()
	next, done := f.pairs()
	_, _, y, yz := next() // the row before the strip
	f.limit(y.own, f.keepY)
	f.limit(yz.own, f.keepY)
	f.pass(y.d, f.owned(y.d, y.own), toV, false)
	f.pass(yz.d, f.owned(yz.d, yz.own), toZ, true)
	done()

	Label("row")
	f.fetch()
	v, z, y, yz := next()
	// The change of z: its own extrema, plus the changes from the previous row, minus those of yz
	// where z is the owner.
	kept := f.owned(yz.d, yz.own)
	dz := New(f.Wide, f.Sub, kept, toZ)
	f.pass(yz.d, kept, toZ, true)
	f.addExtrema(z, dz, true)
	// The change of v: the changes from the previous row and plane, and of y and z where v is the
	// owner, minus its own extrema.
	kept = f.owned(y.d, y.own)
	dv := New(f.Wide, f.Add, kept, toV)
	f.pass(y.d, kept, toV, false)
	f.addExtrema(v, dv, false)
	own := f.Mask(v[1])
	if k, masks := f.keepZ.(Register); masks {
		f.Lane.Compare(EQ, z[1], v[1], k, own)
	} else if f.Bytes == 64 {
		f.Lane.Compare(EQ, z[1], v[1], own)
	} else {
		f.Lane.Equal(v[1], z[1], own)
		f.limit(own, f.keepZ)
	}
	kept = f.owned(dz, own)
	f.Add(kept, dv, dv)
	f.Add(Mem{Base: f.owed}, dv, dv)
	f.Sub(kept, dz, dz)
	f.move(dz, Mem{Base: f.owed})
	ADDQ(f.stride, f.owed)
	f.emit(v[1], dv)
	done()
	Repeat(f.rows, "row")
}

// area processes a column of vectors of a 2D image.
func (f frame) area() {
	toV := f.Wide()
	next, done := f.pairs()
	_, _, y, _ := next()
	f.limit(y.own, f.keepY)
	f.pass(y.d, f.owned(y.d, y.own), toV, true)
	done()

	Label("row")
	f.fetch()
	v, _, y, _ := next()
	kept := f.owned(y.d, y.own)
	dv := New(f.Wide, f.Sub, kept, toV)
	f.pass(y.d, kept, toV, true)
	f.addExtrema(v, dv, true)
	f.emit(v[1], dv)
	done()
	Repeat(f.rows, "row")
}
