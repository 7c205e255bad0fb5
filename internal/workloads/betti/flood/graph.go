package flood

import (
	"math"
	"math/bits"
	"slices"
)

// found holds the components of a slab. Components that reach no plane of a neighbour are only
// counted. The others are nodes, numbered from 1. First are the nodes of the graph of all slabs,
// then the nodes that reach only the first plane, then only the last one. The nodes of the voxels
// in both planes are kept as long as a neighbour needs them.
type found struct {
	inner       int64
	nodes       int32    // in the graph of all slabs
	near        [2]int32 // nodes that reach only the first plane, or only the last one
	main        int32    // the node of the main component, 0 for none
	first, last *border
	edges       []edge // between nodes, including the next slab's, which are numbered after this slab's
}

// order numbers the nodes. The nodes of a kept plane belong to the graph of all slabs, as do the
// nodes that all slabs share.
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

// A border holds the nodes of a plane. The voxels of the main component are bits of words, as in a
// slab. The other nodes are pieces of words.
type border struct {
	main   []uint64 // with an empty row at either end, and an extra word at both ends
	heads  []int32  // for each word the index of its last piece, plus 1
	pieces []piece
}

func newBorder(words int64) *border {
	return &border{main: make([]uint64, words), heads: make([]int32, words)}
}

// forget clears the border for another plane.
func (b *border) forget() {
	for _, p := range b.pieces {
		b.heads[p.word] = 0
	}
	b.pieces = b.pieces[:0]
}

// A piece holds the voxels of a word in one node, and the index of the next piece, plus 1.
type piece struct {
	bits         uint64
	number, next int32
	word         int32
}

// add records the voxels of a word in a node.
func (b *border) add(word int, bits uint64, number int32) {
	b.pieces = append(b.pieces, piece{bits, number, b.heads[word], int32(word)})
	b.heads[word] = int32(len(b.pieces))
}

// An edge connects two nodes.
type edge uint64

func edgeOf(a, b int32) edge    { return edge(a)<<32 | edge(b) }
func (e edge) nodes() [2]int32  { return [2]int32{int32(e >> 32), int32(e & math.MaxUint32)} }
func compacted(e []edge) []edge { slices.Sort(e); return slices.Compact(e) }

// meet finds the edges between the last plane of a slab and the first plane of the next. words is
// the number of words of a row.
func (c *found) meet(next *found, words int, corners bool) {
	a, b := c.last, next.first
	// near returns the voxels that touch the main component of the other plane.
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

// close fills the components of nodes that reach only the planes between two slabs. Such a
// component is complete unless it leads to nodes of the graph of all slabs. Then edges between
// these nodes remain.
func (c *found) close(next *found, edges []edge) {
	// The order is: nodes of the slab's last plane alone, nodes of the next slab's first plane
	// alone, nodes of all slabs.
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
	links := NewLinks(alone, func(link func(from, to int32)) {
		for _, e := range edges {
			a, b := place(e)
			if a < alone {
				link(a, b)
			}
			if b < alone {
				link(b, a)
			}
		}
	})
	been := make([]bool, alone)
	for i := range alone {
		if been[i] {
			continue
		}
		been[i] = true
		leads := int32(-1)
		links.Fill(i, func(n int32) (isNew bool) {
			switch {
			case n < alone:
				isNew, been[n] = !been[n], true
			case leads < 0:
				leads = n
			case leads != n:
				c.edges = append(c.edges, edgeOf(min(leads, n)-alone+1, max(leads, n)-alone+1))
			}
			return isNew
		})
		if leads < 0 {
			c.inner++
		}
	}
	c.edges = compacted(c.edges)
}

// Links lists the nodes that each node is linked with.
type Links[T int32 | int64] struct {
	begin    []int64
	to, todo []T
}

// NewLinks lists the links of n nodes. It calls ways twice, which must enumerate the same links.
func NewLinks[T int32 | int64](n T, ways func(link func(from, to T))) *Links[T] {
	l := &Links[T]{begin: make([]int64, n+1)}
	ways(func(from, _ T) { l.begin[from]++ })
	sum := int64(0)
	for i := range l.begin {
		sum += l.begin[i]
		l.begin[i] = sum
	}
	l.to = make([]T, sum)
	ways(func(from, node T) {
		l.begin[from]--
		l.to[l.begin[from]] = node
	})
	return l
}

// Fill follows links from a node, which is not entered itself. enter reports whether to go on from a
// node that a link leads to: only the first time.
func (l *Links[T]) Fill(from T, enter func(node T) bool) {
	for l.todo = append(l.todo[:0], from); len(l.todo) > 0; {
		at := l.todo[len(l.todo)-1]
		l.todo = l.todo[:len(l.todo)-1]
		for _, n := range l.to[l.begin[at]:l.begin[at+1]] {
			if enter(n) {
				l.todo = append(l.todo, n)
			}
		}
	}
}

// labels returns the node number of each voxel of a plane of h rows of w voxels, or 0 for voxels of
// the other kind.
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

// countComponents counts the components of a kind in all slabs. It fills components at the planes
// between slabs from node to node. If see is not nil, it is called with each node of all slabs and
// the number of its component. Nodes are counted from 0, after the nodes that all slabs share.
func countComponents(slabs []filled, kind int, see func(node, component int64)) (n int64) {
	same := shared(kind)
	base := make([]int64, len(slabs)+1)
	base[0] = int64(same)
	for k := range slabs {
		c := &slabs[k].of[kind]
		n += c.inner
		base[k+1] = base[k] + int64(c.nodes-same)
	}
	links := NewLinks(base[len(slabs)], func(link func(from, to int64)) {
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
				link(node(both[0]), node(both[1]))
				link(node(both[1]), node(both[0]))
			}
		}
	})
	been := make([]bool, base[len(slabs)])
	for first := range been {
		if been[first] {
			continue
		}
		n++
		enter := func(node int64) bool {
			if been[node] {
				return false
			}
			if been[node] = true; see != nil {
				see(node, n)
			}
			return true
		}
		enter(int64(first))
		links.Fill(int64(first), enter)
	}
	return n
}
