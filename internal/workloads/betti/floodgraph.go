package betti

import (
	"math"
	"math/bits"
	"slices"
)

// What is found in a slab are components those that come to no plane of a neighbour, and nodes: the others,
// numbered from 1 on. First come those that the graph of all slabs has, then those that come to one plane alone: of the
// first plane, and of the last one. Which voxels of both planes are of which node is kept as long as a neighbour needs it.
type found struct {
	inner       int64
	nodes       int32    // of the graph of all slabs
	near        [2]int32 // nodes that come to the first plane alone, and to the last one
	main        int32    // the node of the main component, 0 for none
	first, last *border
	edges       []edge // of nodes, and of those of the next slab, which come after them
}

// order numbers the nodes. Those of a plane that is kept are of the graph of all slabs, as are those that are the same in
// all.
func (c *found) order(same int32, kept [2]bool) {
	const first, last, whole = 1, 2, 3
	at := make([]uint8, c.nodes+1)
	for i, b := range [2]*border{c.first, c.last} {
		if b == nil {
			continue
		}
		is := uint8(first << i)
		if kept[i] {
			is = whole
		}
		for _, p := range b.pieces {
			at[p.number] |= is
		}
	}
	for n := range same + 1 {
		at[n] = whole
	}
	at[c.main] = whole
	var next [whole + 1]int32
	for _, is := range at[1:] {
		next[is]++
	}
	c.nodes, c.near = next[whole], [2]int32{next[first], next[last]}
	next[whole], next[first], next[last] = 0, c.nodes, c.nodes+c.near[0]
	number := make([]int32, len(at))
	for n := 1; n < len(at); n++ {
		next[at[n]]++
		number[n] = next[at[n]]
	}
	c.main = number[c.main]
	for _, b := range [2]*border{c.first, c.last} {
		if b == nil {
			continue
		}
		for i := range b.pieces {
			b.pieces[i].number = number[b.pieces[i].number]
		}
	}
}

// A border is the nodes of a plane: the voxels of the main component are bits of words, as those
// of a slab, and others are pieces of words.
type border struct {
	main   []uint64 // with a row of none at either end, and a word before all and after
	heads  []int32  // of each word the place of its last piece, and 1 more
	pieces []piece
}

func newBorder(words int64) *border {
	return &border{main: make([]uint64, words), heads: make([]int32, words)}
}

// forget makes room for the nodes of another plane.
func (b *border) forget() {
	for _, p := range b.pieces {
		b.heads[p.word] = 0
	}
	b.pieces = b.pieces[:0]
}

// A piece is voxels of a word that are of a node, and the place of another one, and 1 more.
type piece struct {
	bits         uint64
	number, next int32
	word         int32
}

// add notes voxels of a word that are of a node.
func (b *border) add(word int, bits uint64, number int32) {
	b.pieces = append(b.pieces, piece{bits, number, b.heads[word], int32(word)})
	b.heads[word] = int32(len(b.pieces))
}

// An edge is two nodes.
type edge uint64

func edgeOf(a, b int32) edge    { return edge(a)<<32 | edge(b) }
func (e edge) nodes() [2]int32  { return [2]int32{int32(e >> 32), int32(e & math.MaxUint32)} }
func compacted(e []edge) []edge { slices.Sort(e); return slices.Compact(e) }

// meet finds the edges from the last plane of a slab to the first one of the next, whose rows have
// so many words.
func (c *found) meet(next *found, words int, corners bool) {
	a, b := c.last, next.first
	// near are the voxels that those of the main component of the other plane touch.
	near := func(main []uint64, i int) uint64 {
		if !corners {
			return main[i]
		}
		var v uint64
		for row := i - words; row <= i+words; row += words {
			v |= main[row] | main[row]<<1 | main[row]>>1 | main[row-1]>>63 | main[row+1]<<63
		}
		return v
	}
	if c.main != 0 && next.main != 0 {
		for i := 1 + words; i < len(a.main)-1-words; i++ {
			if v := a.main[i]; v != 0 && v&near(b.main, i) != 0 {
				c.edges = append(c.edges, edgeOf(c.main, next.main))
				break
			}
		}
	}
	if c.main != 0 {
		for _, p := range b.pieces {
			if p.bits&near(a.main, int(p.word)) != 0 {
				c.edges = append(c.edges, edgeOf(c.main, p.number))
			}
		}
	}
	for _, p := range a.pieces {
		i := int(p.word)
		if next.main != 0 && p.bits&near(b.main, i) != 0 {
			c.edges = append(c.edges, edgeOf(p.number, next.main))
		}
		touch := func(word int, bits uint64) {
			for k := b.heads[word]; k != 0; k = b.pieces[k-1].next {
				if q := &b.pieces[k-1]; q.bits&bits != 0 {
					c.edges = append(c.edges, edgeOf(p.number, q.number))
				}
			}
		}
		if !corners {
			touch(i, p.bits)
			continue
		}
		for row := i - words; row <= i+words; row += words {
			touch(row, p.bits|p.bits<<1|p.bits>>1)
			if p.bits&1 != 0 {
				touch(row-1, 1<<63)
			}
			if p.bits>>63 != 0 {
				touch(row+1, 1)
			}
		}
	}
	c.close(next, compacted(c.edges))
}

// close fills what is connected by nodes that come to the planes of two slabs that meet and to no other plane: a
// component, unless it leads to nodes of the graph of all slabs, between which edges are left.
func (c *found) close(next *found, edges []edge) {
	// The nodes of the slab's last plane alone, those of the next one's first plane alone, and those of all slabs.
	skipped, alone := c.nodes+c.near[0], c.near[1]+next.near[0]
	place := func(e edge) (a, b int32) {
		both := e.nodes()
		if a = both[0] - 1 - skipped; a < 0 {
			a = alone + both[0] - 1
		}
		if b = c.near[1] + both[1] - 1 - next.nodes; b < c.near[1] {
			b = alone + c.nodes + both[1] - 1
		}
		return a, b
	}
	c.edges = nil
	for _, e := range edges {
		if a, b := place(e); a >= alone && b >= alone {
			c.edges = append(c.edges, edgeOf(a-alone+1, b-alone+1))
		}
	}
	begin, to := neighbours(alone, func(way func(from, to int32)) {
		for _, e := range edges {
			a, b := place(e)
			if a < alone {
				way(a, b)
			}
			if b < alone {
				way(b, a)
			}
		}
	})
	been := make([]bool, alone)
	var todo []int32
	for i := range alone {
		if been[i] {
			continue
		}
		been[i] = true
		leads := int32(-1)
		for todo = append(todo, i); len(todo) > 0; {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, n := range to[begin[at]:begin[at+1]] {
				switch {
				case n < alone:
					if !been[n] {
						been[n] = true
						todo = append(todo, n)
					}
				case leads < 0:
					leads = n
				case leads != n:
					c.edges = append(c.edges, edgeOf(min(leads, n)-alone+1, max(leads, n)-alone+1))
				}
			}
		}
		if leads < 0 {
			c.inner++
		}
	}
	c.edges = compacted(c.edges)
}

// neighbours are the nodes that each of n leads to, of all ways between them, which are gone through twice: those of node
// i are to[begin[i]:begin[i+1]].
func neighbours[T int32 | int64](n T, ways func(way func(from, to T))) (begin, to []T) {
	begin = make([]T, n+1)
	ways(func(from, _ T) { begin[from]++ })
	sum := T(0)
	for i := range begin {
		sum += begin[i]
		begin[i] = sum
	}
	to = make([]T, sum)
	ways(func(from, node T) {
		begin[from]--
		to[begin[from]] = node
	})
	return begin, to
}

// labels are the number of the node of each voxel of a plane of h rows of w voxels, 0 where it is
// of the other kind.
func (b *border) labels(main int32, h, w, words int64) []int32 {
	to := make([]int32, h*w)
	put := func(word int64, v uint64, number int32) {
		at := word - 1 - words
		row := to[at/words*w+at%words*64:]
		for ; v != 0; v &= v - 1 {
			row[bits.TrailingZeros64(v)] = number
		}
	}
	for i, v := range b.main {
		if v != 0 {
			put(int64(i), v, main)
		}
	}
	for _, p := range b.pieces {
		put(int64(p.word), p.bits, p.number)
	}
	return to
}

// countComponents counts the components of a kind of all slabs: those at planes that meet are filled
// from node to node. Where see is not nil it is called with each node of all slabs, counted from 0 on
// in their order after those that are the same in all, and a number of the component that it is of.
func countComponents(slabs []filled, kind int, see func(node, component int64)) (n int64) {
	same := shared(kind)
	base := make([]int64, len(slabs)+1)
	base[0] = int64(same)
	for k := range slabs {
		c := &slabs[k].of[kind]
		n += c.inner
		base[k+1] = base[k] + int64(c.nodes-same)
	}
	// ends are the nodes of each edge.
	ends := func(f func(a, b int64)) {
		for k := range slabs {
			c := &slabs[k].of[kind]
			node := func(number int32) int64 {
				k := k
				if number > c.nodes {
					number, k = number-c.nodes, k+1
				}
				if number <= same {
					return int64(number - 1)
				}
				return base[k] + int64(number-1-same)
			}
			for _, e := range c.edges {
				both := e.nodes()
				f(node(both[0]), node(both[1]))
			}
		}
	}
	begin, next := neighbours(base[len(slabs)], func(way func(from, to int64)) {
		ends(func(a, b int64) {
			way(a, b)
			way(b, a)
		})
	})
	been := make([]bool, len(begin)-1)
	var todo []int64
	for first := range been {
		if been[first] {
			continue
		}
		n++
		been[first] = true
		todo = append(todo, int64(first))
		for len(todo) > 0 {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if see != nil {
				see(at, n)
			}
			for _, to := range next[begin[at]:begin[at+1]] {
				if !been[to] {
					been[to] = true
					todo = append(todo, to)
				}
			}
		}
	}
	return n
}
