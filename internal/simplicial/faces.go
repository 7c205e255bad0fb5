package simplicial

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/pool"
)

// Faces are all simplices of a complex, numbered within their dimension. Those of the greatest
// dimension keep the given order; others are in the lexicographic order of their vertices.
type Faces struct {
	// Vertices[d] are the d+1 vertices of each simplex, ascending.
	Vertices [][]uint32
	// Boundary[d] are the d+1 faces of each simplex, nil for vertices. Face k of simplex i, at index
	// (d+1)·i + k, lacks vertex k and has the sign (-1)^k in the boundary.
	Boundary [][]uint32
}

// Counts returns the number of simplices of each dimension.
func (f *Faces) Counts() []int64 {
	n := make([]int64, len(f.Vertices))
	for d := range n {
		n[d] = f.Count(d)
	}
	return n
}

// Count returns the number of simplices of a dimension.
func (f *Faces) Count(d int) int64 { return int64(len(f.Vertices[d]) / (d + 1)) }

// NewFaces numbers the simplices of a complex on some cores.
func NewFaces(c *Complex, cores int) *Faces { return FacesIn(nil, c, cores) }

// FacesIn is NewFaces with memory of a pool.
func FacesIn(p *pool.Pool, c *Complex, cores int) *Faces {
	n := len(c.Tops)
	f := &Faces{Vertices: make([][]uint32, n), Boundary: make([][]uint32, n)}
	if n == 0 {
		return f
	}
	f.Vertices[n-1] = Distinct(p, c.Tops[n-1], n-1, c.Vertices, cores)
	for d := n - 2; d >= 0; d-- {
		f.Vertices[d], f.Boundary[d+1] = Below(p, f.Vertices[d+1], c.Tops[d], d, c.Vertices, cores)
	}
	return f
}

// countFaces counts the simplices of a complex by dimension.
func countFaces(c *Complex, cores int) []int64 {
	counts := make([]int64, len(c.Tops))
	if Scattered(c) { // neighbours are then near each other in memory
		c = NumberBreadthFirst(nil, c, cores)
	}
	eachList(c, cores, func(d int, list []uint32) { counts[d] = int64(len(list) / (d + 1)) })
	return counts
}

// eachList calls f with the simplices of each dimension as in NewFaces, from the greatest down. It
// makes no lists of boundaries.
func eachList(c *Complex, cores int, f func(d int, list []uint32)) {
	p, above := new(pool.Pool), []uint32(nil)
	for d := c.Dim(); d >= 0; d-- {
		given := ascending(p, c.Tops[d], d+1)
		list := number(p, above, given, d, c.Vertices, nil, cores)
		pool.Give(p, given)
		pool.Give(p, above)
		above = list
		f(d, above)
	}
}

// Below returns the simplices of dimension d, each once, with ascending vertices and in
// lexicographic order. They are the given ones, and the faces of cells of the next higher
// dimension, whose vertices ascend. boundary lists the faces of each cell as in Faces.
func Below(p *pool.Pool, cells, given []uint32, d, vertices, cores int) (list, boundary []uint32) {
	boundary = pool.Take[uint32](p, len(cells))
	given = ascending(p, given, d+1)
	list = number(p, cells, given, d, vertices, boundary, cores)
	pool.Give(p, given)
	return list, boundary
}

// Distinct returns the simplices of dimension d with ascending vertices, without duplicates, in the
// order of their first occurrence.
func Distinct(p *pool.Pool, tops []uint32, d, vertices, cores int) []uint32 {
	return DistinctIn(p, append(pool.Take[uint32](p, len(tops))[:0], tops...), d, vertices, cores)
}

// DistinctIn is Distinct of a list that is overwritten.
func DistinctIn(p *pool.Pool, list []uint32, d, vertices, cores int) []uint32 {
	k := d + 1
	ascend(list, k)
	n, cores := newNumbering(p, nil, list, k, vertices, cores)
	repeats := n.repeats(cores)
	n.free(p)
	if len(repeats) == 0 {
		return list
	}
	out := list[:0]
	for i := range uint32(len(list) / k) {
		if len(repeats) > 0 && repeats[0] == i {
			repeats = repeats[1:]
		} else {
			out = append(out, list[int(i)*k:][:k]...)
		}
	}
	return out
}

// ascending returns the simplices of k vertices, each with its vertices in order.
func ascending(p *pool.Pool, tops []uint32, k int) []uint32 {
	list := pool.Take[uint32](p, len(tops))
	copy(list, tops)
	ascend(list, k)
	return list
}

// ascend sorts the vertices of each simplex of k.
func ascend(list []uint32, k int) {
	for ; len(list) >= k; list = list[k:] {
		s := list[:k]
		for i, v := range s {
			for j, w := range s[:i] { // without a branch, which would be unpredictable
				s[j], v = min(v, w), max(v, w)
			}
			s[i] = v
		}
	}
}

// A numbering is the numbering of the simplices of one dimension: the given ones, and the faces of
// the next higher dimension.
type numbering struct {
	above, given []uint32
	k            int  // vertices of each
	width        uint // bits of a vertex
	// entries are the simplices by their least vertex. Entry 2·c is the faces of cell c that have its
	// least vertex, 2·c+1 is the face that lacks it. The given simplices follow.
	entries []uint32
	start   []uint32      // start[v] is the index of the first entry with least vertex v
	touched atomic.Uint32 // of readAhead, so that it is done
}

// fewRecords is the number of records below which one core is as fast as several. mostCores limits
// the cores, because each has a table of the vertices.
const fewRecords, mostCores = 1 << 15, 16

// atOnce is the number of entries that a core sorts at once, so that their records stay in its cache.
const atOnce = 1 << 12

// number lists the simplices of dimension d, without duplicates and in lexicographic order: the
// given ones, and the faces of the simplices of dimension d+1. All have ascending vertices. It
// writes the number of each face to ids at (d+2)·simplex + omitted vertex. Cores divide the
// simplices, and later the least vertices; the result is independent of their number. Without ids,
// only the list is made.
func number(p *pool.Pool, above, given []uint32, d, vertices int, ids []uint32, cores int) []uint32 {
	n, cores := newNumbering(p, above, given, d+1, vertices, cores)
	defer n.free(p)
	if d == 0 {
		return n.points(p, ids, cores)
	}
	return n.simplices(p, ids, cores)
}

// newNumbering makes the entries, and returns on how many of the cores to continue.
func newNumbering(p *pool.Pool, above, given []uint32, k, vertices, cores int) (*numbering, int) {
	n := &numbering{above: above, given: given, k: k, width: uint(bits.Len(uint(vertices - 1)))}
	if cores = min(cores, mostCores); len(above)+len(given)/k < fewRecords {
		cores = 1
	}
	next := make([][]uint32, cores)
	for core := range next {
		next[core] = pool.Zeros[uint32](p, vertices)
	}
	crew.Each(cores, func(core int) {
		next := next[core]
		n.each(core, cores, func(least, _ uint32) { next[least]++ })
	})
	n.start = pool.Take[uint32](p, vertices+1)
	crew.Starts(next, n.start)
	n.entries = pool.Take[uint32](p, int(n.start[vertices]))
	crew.Each(cores, func(core int) {
		next := next[core]
		n.each(core, cores, func(least, entry uint32) {
			n.entries[next[least]] = entry
			next[least]++
		})
	})
	for _, next := range next {
		pool.Give(p, next)
	}
	return n, cores
}

// free returns the memory to the pool.
func (n *numbering) free(p *pool.Pool) {
	pool.Give(p, n.start)
	pool.Give(p, n.entries)
}

// sections calls f with ranges of least vertices that have about atOnce entries.
func (n *numbering) sections(cores int, f func(core, at, lo, hi int)) {
	count := n.sectionCount()
	first := func(at int) int {
		v, _ := slices.BinarySearch(n.start, uint32(len(n.entries)*at/count))
		return v
	}
	crew.InTurn(cores, count, func(core, at int) {
		lo, hi := first(at), len(n.start)-1
		if at < count-1 {
			hi = first(at + 1)
		}
		n.touched.Add(n.readAhead(n.entries[n.start[lo]:n.start[hi]]))
		f(core, at, lo, hi)
	})
}

// readAhead reads the cells of entries, because these cache misses overlap.
func (n *numbering) readAhead(entries []uint32) (sum uint32) {
	k := n.k + 1
	for _, e := range entries {
		if at := int(e/2) * k; at < len(n.above) {
			sum += n.above[at]
		}
	}
	return sum
}

func (n *numbering) sectionCount() int { return len(n.entries)/atOnce + 1 }

// simplices returns the list of simplices, and writes numbers to ids.
func (n *numbering) simplices(p *pool.Pool, ids []uint32, cores int) []uint32 {
	turn := make([]chan struct{}, n.sectionCount()+1) // closed when the list has all sections before
	for at := range turn {
		turn[at] = make(chan struct{})
	}
	close(turn[0])
	list, all := pool.Take[uint32](p, 0), make([]section, cores)
	n.sections(cores, func(core, at, lo, hi int) {
		s, before := &all[core], uint32(0)
		func() {
			defer close(turn[at+1])
			s.number(n, lo, hi, len(ids) > 0)
			<-turn[at]
			before = uint32(len(list) / n.k)
			if length := len(list) + len(s.list); length > cap(list) {
				longer := pool.Take[uint32](p, n.expected(length, hi))[:len(list)]
				copy(longer, list)
				pool.Give(p, list)
				list = longer
			}
			list = append(list, s.list...)
		}()
		for _, own := range s.numbers {
			if int(own.from) < len(ids) {
				ids[own.from] = before + own.number
			}
		}
	})
	return list
}

// repeats returns the given simplices, by index, that are equal to an earlier one.
func (n *numbering) repeats(cores int) []uint32 {
	all, lists := make([]section, cores), make([][]uint32, n.sectionCount())
	n.sections(cores, func(core, at, lo, hi int) {
		s := &all[core]
		for v := lo; v < hi; v++ {
			s.sort(n, v, true)
			for i, r := range s.records {
				if i > 0 && s.isSame(n, r, s.records[i-1]) {
					lists[at] = append(lists[at], s.from[s.index(r)])
				}
			}
		}
	})
	list := slices.Concat(lists...)
	slices.Sort(list)
	return list
}

// expected estimates the length of the whole list from that of the simplices with least vertices below v.
func (n *numbering) expected(length, v int) int {
	return length + int(float64(length)*1.05*float64(len(n.entries)-int(n.start[v]))/float64(n.start[v]))
}

// A section is the simplices with some least vertices.
type section struct {
	list    []uint32
	numbers []numbered
	records []record
	from    []uint32 // of each record of a least vertex, in the order of the entries, its index in ids
	low     uint     // bits of an index in from
	whole   bool     // all vertices of a simplex fit its record
}

// A numbered is the number of a simplex within its section, with its index in ids.
type numbered struct{ from, number uint32 }

// A record is a sort key for a simplex. Its upper bits are the vertices after the least one, as far
// as they fit. Its lower bits are an index in from.
type record uint64

// number lists the simplices of a range of least vertices, and numbers them on request.
func (s *section) number(n *numbering, lo, hi int, numbers bool) {
	s.list, s.numbers = s.list[:0], s.numbers[:0]
	count := uint32(0)
	for v := lo; v < hi; v++ {
		if n.start[v] == n.start[v+1] {
			continue
		}
		s.sort(n, v, numbers)
		for i, r := range s.records {
			if i == 0 || !s.isSame(n, r, s.records[i-1]) {
				count++
				s.list = append(s.list, uint32(v))
				s.vertices(n, r)
			}
			if numbers {
				s.numbers = append(s.numbers, numbered{s.from[s.index(r)], count - 1})
			}
		}
	}
}

// sort makes the records of a least vertex, and sorts them by their vertices and then by index. The
// index is optional.
func (s *section) sort(n *numbering, v int, index bool) {
	entries := n.entries[n.start[v]:n.start[v+1]]
	rest := uint(n.k-1) * n.width
	s.low = uint(bits.Len(uint(n.k * len(entries))))
	if s.whole = rest+s.low <= 64; !index && rest <= 64 {
		s.low, s.whole = 0, true
	}
	s.expand(n, entries)
	if s.whole {
		slices.Sort(s.records)
	} else {
		slices.SortFunc(s.records, func(a, b record) int { return cmp.Or(s.compare(n, a, b), cmp.Compare(a, b)) })
	}
}

// isSame reports whether two records of a least vertex are of the same simplex.
func (s *section) isSame(n *numbering, a, b record) bool {
	return (a^b)>>s.low == 0 && (s.whole || s.compare(n, a, b) == 0)
}

// expand makes the records of the entries of a least vertex.
func (s *section) expand(n *numbering, entries []uint32) {
	s.records, s.from = s.records[:0], s.from[:0]
	cells, k := uint32(len(n.above)/(n.k+1)), n.k
	var face [MaxDim]uint32
	for _, e := range entries {
		if e >= 2*cells {
			e -= 2 * cells
			s.add(n, uint32(len(n.above))+e, n.given[int(e)*k+1:][:k-1])
			continue
		}
		from := e / 2 * uint32(k+1)
		cell := n.above[from:][:k+1]
		if e%2 == 1 {
			s.add(n, from, cell[2:])
			continue
		}
		copy(face[:], cell[2:])
		for out := 1; out <= k; out++ {
			if out > 1 {
				face[out-2] = cell[out-1]
			}
			s.add(n, from+uint32(out), face[:k-1])
		}
	}
}

// add adds the record of a simplex with these vertices after the least one.
func (s *section) add(n *numbering, from uint32, vertices []uint32) {
	key, left := uint64(0), 64-s.low
	for _, v := range vertices {
		if !s.whole && left < n.width {
			key = key<<left | uint64(v)>>(n.width-left)
			break
		}
		key = key<<(n.width&63) | uint64(v)
		left -= n.width
	}
	s.records = append(s.records, record(key<<s.low|uint64(len(s.from))&(1<<s.low-1)))
	s.from = append(s.from, from)
}

// index returns the index of a record in from.
func (s *section) index(r record) uint32 { return uint32(r & (1<<s.low - 1)) }

// vertices appends the vertices of a record after the least one to the list.
func (s *section) vertices(n *numbering, r record) {
	for i := 1; i < n.k; i++ {
		if s.whole {
			s.list = append(s.list, uint32(r>>s.low>>(uint(n.k-1-i)*n.width))&(1<<n.width-1))
		} else {
			s.list = append(s.list, n.vertex(s.from[s.index(r)], i))
		}
	}
}

// compare orders records of a least vertex by their simplices.
func (s *section) compare(n *numbering, a, b record) int {
	if c := cmp.Compare(a>>s.low, b>>s.low); c != 0 {
		return c
	}
	for i := 1; i < n.k; i++ {
		if c := cmp.Compare(n.vertex(s.from[s.index(a)], i), n.vertex(s.from[s.index(b)], i)); c != 0 {
			return c
		}
	}
	return 0
}

// points numbers the vertices, which need no sorting.
func (n *numbering) points(p *pool.Pool, ids []uint32, cores int) []uint32 {
	rank := pool.Take[uint32](p, len(n.start)-1)
	defer pool.Give(p, rank)
	list := pool.Take[uint32](p, len(rank))[:0]
	for v := range rank {
		rank[v] = uint32(len(list))
		if n.start[v+1] > n.start[v] {
			list = append(list, uint32(v))
		}
	}
	crew.Each(cores, func(core int) {
		for from := len(ids) * core / cores; from < len(ids)*(core+1)/cores; from++ {
			ids[from] = rank[n.vertex(uint32(from), 0)]
		}
	})
	return list
}

// vertex returns vertex i of the simplex at an index of ids, after which the given ones follow.
func (n *numbering) vertex(from uint32, i int) uint32 {
	if int(from) >= len(n.above) {
		return n.given[(int(from)-len(n.above))*n.k+i]
	}
	cell, out := int(from)/(n.k+1), int(from)%(n.k+1)
	if i >= out {
		i++
	}
	return n.above[cell*(n.k+1)+i]
}

// each calls f with a core's share of the entries, each with its least vertex.
func (n *numbering) each(core, cores int, f func(least, entry uint32)) {
	k := n.k
	cells, given := len(n.above)/(k+1), len(n.given)/k
	for cell := cells * core / cores; cell < cells*(core+1)/cores; cell++ {
		f(n.above[cell*(k+1)], uint32(2*cell))
		f(n.above[cell*(k+1)+1], uint32(2*cell+1))
	}
	for i := given * core / cores; i < given*(core+1)/cores; i++ {
		f(n.given[i*k], uint32(2*cells+i))
	}
}
