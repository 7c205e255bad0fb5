package morse

import "math/bits"

// unset is a parent that is not known yet; no vertex is a child of the outside by 0, which is its own.
const unset = 0

// A forest is a canonical forest of a box. In the first, vertices descend to a minimum. In the dual one, the cells of
// the highest dimension in a star ascend together, to a maximum or to the outside. A root is the oldest of its
// component. Parents are found on demand.
type forest struct {
	*box
	parent []uint32
	climbs bool
	pairs  []uint64 // birth and death, each 32 bits, of the box's pairs of this forest
	// apart has for each critical star the mask of its critical cells that join nothing.
	apart []uint16
}

// next returns the parent of a vertex that has none yet.
func (f *forest) next(v uint32) uint32 {
	e := &f.entries[f.star[v]]
	switch {
	case f.climbs && e.rises == none, !f.climbs && e.first == none:
		return v
	case f.climbs:
		if to := f.latest(int(v), e.rises); to != outside {
			return uint32(to)
		}
		return toOutside
	}
	return uint32(int(v) + f.off[e.first])
}

// toOutside is the parent of a star that ascends to the outside.
const toOutside = 1<<32 - 1

// find returns the root of a vertex, or toOutside, and shortens the path.
func (f *forest) find(v uint32) uint32 {
	for {
		up := f.parent[v]
		if up == unset {
			up = f.next(v)
			f.parent[v] = up
		}
		if up == toOutside || up == v {
			return up
		}
		above := f.parent[up]
		if above == unset {
			above = f.next(up)
			f.parent[up] = above
		}
		if above == up {
			return up
		}
		if f.parent[v] = above; above == toOutside {
			return above
		}
		v = above
	}
}

// join unites two components, and returns the root of the younger one, or false if they are one.
func (f *forest) join(a, b uint32) (younger uint32, joined bool) {
	if a == b {
		return 0, false
	}
	if a == toOutside || b != toOutside && f.isLater(int(a), int(b)) == f.climbs {
		a, b = b, a
	}
	f.parent[a] = b
	return a, true
}

// growForest joins the vertices by edges, in their order.
func (b *box) growForest() *forest {
	f := &forest{box: b, parent: make([]uint32, len(b.key)), apart: make([]uint16, len(b.critical))}
	for i, name := range b.critical {
		v := b.vertexOf(name)
		for edges := uint16(b.entries[b.star[v]].edges); edges != 0; edges &= edges - 1 {
			d := lowest(edges)
			if dies, joined := f.join(f.find(uint32(v)), f.find(uint32(v+b.off[d]))); joined {
				f.pairs = append(f.pairs, uint64(dies)<<32|uint64(v))
			} else {
				f.apart[i] |= 1 << d
			}
		}
	}
	return f
}

// growDual joins the cells of the highest dimension by those between them, in reverse order.
func (b *box) growDual() *forest {
	f := &forest{box: b, parent: make([]uint32, len(b.key)), apart: make([]uint16, len(b.critical)), climbs: true}
	side := func(v int, octant uint8) uint32 {
		if to := b.latest(v, octant); to != outside {
			return f.find(uint32(to))
		}
		return toOutside
	}
	for i := len(b.critical) - 1; i >= 0; i-- {
		v := b.vertexOf(b.critical[i])
		e := &b.entries[b.star[v]]
		for k, cell := range e.cell[:e.joins] {
			if dies, joined := f.join(side(v, e.left[k]), side(v, e.right[k])); joined {
				f.pairs = append(f.pairs, uint64(v)<<32|uint64(dies))
			} else {
				f.apart[i] |= 1 << cell
			}
		}
	}
	return f
}

// cells lists the names of the cells of a forest that join nothing, ascending. It sets the parents of their vertices to
// the place of the first in the list, plus 1, and those of all others to 0.
func (f *forest) cells() (list []uint64) {
	n := 0
	for _, mask := range f.apart {
		n += bits.OnesCount16(mask)
	}
	list = make([]uint64, 0, n)
	clear(f.parent)
	for i, name := range f.critical {
		if f.apart[i] != 0 {
			f.parent[f.vertexOf(name)] = uint32(len(list) + 1)
		}
		for mask := f.apart[i]; mask != 0; mask &= mask - 1 {
			list = append(list, name|uint64(lowest(mask)))
		}
	}
	return list
}
