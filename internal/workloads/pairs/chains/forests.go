package chains

import (
	"math/bits"
	"slices"

	"eccbench/internal/crew"
)

// forests has the canonical forests of a box: that of its vertices and edges, and the dual forest of its top cells,
// the outside, and the walls between them (squares, or edges in 2D).
type forests struct {
	*box
	found  found
	stepTo [cells]int // to the vertex in each direction
	down   []uint32   // of a vertex: an earlier vertex of its component, or itself
	up     []uint32   // of the top cells around a vertex, all of one part: a later vertex, itself, or 0 for the outside
	star   []uint32   // the cells of the star of each vertex
	trees  []uint8    // its edges in the forest
	marks  []uint32   // its squares in the dual forest, and its logged edges and squares from these places on:
}

const (
	loggedEdges   = squares
	loggedSquares = squares + edges
)

// growForests makes both forests, and adds their pairs.
func growForests(b *box, threads int) *forests {
	n := len(b.key)
	f := &forests{box: b, down: make([]uint32, n), up: make([]uint32, n), star: make([]uint32, n),
		trees: make([]uint8, n), marks: make([]uint32, n)}
	for i, o := range stars.direction {
		f.stepTo[i] = o[0] + o[1]*b.step[1] + o[2]*b.step[2]
	}
	rows := f.side[1] * f.side[2]
	scanners := make([]*scanner, min(threads, rows))
	crew.Each(len(scanners), func(i int) {
		s := newScanner(f)
		for r := rows * i / len(scanners); r < rows*(i+1)/len(scanners); r++ {
			s.row(f.place(0, r%f.side[1], r/f.side[1]))
		}
		scanners[i] = s
	})
	crew.Each(2, func(i int) {
		var list []uint64
		for _, s := range scanners {
			list = append(list, s.joining[i]...)
			s.joining[i] = nil
		}
		slices.Sort(list)
		if i == 0 {
			f.joinComponents(list)
		} else {
			f.joinParts(list)
		}
	})
	f.down, f.up = nil, nil
	return f
}

// A scanner reads stars.
type scanner struct {
	*forests
	links        *links
	below, above []neighbour
	within       uint32      // bits of all neighbours
	joining      [2][]uint64 // ranks of vertices whose stars may join components, and parts of the dual forest
}

// A neighbour is a direction, by its step and its bit.
type neighbour struct {
	step int
	bit  uint
}

func newScanner(f *forests) *scanner {
	s := &scanner{forests: f, links: newLinks(f.n)}
	for bit, step := range f.stepTo {
		switch n := (neighbour{step, uint(bit)}); {
		case f.n == 2 && stars.direction[bit][2] != 0:
			continue
		case step < 0:
			s.below = append(s.below, n)
		default:
			s.above = append(s.above, n)
		}
		s.within |= 1 << bit
	}
	return s
}

// row reads the stars of a row of vertices.
func (s *scanner) row(from int) {
	for p := from; p < from+s.side[0]; p++ {
		key, earlier := uint64(s.key[p]), s.within
		for _, n := range s.below { // of equal keys the lower place is earlier
			earlier ^= uint32((key-uint64(s.key[p+n.step]))>>63) << n.bit
		}
		for _, n := range s.above {
			earlier ^= uint32((uint64(s.key[p+n.step])-key)>>63^1) << n.bit
		}
		of := earlier >> edges & uint32(stars.allowed[earlier&(1<<edges-1)])
		state := earlier&(1<<edges-1) | of<<edges
		if s.n == 3 {
			state |= earlier >> (edges + squares) & uint32(stars.filled[of]) << (edges + squares)
		}
		l := s.links.of(state)
		s.star[p], s.marks[p], s.down[p], s.up[p] = state, uint32(l.trees), uint32(p), uint32(p)
		if l.first < edges {
			s.down[p], s.trees[p] = uint32(p+s.stepTo[l.first]), 1<<l.first
		}
		if later := s.within &^ earlier; later != 0 {
			s.up[p] = uint32(p + s.stepTo[bits.TrailingZeros32(later)])
		}
		for i, may := range [2]bool{len(l.more) > 0, len(l.meets) > 0} {
			if may {
				s.joining[i] = append(s.joining[i], s.rank(p))
			}
		}
	}
}

// root returns the end of the way from a place, and shortens the way.
func root(to []uint32, p int) int {
	for int(to[p]) != p {
		next := to[p]
		to[p] = to[next]
		p = int(next)
	}
	return p
}

// joinComponents joins components in the order of vertices. The younger one dies.
func (f *forests) joinComponents(list []uint64) {
	links := newLinks(f.n)
	for _, v := range list {
		p := int(uint32(v))
		own := root(f.down, p)
		for _, edge := range links.of(f.star[p]).more {
			other := root(f.down, p+f.stepTo[edge])
			if own == other {
				continue
			}
			f.trees[p] |= 1 << edge
			if f.rank(own) > f.rank(other) {
				own, other = other, own
			}
			f.down[other] = uint32(own)
			f.found.add(f.box, 0, other, p)
		}
	}
}

// joinParts joins parts of the dual forest in the reverse order. The younger one dies, which is that of the earlier
// cell. The outside is the oldest.
func (f *forests) joinParts(list []uint64) {
	links, tops := newLinks(f.n), stars.direction[edges:]
	if f.n == 3 {
		tops = tops[squares:]
	}
	for _, v := range slices.Backward(list) {
		p := int(uint32(v))
		for _, m := range links.of(f.star[p]).meets {
			a, b := root(f.up, f.later(p, tops[m.a])), root(f.up, f.later(p, tops[m.b]))
			if a == b {
				continue
			}
			f.marks[p] |= 1 << m.wall
			if a != 0 && (b == 0 || f.rank(b) > f.rank(a)) {
				a, b = b, a
			}
			f.up[b] = uint32(a)
			f.found.add(f.box, f.n-1, p, b)
		}
	}
}

// later returns a vertex of a cell at a vertex that is later than that vertex.
func (f *forests) later(p int, o [3]int) int {
	for corner := 1; corner < 8; corner++ {
		q := p + o[0]*(corner&1) + o[1]*(corner>>1&1)*f.step[1] + o[2]*(corner>>2)*f.step[2]
		if f.rank(q) > f.rank(p) {
			return q
		}
	}
	return p
}

// found has the pairs of an image by dimension. A pair is its birth, and its death + 1 in the lower half.
type found [3][]uint64

// add adds the pair of a dimension of the box, unless it is none of the image.
func (f *found) add(b *box, dim, birth, death int) {
	if b.dual {
		dim, birth, death = b.n-1-dim, death, birth
	}
	if b.key[birth] == b.absent() || b.key[birth] == b.key[death] {
		return
	}
	pair := uint64(b.voxel(birth)) << 32
	if b.key[death] != b.absent() {
		pair |= uint64(b.voxel(death) + 1)
	}
	f[dim] = append(f[dim], pair)
}
