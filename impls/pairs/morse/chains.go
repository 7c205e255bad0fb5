package morse

import (
	"math/bits"
	"slices"

	"eccbench/internal/workloads/pairs"
)

// A heap has chains of cells: the greatest key is at the top. A key is the name of a cell, with its bits inverted in
// cohomology, so that the cells of a star are next to each other.
type heap []item

// An item is a cell, or the rest of a column from a place down.
type item struct {
	key        uint64
	column, at uint32
}

// single is the column of an item that is one cell.
const single = 1<<32 - 1

func (h *heap) push(x item) {
	*h = append(*h, x)
	list := *h
	i := len(list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if list[up].key >= x.key {
			break
		}
		list[i] = list[up]
		i = up
	}
	list[i] = x
}

// lower puts an item in the place of the top, and moves it down.
func (h heap) lower(x item) {
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].key > h[down].key {
			down++
		}
		if h[down].key <= x.key {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = x
}

// A reduction reduces a column for each square of pairs of dimension 1 (homology), or for each edge (cohomology). Its
// rows are the others. The pivot of a column is the greatest row, and no two columns have the same.
type reduction struct {
	*box
	dual    bool   // cohomology
	flip    uint64 // the bits in which a key differs from a name
	columns []uint64
	rows    []uint64 // ascending
	slot    []uint32 // of each vertex: the place of its first row plus 1, or 0
	owner   []uint32 // of each row: its column plus 1, or 0
	kept    [][]uint64
	words   []uint32
	work    int // keys moved

	// Of the current column:
	heap         heap
	added, cells []uint32
	store        store
	spare        [2][]uint64
}

// A store allocates columns in blocks.
type store []uint64

// column returns a column of some keys, above the end mark 0.
func (s *store) column(keys []uint64) []uint64 {
	n := len(keys) + 1
	if len(*s)+n > cap(*s) {
		*s = make([]uint64, 0, max(n, 1<<15))
	}
	from := len(*s)
	*s = append(append(*s, 0), keys...)
	return (*s)[from:len(*s):len(*s)]
}

// newReduction prepares a reduction. The places of rows are in slot.
func (b *box) newReduction(dual bool, columns, rows []uint64, slot []uint32) *reduction {
	r := &reduction{box: b, dual: dual, columns: columns, rows: rows, slot: slot, owner: make([]uint32, len(rows)),
		kept: make([][]uint64, 0, len(columns))}
	if dual {
		r.flip = 1<<64 - 1
		r.columns = slices.Clone(columns)
		slices.Reverse(r.columns)
	}
	return r
}

// run reduces columns until a limit of work, and reports whether all are reduced.
func (r *reduction) run(limit int) bool {
	for len(r.kept) < len(r.columns) {
		if r.work > limit {
			return false
		}
		r.reduce(r.columns[len(r.kept)])
	}
	return true
}

// reduce reduces a column. Every column has a pivot, because a box has no classes of dimension 1 without an end.
func (r *reduction) reduce(name uint64) {
	r.heap, r.added, r.cells = r.heap[:0], r.added[:0], r.cells[:0]
	v := r.vertexOf(name)
	for chain := r.begin(v, uint8(name&(1<<cellBits-1))); ; v, chain = r.next() {
		if r.dual {
			chain = r.eliminateSquares(v, chain)
		} else {
			chain = r.eliminateEdges(v, chain)
		}
		if r.slot[v] == 0 {
			continue
		}
		for chain != 0 {
			top := uint64(bits.Len16(chain) - 1)
			chain ^= 1 << top
			key := (r.name(v)^r.flip)&^(1<<cellBits-1) | top
			row, is := r.row(v, key)
			if !is {
				continue
			}
			if r.owner[row] == 0 {
				r.finish(name, row, v, chain)
				return
			}
			chain ^= r.add(r.owner[row]-1, key)
		}
	}
}

// begin starts the chain of a column: it returns its cells in the star, and pushes the others.
func (r *reduction) begin(v int, cell uint8) uint16 {
	if r.dual {
		return r.addEdge(v, cell, 0)
	}
	return r.addSquare(v, cell)
}

// next removes the greatest star from the heap, and returns its cells.
func (r *reduction) next() (v int, chain uint16) {
	const cell = 1<<cellBits - 1
	for {
		top := r.heap[0].key
		for len(r.heap) > 0 && r.heap[0].key&^cell == top&^cell {
			chain ^= 1 << (r.heap[0].key & cell)
			r.pop()
		}
		if chain != 0 {
			return r.vertexOf(top ^ r.flip), chain
		}
	}
}

// pop removes the greatest key.
func (r *reduction) pop() {
	r.work++
	if x := r.heap[0]; x.column != single {
		x.at--
		if x.key = r.kept[x.column][x.at]; x.key != 0 {
			r.heap.lower(x)
			return
		}
	}
	n := len(r.heap) - 1
	x := r.heap[n]
	if r.heap = r.heap[:n]; n > 0 {
		r.heap.lower(x)
	}
}

// row returns the place of a row of a vertex.
func (r *reduction) row(v int, key uint64) (int, bool) {
	first := int(r.slot[v])
	if first == 0 {
		return 0, false
	}
	name := key ^ r.flip
	for i := first - 1; i < len(r.rows) && r.rows[i] <= name; i++ {
		if r.rows[i] == name {
			return i, true
		}
	}
	return 0, false
}

// add adds a column: it returns the cells in the star of its pivot except this, and pushes the others.
func (r *reduction) add(column uint32, pivot uint64) (chain uint16) {
	const cell = 1<<cellBits - 1
	r.added = append(r.added, column)
	keys := r.kept[column]
	at := len(keys) - 1
	for ; keys[at]&^cell == pivot&^cell; at-- {
		chain ^= 1 << (keys[at] & cell)
	}
	if keys[at] != 0 {
		r.heap.push(item{keys[at], column, uint32(at)})
	}
	return chain
}

// pushCell pushes a cell of a star.
func (r *reduction) pushCell(v int, cell uint8) {
	r.work++
	r.heap.push(item{(r.name(v) | uint64(cell)) ^ r.flip, single, 0})
}

// addSquare adds the boundary of a square of a star: it returns the edges of the star, and pushes the others.
func (r *reduction) addSquare(v int, square uint8) uint16 {
	q := sides[square]
	far := v + r.far[square]
	r.pushEdge(v+r.off[q.a], far, q.b)
	r.pushEdge(v+r.off[q.b], far, q.a)
	return 1<<q.a | 1<<q.b
}

// pushEdge pushes the edge from u to v unless it is paired with its vertex.
func (r *reduction) pushEdge(u, v int, d uint8) {
	if r.isLater(v, u) {
		u, d = v, opposite(d)
	}
	if r.entries[r.star[u]].first != d {
		r.pushCell(u, d)
	}
}

// eliminateEdges adds the squares that are paired with edges of the chain in a star, from the leaves of the forest on.
func (r *reduction) eliminateEdges(v int, chain uint16) uint16 {
	e := &r.entries[r.star[v]]
	for i := int(e.forest >> countFrom); i > 0; i-- {
		l := e.forest >> ((i - 1) * linkBits & 63)
		if chain>>(l&7)&1 == 0 {
			continue
		}
		square := uint8(l >> 6 & 15)
		chain ^= r.addSquare(v, square)
		r.cells = append(r.cells, r.squareID(v, square))
	}
	if e.first != none {
		chain &^= 1 << e.first
	}
	return chain
}

// addEdge adds the coboundary of an edge of a star to the squares of the star, and pushes the others.
func (r *reduction) addEdge(v int, d uint8, chain uint16) uint16 {
	e := &r.entries[r.star[v]]
	for b := range uint8(directions) {
		s := squareOf[d][b]
		if s == none {
			continue
		}
		if e.present>>s&1 > 0 {
			chain ^= 1 << (s ^ (1<<cellBits - 1))
			continue
		}
		at, a := v+r.off[b], d
		if far := at + r.off[d]; r.isLater(far, at) {
			at, a = far, opposite(d)
		}
		if r.key[at] == r.last {
			continue
		}
		if s = squareOf[a][opposite(b)]; r.entries[r.star[at]].inner>>s&1 == 0 {
			r.pushCell(at, s)
		}
	}
	return chain
}

// eliminateSquares adds the edges that are paired with squares of the chain in a star, from the roots of the forest on.
func (r *reduction) eliminateSquares(v int, chain uint16) uint16 {
	e := &r.entries[r.star[v]]
	for i := range int(e.forest >> countFrom) {
		l := e.forest >> (i * linkBits & 63)
		if chain>>(l>>6&15^15)&1 == 0 {
			continue
		}
		d := uint8(l & 7)
		chain = r.addEdge(v, d, chain)
		r.cells = append(r.cells, r.edgeID(v, d))
	}
	return chain & bits.Reverse16(e.critical)
}

// edgeID returns the number of an edge in chains.
func (b *box) edgeID(v int, d uint8) uint32 {
	if d < directions/2 {
		v += b.off[d]
	}
	return 3*b.index(uint32(v)) + uint32(axisOf[d])
}

// squareID returns the number of a square in chains.
func (b *box) squareID(v int, square uint8) uint32 {
	q := sides[square]
	for _, d := range [2]uint8{q.a, q.b} {
		if d < directions/2 {
			v += b.off[d]
		}
	}
	return 3*b.index(uint32(v)) + uint32(q.normal)
}

// id returns the number of the cell of a column, or of a key.
func (r *reduction) id(name uint64, isSquare bool) uint32 {
	v, cell := r.vertexOf(name), uint8(name&(1<<cellBits-1))
	if isSquare {
		return r.squareID(v, cell)
	}
	return r.edgeID(v, cell)
}

// finish keeps a column with its pivot, and logs it. The chain is the rest in the pivot's star.
func (r *reduction) finish(name uint64, row, v int, chain uint16) {
	r.owner[row] = uint32(len(r.kept) + 1)
	keys := r.rest()
	for cell := range uint64(1 << cellBits) {
		key := (r.name(v)^r.flip)&^(1<<cellBits-1) | cell
		if chain>>cell&1 > 0 {
			if _, is := r.row(v, key); is {
				keys = append(keys, key)
			}
		}
	}
	r.spare[0] = keys
	r.kept = append(r.kept, r.store.column(keys))
	w := append(r.words, r.id(name, !r.dual), uint32(len(r.added)))
	w = append(append(w, r.added...), uint32(len(r.cells)))
	w = append(append(w, r.cells...), uint32(len(keys)+1), r.id(r.rows[row], r.dual))
	for _, key := range keys {
		w = append(w, r.id(key^r.flip, r.dual))
	}
	r.words = w
}

// mergedPerMove is the number of keys that are merged in the time to move one in the heap.
const mergedPerMove = 16

// short is the length up to which a column is sorted with the single cells rather than merged.
const short = 24

// rest returns the keys that the heap has an odd number of times, without those of the forests, ascending.
func (r *reduction) rest() []uint64 {
	keys, long := r.spare[0][:0], r.heap[:0]
	for _, x := range r.heap {
		switch {
		case x.column == single:
			keys = append(keys, x.key)
		case x.at <= short:
			keys = append(keys, r.kept[x.column][1:x.at+1]...)
		default:
			long = append(long, x)
		}
	}
	slices.Sort(keys)
	n := 0
	for _, k := range keys {
		if n > 0 && keys[n-1] == k {
			n--
		} else {
			keys[n] = k
			n++
		}
	}
	keys = slices.DeleteFunc(keys[:n], r.inForest)
	slices.SortFunc(long, func(x, y item) int { return int(x.at) - int(y.at) })
	for _, x := range long {
		r.work += (len(keys) + int(x.at)) / mergedPerMove
		to := merge(r.spare[1][:0], keys, r.kept[x.column][1:x.at+1])
		r.spare[1], keys = keys, to
	}
	return keys
}

// inForest reports whether a key is a cell of a forest: critical, and no row.
func (r *reduction) inForest(key uint64) bool {
	name := key ^ r.flip
	v := r.vertexOf(name)
	e := &r.entries[r.star[v]]
	critical := uint16(e.edges)
	if r.dual {
		critical = e.critical
	}
	if critical>>(name&(1<<cellBits-1))&1 == 0 {
		return false
	}
	_, is := r.row(v, key)
	return !is
}

// merge appends the keys that one of two ascending lists has.
func merge(to, a, b []uint64) []uint64 {
	to = slices.Grow(to, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			to, a = append(to, a[0]), a[1:]
		case a[0] > b[0]:
			to, b = append(to, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(append(to, a...), b...)
}

// pairs returns the pairs of the box, and the chains that prove them.
func (r *reduction) pairs() (list []uint64, chains *pairs.Chains) {
	for row, owner := range r.owner {
		birth, death := r.vertexOf(r.rows[row]), r.vertexOf(r.columns[owner-1])
		if r.dual {
			birth, death = death, birth
		}
		list = append(list, uint64(birth)<<32|uint64(death))
	}
	return list, &pairs.Chains{Dual: r.dual, Words: r.words}
}

// turnWork returns the work of the first turn of a reduction, about twice that of noise.
func (b *box) turnWork(columns int) int { return 40*columns + len(b.key) }

// loops returns the pairs of dimension 1 of a 3D box. Reductions in cohomology and in homology take turns with growing
// limits of work, because either may take more than a hundred times as long as the other.
func (j *job) loops(low, high *forest) ([]uint64, *pairs.Chains) {
	b, edges, squares := low.box, low.cells(), high.cells()
	list := []*reduction{b.newReduction(true, edges, squares, high.parent), b.newReduction(false, squares, edges, low.parent)}
	if j.homology {
		slices.Reverse(list)
	}
	limit := j.turn
	if limit == 0 {
		limit = b.turnWork(len(edges))
	}
	for ; ; limit *= 2 {
		for _, r := range list {
			if r.run(limit) {
				return r.pairs()
			}
		}
	}
}
