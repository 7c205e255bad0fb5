package duality

import (
	"math"
	"math/bits"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
)

// Slab returns the components of a piece in memory. In construction V the set is the background of
// its complement, which is extended by an outside layer.
func (i Implementation) Slab(p betti.Piece, threads int) (betti.Slab, error) {
	d, h, w := p.Stack()
	j := &job{in: p.Image, slab: true, ends: p.Ends}
	if p.Vertices {
		var err error
		if j.in, d, h, w, err = complementOf(p); err != nil {
			return betti.Slab{}, err
		}
	}
	j.setup(d, h, w, threads, i.planes)
	if err := j.Do(nil); err != nil {
		return betti.Slab{}, err
	}
	set, rest := betti.NeededComponents(p.Flat, p.Vertices)
	var s betti.Slab
	foreground, background := &s.Set, &s.Rest
	if p.Vertices {
		foreground, background = &s.Rest, &s.Set
		set, rest = rest, set
	}
	if set {
		*foreground = j.componentsOf(ofSet, p)
	}
	if rest {
		*background = j.componentsOf(ofRest, p)
	}
	return s, nil
}

// complementOf returns the complement of a piece, with one voxel added at both ends of each axis.
// Along the slices it adds them only where the image ends.
func complementOf(p betti.Piece) (in *betti.Image, d, h, w int64, err error) {
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
	data := grid.NewBuffer(shape.Voxels()) // 0 means inside
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

// inverted writes 1 for values ≤ t.
func inverted[T grid.Element](to []byte, values []T, t float32) {
	for i, v := range values {
		to[i] = byte(leq(float32(v), t))
	}
}

// componentsOf returns the components of a kind, and how they connect to the components of the
// shared slices alone. In construction V the two kinds are exchanged. For the background (the
// rest), components at the sides of a slice belong to the outside.
func (j *job) componentsOf(kind int, p betti.Piece) (c betti.Components) {
	isRest := (kind == ofRest) != p.Vertices
	if kind == ofRest && !j.hollow { // everything is outside
		return betti.Components{First: noComponents(p.Ends[0]), Last: noComponents(p.Ends[1])}
	}
	c.Inner = j.components[kind]
	parent := j.parts[0].forests[kind].parent
	// The parent of a named root becomes the complement of its number.
	name := func(node, number int32) (int32, bool) {
		for parent[node] >= 0 {
			if parent[node] == node {
				parent[node] = ^number
				c.Inner--
				return number, true
			}
			node = parent[node]
		}
		return ^parent[node], false
	}
	first, last := j.parts[0], j.parts[len(j.parts)-1]
	switch firsts := &first.forests[kind].first; {
	case kind == ofRest:
		name(outside, 0)
	case isRest: // the outside layer
		name(firsts.nodeAt(j.row(0), 0), 0)
		name(firsts.nodeAt(j.row(0), j.w-1), 0)
	}
	next := int32(1)
	list := func(set []uint64, nodes *kept) []int32 {
		of := []int32{}
		for _, at := range j.spots(set, kind, isRest) {
			number, is := name(nodes.nodeAt(j.row(at.y), at.x), next)
			if is {
				next++
			}
			of = append(of, number)
		}
		return of
	}
	if !p.Ends[0] {
		c.First = list(first.first, &first.forests[kind].first)
	}
	if !p.Ends[1] {
		c.Last = list(last.last, &last.forests[kind].last)
	}
	return c
}

// nodeAt returns the node of a voxel.
func (k *kept) nodeAt(row, x int64) int32 {
	p := row + x/64
	if k.main[p]>>(x%64)&1 != 0 {
		return k.trunk
	}
	return strip{k.left, k.base}.node(p, int(x%64))
}

// noComponents returns the empty list for a slice without components, or nil at the end of the image.
func noComponents(ends bool) []int32 {
	if ends {
		return nil
	}
	return []int32{}
}

// A spot is a voxel of a plane.
type spot struct{ y, x int64 }

// A stretch is voxels lo ≤ x < hi of a row.
type stretch struct{ y, lo, hi int64 }

// spots lists the first voxel of each component of a single plane, in order. Voxels of the set also
// connect at corners. For the rest, components at a side are left out.
func (j *job) spots(set []uint64, kind int, isRest bool) (list []spot) {
	reach := int64(1) // maximum gap between connected stretches of two rows
	if kind == ofRest {
		reach = 0
	}
	stretches := []stretch{{y: math.MinInt64}} // the first entry is the outside
	parent := []int32{0}
	row := len(stretches) // index of the first stretch of the row
	for y := range j.h {
		above := row
		row = len(stretches)
		of := set[j.row(y):][:j.words]
		for lo, hi := j.nextStretch(of, 0, kind); lo < j.w; lo, hi = j.nextStretch(of, hi, kind) {
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

// nextStretch returns the next stretch of a row from x on, of the set or of the background. If
// there is none, it begins at the row's end.
func (j *job) nextStretch(row []uint64, x int64, kind int) (lo, hi int64) {
	invert := uint64(0)
	if kind == ofRest {
		invert = math.MaxUint64
	}
	lo = j.nextBit(row, x, invert)
	return lo, j.nextBit(row, lo, ^invert)
}

// nextBit returns the position of the first set bit of a row from x on, after the inversion, or the
// row's end.
func (j *job) nextBit(row []uint64, x int64, invert uint64) int64 {
	for x < j.w {
		if v := (row[x/64] ^ invert) >> uint(x%64); v != 0 {
			return min(j.w, x+int64(bits.TrailingZeros64(v)))
		}
		x = (x/64 + 1) * 64
	}
	return j.w
}
