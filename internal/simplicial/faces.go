package simplicial

import (
	"cmp"
	"math/bits"
	"slices"

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
	eachList(c, cores, func(d int, list []uint32) { counts[d] = int64(len(list) / (d + 1)) })
	return counts
}

// eachList calls f with the simplices of each dimension as in NewFaces, from the greatest down. It
// makes no lists of boundaries.
func eachList(c *Complex, cores int, f func(d int, list []uint32)) {
	var above []uint32
	for d := c.Dim(); d >= 0; d-- {
		above = number(nil, above, ascending(nil, c.Tops[d], d+1), d, c.Vertices, nil, cores)
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
	k := d + 1
	list := ascending(p, tops, k)
	id, seen := pool.Take[uint32](p, len(list)/k), pool.Zeros[bool](p, len(list)/k)
	pool.Give(p, number(p, nil, list, k-1, vertices, id, cores)) // numbers of simplices, not of faces
	out := list[:0]
	for i, to := range id {
		if !seen[to] {
			seen[to] = true
			out = append(out, list[i*k:(i+1)*k]...)
		}
	}
	pool.Give(p, id)
	pool.Give(p, seen)
	return out
}

// ascending returns the simplices of k vertices, each with its vertices in order.
func ascending(p *pool.Pool, tops []uint32, k int) []uint32 {
	list := pool.Take[uint32](p, len(tops))
	copy(list, tops)
	for at := 0; at < len(list); at += k {
		ascend(list[at : at+k])
	}
	return list
}

// ascend sorts a few vertices.
func ascend(s []uint32) {
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

// A record is a sort key for a simplex. Its upper bits are the vertices after the least one, as far
// as they fit. Its lower bits are the index of the simplex, which is also the index of its number
// in ids.
type record uint64

// A numbering is the numbering of the simplices of one dimension: the given ones, and the faces of
// the next higher dimension.
type numbering struct {
	above, given []uint32
	k            int  // vertices of each
	width        uint // bits of a vertex
	from         uint // bits of the index of a simplex
	records      []record
	start        []uint32 // start[v] is the index of the first record with least vertex v
}

// fewRecords is the number of records below which one core is as fast as several. mostCores limits
// the cores, because each has a table of the vertices.
const fewRecords, mostCores = 1 << 15, 16

// number lists the simplices of dimension d, without duplicates and in lexicographic order: the
// given ones, and the faces of the simplices of dimension d+1. All have ascending vertices. It
// writes the number of each face to ids at (d+2)·simplex + omitted vertex, and then the numbers of
// the given ones. Cores divide the simplices, and later the least vertices; the result is
// independent of their number. Without ids, only the list is made, in half the time for a shuffled
// complex.
func number(p *pool.Pool, above, given []uint32, d, vertices int, ids []uint32, cores int) []uint32 {
	n := newNumbering(above, given, d+1, vertices)
	if ids == nil && uint(d)*n.width <= 64 {
		n.from = 0 // a record has all vertices, and its index is not needed
	}
	total := len(above) + len(given)/n.k // a simplex above has as many faces as vertices
	if cores = min(cores, mostCores); total < fewRecords {
		cores = 1
	}
	next := make([][]uint32, cores)
	for core := range next {
		next[core] = pool.Zeros[uint32](p, vertices)
	}
	crew.Each(cores, func(core int) { n.count(core, cores, next[core]) })
	n.start = pool.Take[uint32](p, vertices+1)
	defer func() {
		for _, next := range append(next, n.start) {
			pool.Give(p, next)
		}
		pool.Give(p, n.records)
	}()
	crew.Starts(next, n.start)
	if n.k == 1 {
		return n.points(p, ids, cores)
	}
	n.records = pool.Take[record](p, total)
	crew.Each(cores, func(core int) {
		next := next[core]
		n.each(core, cores, func(from uint32, s []uint32) {
			n.records[next[s[0]]] = n.record(from, s)
			next[s[0]]++
		})
	})
	// Ranges of vertices with nearly equal numbers of records.
	ends := make([]int, cores+1)
	for core := range cores {
		ends[core], _ = slices.BinarySearch(n.start, uint32(total*core/cores))
	}
	ends[0], ends[cores] = 0, vertices
	counts := make([]int, cores)
	crew.Each(cores, func(core int) { counts[core] = n.sort(ends[core], ends[core+1]) })
	before, all := make([]int, cores), 0
	for core, count := range counts {
		before[core] = all
		all += count
	}
	list := pool.Take[uint32](p, all*n.k)
	crew.Each(cores, func(core int) { n.list(ends[core], ends[core+1], before[core], list, ids) })
	return list
}

func newNumbering(above, given []uint32, k, vertices int) *numbering {
	n := &numbering{above: above, given: given, k: k}
	n.width = uint(bits.Len(uint(vertices - 1)))
	n.from = uint(bits.Len(uint(len(above) + len(given)/k)))
	return n
}

// record returns the record of a simplex.
func (n *numbering) record(from uint32, s []uint32) record {
	key, left := uint64(0), 64-n.from
	for _, v := range s[1:] {
		if left < n.width {
			key = key<<left | uint64(v)>>(n.width-left)
			break
		}
		key = key<<n.width | uint64(v)
		left -= n.width
	}
	return record(key<<n.from | uint64(from)&(1<<n.from-1))
}

// whole reports whether all vertices of a simplex fit its record.
func (n *numbering) whole() bool { return uint(n.k-1)*n.width+n.from <= 64 }

// simplexOf returns the index of a record's simplex.
func (n *numbering) simplexOf(r record) uint32 { return uint32(r & (1<<n.from - 1)) }

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
		n.each(core, cores, func(from uint32, s []uint32) {
			if int(from) < len(ids) {
				ids[from] = rank[s[0]]
			}
		})
	})
	return list
}

// vertex returns vertex i of the simplex at an index.
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

// compare orders records with the same least vertex by their simplices, and equal simplices by
// their index.
func (n *numbering) compare(a, b record) int {
	if c := cmp.Compare(a>>n.from, b>>n.from); c != 0 {
		return c
	}
	for i := 1; i < n.k; i++ {
		if c := cmp.Compare(n.vertex(n.simplexOf(a), i), n.vertex(n.simplexOf(b), i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}

// isSameSimplex reports whether two records with the same upper bits are of the same simplex.
func (n *numbering) isSameSimplex(a, b record) bool {
	for i := 1; i < n.k; i++ {
		if n.vertex(n.simplexOf(a), i) != n.vertex(n.simplexOf(b), i) {
			return false
		}
	}
	return true
}

// sort sorts the records of a range of least vertices, and counts their distinct simplices.
func (n *numbering) sort(lo, hi int) (count int) {
	whole := n.whole()
	for v := lo; v < hi; v++ {
		bucket := n.records[n.start[v]:n.start[v+1]]
		if whole {
			slices.Sort(bucket)
		} else {
			slices.SortFunc(bucket, n.compare)
		}
		for i, r := range bucket {
			if i == 0 || (r^bucket[i-1])>>n.from > 0 || !whole && !n.isSameSimplex(r, bucket[i-1]) {
				count++
			}
		}
	}
	return count
}

// list writes the sorted simplices of a range of least vertices, with numbers from count on.
func (n *numbering) list(lo, hi, count int, list, ids []uint32) {
	whole := n.whole()
	for v := lo; v < hi; v++ {
		bucket := n.records[n.start[v]:n.start[v+1]]
		for i, r := range bucket {
			from := n.simplexOf(r)
			if i == 0 || (r^bucket[i-1])>>n.from > 0 || !whole && !n.isSameSimplex(r, bucket[i-1]) {
				s := list[count*n.k:][:n.k]
				s[0] = uint32(v)
				for i := range s[1:] {
					if whole {
						s[i+1] = uint32(r>>n.from>>(uint(n.k-2-i)*n.width)) & (1<<n.width - 1)
					} else {
						s[i+1] = n.vertex(from, i+1)
					}
				}
				count++
			}
			if int(from) < len(ids) {
				ids[from] = uint32(count - 1)
			}
		}
	}
}

// count counts the least vertices of a core's share of the faces and of the given simplices. Of the
// faces of a cell, only one lacks the cell's least vertex.
func (n *numbering) count(core, cores int, count []uint32) {
	k := n.k
	cells, given := len(n.above)/(k+1), len(n.given)/k
	for at := cells * core / cores * (k + 1); at < cells*(core+1)/cores*(k+1); at += k + 1 {
		count[n.above[at]] += uint32(k)
		count[n.above[at+1]]++
	}
	for at := given * core / cores * k; at < given*(core+1)/cores*k; at += k {
		count[n.given[at]]++
	}
}

// each calls f for a core's share of the faces and of the given simplices, each with its index in
// ids.
func (n *numbering) each(core, cores int, f func(from uint32, s []uint32)) {
	var face [MaxDim]uint32
	k := n.k
	cells := len(n.above) / (k + 1)
	for cell := cells * core / cores; cell < cells*(core+1)/cores; cell++ {
		s := n.above[cell*(k+1) : (cell+1)*(k+1)]
		copy(face[:], s[1:])
		for out := range k + 1 {
			if out > 0 {
				face[out-1] = s[out-1]
			}
			f(uint32(cell*(k+1)+out), face[:k])
		}
	}
	given := len(n.given) / k
	for at := given * core / cores; at < given*(core+1)/cores; at++ {
		f(uint32(len(n.above)+at), n.given[at*k:(at+1)*k])
	}
}
