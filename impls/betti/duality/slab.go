package duality

import (
	"math"
	"math/bits"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
)

// Slab tells of the components of a piece in memory. Where voxels are vertices the set is what
// is around its complement, in a layer that belongs to that.
func (i Implementation) Slab(p betti.Piece, threads int) (betti.Slab, error) {
	d, h, w := p.Stack()
	j := &job{in: p.Image, fault: i.fault, slab: true, ends: p.Ends}
	if p.Vertices {
		var err error
		if j.in, d, h, w, err = around(p); err != nil {
			return betti.Slab{}, err
		}
	}
	j.setup(d, h, w, threads)
	if err := j.Do(nil); err != nil {
		return betti.Slab{}, err
	}
	set, rest := betti.Needs(p.Flat, p.Vertices)
	var s betti.Slab
	foreground, background := &s.Set, &s.Rest
	if p.Vertices {
		foreground, background = &s.Rest, &s.Set
		set, rest = rest, set
	}
	if set {
		*foreground = j.components(false, p)
	}
	if rest {
		*background = j.components(true, p)
	}
	return s, nil
}

// around is the complement of a piece, with a voxel more at both ends of each axis: of that of
// the slices where the image ends.
func around(p betti.Piece) (in *betti.Image, d, h, w int64, err error) {
	d, h, w = p.Stack()
	f, before, beside := p.Image.Source.(*grid.Field), int64(0), int64(1) // pieces are in memory
	shape := grid.Shape{D: d, H: h + 2, W: w + 2}
	if p.Flat {
		shape.H, beside = 1, 0
	}
	for i, ends := range p.Ends {
		if ends {
			shape.D++
			before += int64(1 - i)
		}
	}
	data := grid.NewBuffer(shape.Voxels()) // 0 is inside
	for z := range d {
		for y := range h {
			to := data[((z+before)*shape.H+y+beside)*shape.W+1:][:w]
			switch at := (z*h + y) * w; f.Type() {
			case grid.Uint8:
				inverted(to, f.Data()[at:at+w], p.Image.Threshold)
			case grid.Int16:
				inverted(to, grid.Values[int16](f.Data())[at:at+w], p.Image.Threshold)
			case grid.Uint16:
				inverted(to, grid.Values[uint16](f.Data())[at:at+w], p.Image.Threshold)
			case grid.Float32:
				inverted(to, grid.Values[float32](f.Data())[at:at+w], p.Image.Threshold)
			}
		}
	}
	f, err = grid.Trusted(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
	return &betti.Image{Source: f}, shape.D, shape.H, shape.W, err
}

// inverted writes 1 for the values that are not above a threshold.
func inverted[T grid.Element](to []byte, values []T, t float32) {
	for i, v := range values {
		to[i] = byte(within(float32(v), t))
	}
}

// components are those of the set, or of the background, which join those that a slice that is
// shared has by itself. The background of a piece, or the set where voxels are vertices and
// what is around them the set, is the rest of the set that is asked for: its components at
// sides of a slice are outside.
func (j *job) components(background bool, p betti.Piece) (c betti.Components) {
	parent, firsts := j.foreground, j.bundles
	if background {
		parent, firsts = j.background, j.runs
	}
	isRest := background != p.Vertices
	if background && !j.hollow { // all of it is outside
		return betti.Components{First: none(p.Ends[0]), Last: none(p.Ends[1])}
	}
	roots := int64(0)
	for i, v := range parent {
		if int32(i) == v {
			roots++
		}
	}
	// A root's parent becomes the complement of its number.
	name := func(node, number int32) (int32, bool) {
		for parent[node] >= 0 {
			if parent[node] == node {
				parent[node] = ^number
				roots--
				return number, true
			}
			node = parent[node]
		}
		return ^parent[node], false
	}
	nodeOf := func(z, y, x int64) int32 {
		if background {
			return runAt(firsts[z*j.h+y], ^uint64(0), x, j.row(z, y))
		}
		b := j.bundleAt(z/2, y/2)
		return runAt(b.first, 0, x, b.rows[0], b.rows[1], b.rows[2], b.rows[3])
	}
	switch {
	case background:
		name(0, 0) // what is around the box
	case isRest: // the layer
		name(nodeOf(0, 0, 0), 0)
		name(nodeOf(0, 0, j.w-1), 0)

	}
	next := int32(1)
	list := func(z int64) []int32 {
		of := []int32{}
		for _, at := range j.plane(z, background, isRest) {
			number, is := name(nodeOf(z, at.y, at.x), next)
			if is {
				next++
			}
			of = append(of, number)
		}
		return of
	}
	if !p.Ends[0] {
		c.First = list(0)
	}
	if !p.Ends[1] {
		c.Last = list(j.d - 1)
	}
	c.Inner = roots
	return c
}

// none is the list of a slice without components, nil where the image ends.
func none(ends bool) []int32 {
	if ends {
		return nil
	}
	return []int32{}
}

// runAt is the number of the run that a voxel is of, in rows together of which the first run
// has number first, each bit inverted or not.
func runAt(first int32, invert uint64, x int64, rows ...[]uint64) int32 {
	carry := uint64(0)
	for i := range rows[0] {
		v := uint64(0)
		for _, row := range rows {
			v |= row[i]
		}
		v ^= invert
		starts := v &^ (v<<1 | carry)
		if int64(i) == x/64 {
			return node(first, starts, int(x%64))
		}
		first += int32(bits.OnesCount64(starts))
		carry = v >> 63
	}
	return first
}

// A spot is a voxel of a plane.
type spot struct{ y, x int64 }

// A stretch is voxels lo ≤ x < hi of a row.
type stretch struct{ y, lo, hi int64 }

// plane lists the first voxel of each component of a plane alone, in order: of the set, whose
// voxels are neighbours at corners too, or of the background. Those of the rest at a side are
// left out.
func (j *job) plane(z int64, background, isRest bool) (list []spot) {
	reach := int64(1) // how far stretches of two rows may be apart
	if background {
		reach = 0
	}
	stretches := []stretch{{y: math.MinInt64}} // the first is what is outside
	parent := []int32{0}
	above, row := 0, 0 // the first stretch of the row above and of the row
	for y := range j.h {
		above, row = row, len(stretches)
		if y == 0 {
			above = row
		}
		for lo, hi := j.nextStretch(z, y, 0, background); lo < j.w; lo, hi = j.nextStretch(z, y, hi, background) {
			n := int32(len(stretches))
			stretches, parent = append(stretches, stretch{y, lo, hi}), append(parent, n)
			sides := lo == 0 || hi == j.w || j.h > 1 && (y == 0 || y == j.h-1)
			if isRest && sides {
				unite(parent, n, 0)
			}
			for above < row && stretches[above].hi+reach <= lo {
				above++
			}
			for k := above; k < row && stretches[k].lo < hi+reach; k++ {
				unite(parent, n, int32(k))
			}
		}
	}
	for n := 1; n < len(parent); n++ {
		if parent[n] == int32(n) {
			list = append(list, spot{stretches[n].y, stretches[n].lo})
		}
	}
	return list
}

// nextStretch is the first stretch of voxels of a row from x on, all of the set or all of the
// background; it begins at the row's end where there is none.
func (j *job) nextStretch(z, y, x int64, background bool) (lo, hi int64) {
	invert := uint64(0)
	if background {
		invert = math.MaxUint64
	}
	row := j.row(z, y)
	lo = j.nextBit(row, x, invert)
	return lo, j.nextBit(row, lo, ^invert)
}

// nextBit is where the first bit of a row is from x on, each bit inverted or not, or the row's
// end.
func (j *job) nextBit(row []uint64, x int64, invert uint64) int64 {
	for x < j.w {
		if v := (row[x/64] ^ invert) >> uint(x%64); v != 0 {
			return min(j.w, x+int64(bits.TrailingZeros64(v)))
		}
		x = (x/64 + 1) * 64
	}
	return j.w
}
