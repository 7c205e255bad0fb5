package simplicial

import (
	"cmp"
	"slices"

	"eccbench/internal/crew"
)

// Faces are all simplices of a complex, numbered within their dimension: those of the greatest
// dimension in the order in which they are given, others in the lexicographic order of their
// vertices.
type Faces struct {
	// Vertices[d] are the d+1 vertices of each simplex, ascending.
	Vertices [][]uint32
	// Boundary[d] are the d+1 faces of each simplex: at d+1 times its number + k, the one
	// without its vertex k, which is in its boundary with the sign (-1)^k. Nil for vertices.
	Boundary [][]uint32
}

// Counts are how many simplices there are of each dimension.
func (f *Faces) Counts() []int64 {
	n := make([]int64, len(f.Vertices))
	for d := range n {
		n[d] = f.Count(d)
	}
	return n
}

// Count is how many simplices there are of a dimension.
func (f *Faces) Count(d int) int64 { return int64(len(f.Vertices[d]) / (d + 1)) }

// NewFaces numbers the simplices of a complex on some cores.
func NewFaces(c *Complex, cores int) *Faces {
	n := len(c.Tops)
	f := &Faces{Vertices: make([][]uint32, n), Boundary: make([][]uint32, n)}
	if n == 0 {
		return f
	}
	f.Vertices[n-1] = Distinct(c.Tops[n-1], n-1, c.Vertices, cores)
	for d := n - 2; d >= 0; d-- {
		f.Vertices[d], f.Boundary[d+1] = Below(f.Vertices[d+1], c.Tops[d], d, c.Vertices, cores)
	}
	return f
}

// Below is the simplices of dimension d, each once, with ascending vertices and in lexicographic
// order: those that are given, and the faces of cells of the next higher dimension, whose
// vertices ascend. The boundary are the faces of each cell as in Faces.
func Below(cells, given []uint32, d, vertices, cores int) (list, boundary []uint32) {
	boundary = make([]uint32, len(cells))
	return number(cells, ascending(given, d+1), d, vertices, boundary, cores), boundary
}

// Distinct is simplices of dimension d with ascending vertices, each once, in the order in
// which they come first.
func Distinct(tops []uint32, d, vertices, cores int) []uint32 {
	k := d + 1
	list := ascending(tops, k)
	id := make([]uint32, len(list)/k)
	number(nil, list, k-1, vertices, id, cores) // numbers of simplices, not of faces
	seen := make([]bool, len(id))
	out := list[:0]
	for i, to := range id {
		if !seen[to] {
			seen[to] = true
			out = append(out, list[i*k:(i+1)*k]...)
		}
	}
	return out
}

// ascending is the simplices of k vertices, each with its vertices in order.
func ascending(tops []uint32, k int) []uint32 {
	list := slices.Clone(tops)
	for at := 0; at < len(list); at += k {
		ascend(list[at : at+k])
	}
	return list
}

// ascend sorts a few vertices.
func ascend(s []uint32) {
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

// A record is a simplex on its way to its number: its vertices but the least, and where the
// number goes. The vertices of one of up to three are in key, those of others are found at
// where they come from.
type record struct {
	key  uint64
	from uint32
}

// A numbering is the simplices of one dimension while they are numbered: those that are given,
// and faces of those of the next higher dimension.
type numbering struct {
	above, given []uint32
	k            int // vertices of each
	records      []record
	start        []uint32 // of the records with each least vertex
}

// fewRecords is how many records one core numbers as soon as several, and mostCores how many
// have tables of the vertices.
const fewRecords, mostCores = 1 << 15, 16

// number lists the simplices of dimension d that are given or faces of those of dimension d+1, all
// with ascending vertices, each once and in lexicographic order, and writes the number of each
// face to ids: at place (d+2)·simplex + vertex left out, those of given ones behind. Cores take
// parts of the simplices, then of the least vertices; the numbers are the same however many they
// are.
func number(above, given []uint32, d, vertices int, ids []uint32, cores int) []uint32 {
	n := numbering{above: above, given: given, k: d + 1}
	total := len(above) + len(given)/n.k // a simplex above has as many faces as vertices
	if cores = min(cores, mostCores); total < fewRecords {
		cores = 1
	}
	next := make([][]uint32, cores)
	spread(cores, func(core int) {
		count := make([]uint32, vertices)
		n.each(core, cores, func(_ uint32, s []uint32) { count[s[0]]++ })
		next[core] = count
	})
	n.start = make([]uint32, vertices+1)
	at := uint32(0)
	for v := range vertices {
		n.start[v] = at
		for core := range next {
			at, next[core][v] = at+next[core][v], at
		}
	}
	n.start[vertices] = at
	n.records = make([]record, total)
	spread(cores, func(core int) {
		next := next[core]
		n.each(core, cores, func(from uint32, s []uint32) {
			r := record{from: from}
			switch n.k {
			case 1:
			case 2:
				r.key = uint64(s[1])
			default:
				r.key = uint64(s[1])<<32 | uint64(s[2])
			}
			n.records[next[s[0]]] = r
			next[s[0]]++
		})
	})
	// Parts of the vertices that have about as many records.
	ends := make([]int, cores+1)
	for core := range cores {
		part, _ := slices.BinarySearch(n.start, uint32(total*core/cores))
		ends[core] = min(part, vertices)
	}
	ends[0], ends[cores] = 0, vertices
	lists := make([][]uint32, cores)
	spread(cores, func(core int) { lists[core] = n.list(ends[core], ends[core+1]) })
	spread(cores, func(core int) {
		before := 0
		for _, list := range lists[:core] {
			before += len(list) / n.k
		}
		count := uint32(before)
		n.distinct(ends[core], ends[core+1], func(_ int, r record, first bool) {
			if first {
				count++
			}
			if int(r.from) < len(ids) {
				ids[r.from] = count - 1
			}
		})
	})
	return slices.Concat(lists...)
}

// spread runs a function on each of some cores.
func spread(cores int, f func(core int)) {
	if cores == 1 {
		f(0)
		return
	}
	var group crew.Group
	for core := range cores {
		group.Go(func() { f(core) })
	}
	group.Wait()
}

// vertex is vertex i of the simplex of a record.
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

// compare is the order of two simplices with the same least vertex.
func (n *numbering) compare(a, b record) int {
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	for i := 3; i < n.k; i++ {
		if c := cmp.Compare(n.vertex(a.from, i), n.vertex(b.from, i)); c != 0 {
			return c
		}
	}
	return 0
}

// list sorts the records with some least vertices, and lists their simplices.
func (n *numbering) list(lo, hi int) []uint32 {
	out := make([]uint32, 0, int(n.start[hi]-n.start[lo])*n.k/2)
	for v := lo; v < hi; v++ {
		bucket := n.records[n.start[v]:n.start[v+1]]
		switch {
		case n.k > 3:
			slices.SortFunc(bucket, n.compare)
		case n.k > 1:
			sortKeys(bucket)
		}
	}
	n.distinct(lo, hi, func(v int, r record, first bool) {
		switch {
		case !first:
		case n.k == 1:
			out = append(out, uint32(v))
		case n.k == 2:
			out = append(out, uint32(v), uint32(r.key))
		case n.k == 3:
			out = append(out, uint32(v), uint32(r.key>>32), uint32(r.key))
		default:
			for i := range n.k {
				out = append(out, n.vertex(r.from, i))
			}
		}
	})
	return out
}

// distinct calls f with the sorted records with some least vertices, and says which are the first
// of a simplex.
func (n *numbering) distinct(lo, hi int, f func(v int, r record, first bool)) {
	for v := lo; v < hi; v++ {
		bucket := n.records[n.start[v]:n.start[v+1]]
		for i, r := range bucket {
			f(v, r, i == 0 || r.key != bucket[i-1].key || n.k > 3 && n.compare(r, bucket[i-1]) != 0)
		}
	}
}

// each calls f with a core's part of the faces and of the given simplices, each with the place of
// its number.
func (n *numbering) each(core, cores int, f func(from uint32, s []uint32)) {
	var face [MaxDim + 1]uint32
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

// sortKeys sorts the few records of a bucket by their keys.
func sortKeys(list []record) {
	if len(list) > 48 {
		slices.SortFunc(list, func(a, b record) int {
			switch {
			case a.key < b.key:
				return -1
			case a.key > b.key:
				return 1
			}
			return 0
		})
		return
	}
	for i := 1; i < len(list); i++ {
		r := list[i]
		j := i
		for ; j > 0 && list[j-1].key > r.key; j-- {
			list[j] = list[j-1]
		}
		list[j] = r
	}
}
