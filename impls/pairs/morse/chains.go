package morse

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/workloads/pairs"
)

// A heap has chains of cells: the greatest key is at the top. A key is the name of a cell, with its bits inverted in
// cohomology, so that the cells of a star are next to each other.
type heap []item

// An item is a cell, or the rest of a column from a place down.
type item struct {
	key         uint64
	version, at uint32
}

// single is the version of an item that is one cell.
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
//
// Columns are reduced tile by tile, because most pairs are within a tile. A pivot that a later column has taken is
// taken over, and the later column is reduced further.
type reduction struct {
	*box
	dual     bool     // cohomology
	flip     uint64   // the bits in which a key differs from a name
	columns  []uint64 // in order
	queue    []uint64 // columns yet to reduce
	rows     []uint64 // ascending
	slot     []uint32 // of each vertex: the place of its first row plus 1, or 0
	owner    []uint32 // of each row: the version of its column plus 1, or 0
	versions []version
	newest   []uint32 // of each column
	log      []uint32
	work     int   // keys moved
	room     *room // nil without a limit of memory

	// Of the current column:
	version
	heap         heap
	added, cells []uint32
	store        store
	spare        [2][]uint64
}

// A version is a column as it was reduced to a row, without this row.
type version struct {
	column, previous uint32 // previous is the version before plus 1, or 0
	row              uint32
	adds, cellCount  uint32 // numbers of versions and of cells that are added to the previous one
	from             int    // their place in the log
	keys             []uint64
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

// A room limits the memory of all reductions of a job.
type room struct{ memory, left int64 }

// Bytes for each column and row before the reduction, for each critical star, for a version of a column, for each of
// its keys, and for a word of the log, which is copied when it grows by a quarter.
const cellBytes, starBytes, versionBytes, keyBytes, wordBytes = 40, 20, 80, 8, 9

// newRoom returns the room in a limit of memory; nil for 0, without a limit.
func (b *box) newRoom(memory int64, columns int) *room {
	if memory == 0 {
		return nil
	}
	taken := tableBytes + placeBytes*len(b.key) + starBytes*len(b.critical) + 2*cellBytes*columns
	return &room{memory, memory - int64(taken)}
}

// take takes memory for a version of some keys and its words in the log.
func (r *room) take(keys, words int) {
	if r != nil {
		r.left -= int64(versionBytes + (keyBytes+wordBytes)*keys + wordBytes*words)
	}
}

// isFull reports whether more memory is taken than the room has.
func (r *room) isFull() bool { return r != nil && r.left < 0 }

// newReduction prepares a reduction, with tiles of a side. The places of rows are in slot.
func (b *box) newReduction(dual bool, columns, rows []uint64, slot []uint32, tile uint32) *reduction {
	r := &reduction{box: b, dual: dual, columns: columns, rows: rows, slot: slot, owner: make([]uint32, len(rows)),
		newest: make([]uint32, len(columns)), queue: make([]uint64, len(columns))}
	if dual {
		r.flip = 1<<64 - 1
		r.columns = slices.Clone(columns)
		slices.Reverse(r.columns)
	}
	for i, name := range r.columns {
		r.queue[i] = uint64(b.tile(uint32(b.vertexOf(name)), tile))<<32 | uint64(i)
	}
	r.queue = sortFrom(r.queue, 32)
	return r
}

// tile returns the number of the tile of a vertex.
func (b *box) tile(v, side uint32) uint32 {
	row := v / b.w
	z, y, x := row/b.h/side, row%b.h/side, v%b.w/side
	return (z*(b.h/side+1)+y)*(b.w/side+1) + x
}

// run reduces a number of columns, or fewer until a limit of work or the room is full.
func (r *reduction) run(columns, limit int) {
	for stop := r.work + limit; columns > 0 && len(r.queue) > 0 && r.work < stop && !r.room.isFull(); columns-- {
		r.reduce(uint32(r.queue[0]))
		r.queue = r.queue[1:]
	}
}

// left estimates the work for the columns that are left.
func (r *reduction) left() float64 {
	left := len(r.queue)
	return float64(r.work) * float64(left) / float64(max(1, len(r.columns)-left))
}

// reduce reduces a column, and the later columns that it displaces. Every column has a pivot, because a box has no
// classes of dimension 1 without an end.
func (r *reduction) reduce(column uint32) {
	r.reset(column, 0)
	name := r.columns[column]
	v := r.vertexOf(name)
	chain := r.begin(v, uint8(name&(1<<cellBits-1)))
	for {
		if r.dual {
			chain = r.eliminateSquares(v, chain)
		} else {
			chain = r.eliminateEdges(v, chain)
		}
		if r.slot[v] != 0 && r.addColumns(v, chain) {
			return
		}
		v, chain = r.next()
	}
}

// reset begins a version of a column.
func (r *reduction) reset(column, previous uint32) {
	r.heap, r.added, r.cells = r.heap[:0], r.added[:0], r.cells[:0]
	r.column, r.previous = column, previous
}

// addColumns adds columns until the chain has no row in a star, or reports that it has a pivot there.
func (r *reduction) addColumns(v int, chain uint16) (finished bool) {
	for chain != 0 {
		top := uint64(bits.Len16(chain) - 1)
		chain ^= 1 << top
		key := (r.name(v)^r.flip)&^(1<<cellBits-1) | top
		row, is := r.findRow(v, key)
		if !is {
			continue
		}
		owner := r.owner[row]
		if owner != 0 && r.versions[owner-1].column < r.column {
			chain ^= r.add(owner-1, key)
			continue
		}
		n := r.finish(row, v, chain)
		if owner == 0 {
			return true
		}
		r.reset(r.versions[owner-1].column, owner)
		chain = r.push(owner-1, key) ^ r.add(n, key)
	}
	return false
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
	if x := r.heap[0]; x.version != single {
		x.at--
		if x.key = r.versions[x.version].keys[x.at]; x.key != 0 {
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

// findRow returns the place of a row of a vertex.
func (r *reduction) findRow(v int, key uint64) (int, bool) {
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

// add adds a column, as push does, and logs it.
func (r *reduction) add(version uint32, pivot uint64) uint16 {
	r.added = append(r.added, version)
	return r.push(version, pivot)
}

// push returns the cells of a column in the star of its pivot except this, and pushes the others.
func (r *reduction) push(version uint32, pivot uint64) (chain uint16) {
	const cell = 1<<cellBits - 1
	keys := r.versions[version].keys
	at := len(keys) - 1
	for ; keys[at]&^cell == pivot&^cell; at-- {
		chain ^= 1 << (keys[at] & cell)
	}
	if keys[at] != 0 {
		r.heap.push(item{keys[at], version, uint32(at)})
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

// finish keeps the current column as the owner of a row, and returns its version. The chain is its rest in the row's
// star.
func (r *reduction) finish(row, v int, chain uint16) uint32 {
	keys := r.rest()
	for cell := range uint64(1 << cellBits) {
		key := (r.name(v)^r.flip)&^(1<<cellBits-1) | cell
		if chain>>cell&1 > 0 {
			if _, is := r.findRow(v, key); is {
				keys = append(keys, key)
			}
		}
	}
	r.spare[0] = keys
	r.version.row, r.version.from, r.version.keys = uint32(row), len(r.log), r.store.column(keys)
	r.version.adds, r.version.cellCount = uint32(len(r.added)), uint32(len(r.cells))
	r.log = append(append(r.log, r.added...), r.cells...)
	r.room.take(len(keys)+1, len(r.added)+len(r.cells))
	n := uint32(len(r.versions))
	r.versions = append(r.versions, r.version)
	r.owner[row], r.newest[r.column] = n+1, n
	return n
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
		case x.version == single:
			keys = append(keys, x.key)
		case x.at <= short:
			keys = append(keys, r.versions[x.version].keys[1:x.at+1]...)
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
		to := merge(r.spare[1][:0], keys, r.versions[x.version].keys[1:x.at+1])
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
	_, is := r.findRow(v, key)
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

// pairs returns the pairs of the box.
func (r *reduction) pairs() (list []uint64) {
	for row, owner := range r.owner {
		birth, death := r.vertexOf(r.rows[row]), r.vertexOf(r.columns[r.versions[owner-1].column])
		if r.dual {
			birth, death = death, birth
		}
		list = append(list, uint64(birth)<<32|uint64(death))
	}
	return list
}

// chains returns the log of the newest version of each column.
func (r *reduction) chains(threads int) *pairs.Chains {
	parts := make([][]uint32, threads)
	crew.Each(threads, func(i int) {
		own := *r
		own.heap, own.added, own.cells = nil, nil, nil
		n := len(r.columns)
		parts[i] = own.describe(n*i/threads, n*(i+1)/threads)
	})
	return &pairs.Chains{Dual: r.dual, Words: slices.Concat(parts...)}
}

// describe returns the words of some columns.
func (r *reduction) describe(from, to int) []uint32 {
	n := 0
	for _, v := range r.newest[from:to] {
		n += int(r.versions[v].adds+r.versions[v].cellCount) + len(r.versions[v].keys) + 5
	}
	words := make([]uint32, 0, n)
	for i, newest := range r.newest[from:to] {
		last := &r.versions[newest]
		r.collect(newest)
		words = append(words, r.id(r.columns[from+i], !r.dual), uint32(len(r.added)))
		words = append(append(words, r.added...), uint32(len(r.cells)))
		words = append(append(words, r.cells...), uint32(len(last.keys)), r.id(r.rows[last.row], r.dual))
		for _, key := range last.keys[1:] {
			words = append(words, r.id(key^r.flip, r.dual))
		}
	}
	return words
}

// collect lists the columns and cells whose sum is a version. A version that was added and is not the newest of its
// column is the newest and all that was added to it since.
func (r *reduction) collect(of uint32) {
	r.reset(r.versions[of].column, 0)
	r.extend(of, 0)
	for len(r.heap) > 0 {
		top, odd := r.heap[0].key, false
		for len(r.heap) > 0 && r.heap[0].key == top {
			odd = !odd
			r.pop()
		}
		if !odd {
			continue
		}
		added := uint32(top)
		column := r.versions[added].column
		if n := len(r.added); n > 0 && r.added[n-1] == column {
			r.added = r.added[:n-1]
		} else {
			r.added = append(r.added, column)
		}
		r.extend(r.newest[column], added+1)
	}
}

// extend lists all that was added to a column up to a version and from another one on. The heap has the versions added.
func (r *reduction) extend(to, from uint32) {
	for n := to + 1; n != from; n = r.versions[n-1].previous {
		v := &r.versions[n-1]
		added := r.log[v.from:][:v.adds]
		for _, a := range added {
			r.heap.push(item{uint64(r.versions[a].column)<<32 | uint64(a), single, 0})
		}
		r.cells = append(r.cells, r.log[v.from+len(added):][:v.cellCount]...)
	}
}

const (
	tileSide = 16
	turns    = 64 // least number of turns for all columns
	tooSlow  = 2  // ratio of estimates at which the other reduction goes on
)

// loops returns the pairs of dimension 1 of a 3D box. It reduces in homology or in cohomology, whichever has less work
// left, because either may take more than a hundred times as long as the other. The error is bench.TooMuch.
func (j *job) loops(low, high *forest) ([]uint64, *pairs.Chains, error) {
	b, edges, squares, tile := low.box, low.cells(), high.cells(), cmp.Or(j.tile, tileSide)
	r := b.newReduction(false, squares, edges, low.parent, tile)
	other := b.newReduction(true, edges, squares, high.parent, tile)
	room := b.newRoom(j.memory, len(edges))
	r.room, other.room = room, room
	turn := func(r *reduction) { r.run(len(edges)/turns+1, len(edges)+len(b.key)/turns) }
	switch j.only {
	case homology:
		other = nil
	case cohomology:
		r, other = other, nil
	default:
		turn(r)
		turn(other)
	}
	for len(r.queue) > 0 && !room.isFull() {
		if other != nil && r.left() > tooSlow*other.left() {
			r, other = other, r
		}
		turn(r)
	}
	if room.isFull() {
		return nil, nil, bench.TooMuch{Need: room.memory + max(1, room.memory/7), Limit: room.memory,
			Sum: fmt.Sprintf("chains of %d of %d pairs of dimension 1", len(edges)-len(r.queue), len(edges))}
	}
	return r.pairs(), r.chains(j.threads), nil
}
