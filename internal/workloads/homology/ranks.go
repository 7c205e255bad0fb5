package homology

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/ranks"
)

// The code below uses only the list of given simplices of package simplicial. So it is an
// independent witness for implementations that number faces by that package.

// A chains is all simplices of a complex with their boundaries, as numbers that come in no
// order that means anything.
type chains struct {
	count    []int64
	vertices [][]uint32 // of each simplex, by dimension
	boundary [][]uint32 // of each simplex, its faces; of face k the sign is (-1)^k
}

// chainsOf enumerates the faces of a complex, from the given simplices down.
func chainsOf(p *Problem) *chains {
	dims := len(p.Tops)
	c := &chains{make([]int64, dims), make([][]uint32, dims), make([][]uint32, dims)}
	swept := sweep(p)
	var above []uint32
	for d := dims - 1; d >= 0; d-- {
		given := slices.Clone(p.Tops[d])
		for s := range slices.Chunk(given, d+1) {
			for i, v := range s {
				if swept != nil {
					s[i] = swept[v]
				}
				for j := i; j > 0 && s[j] < s[j-1]; j-- {
					s[j], s[j-1] = s[j-1], s[j]
				}
			}
		}
		m := meeting{size: d + 1, given: given, above: above, cores: runtime.GOMAXPROCS(0)}
		list, faces := m.distinct(p.Vertices)
		if d+1 < dims {
			c.boundary[d+1] = faces
		}
		c.count[d], c.vertices[d], above = int64(len(list)/(d+1)), list, list
	}
	return c
}

// sweep returns numbers of the vertices in the order of their points, or nil without points.
// Elimination stays local in that order, whatever the order of the file.
func sweep(p *Problem) []uint32 {
	if len(p.Points) == 0 {
		return nil
	}
	order := make([]uint32, p.Vertices)
	for v := range order {
		order[v] = uint32(v)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		x, y := p.Points[3*int(a):][:3], p.Points[3*int(b):][:3]
		return cmp.Or(cmp.Compare(x[2], y[2]), cmp.Compare(x[1], y[1]), cmp.Compare(x[0], y[0]))
	})
	to := make([]uint32, p.Vertices)
	for at, v := range order {
		to[v] = uint32(at)
	}
	return to
}

// A meeting is the simplices of a dimension: the given ones and then the faces of those above it,
// each as often as it occurs. Buckets by the least vertex fit the caches.
type meeting struct {
	size         int // vertices of each
	given, above []uint32
	cores        int

	shift    uint     // of a least vertex, to its bucket
	start    []uint32 // of each bucket
	vertices []uint32 // by bucket
	index    []uint32 // by bucket: which simplex it is
	number   []uint32 // by bucket: the same for the same vertices, from 0 on in each bucket
}

// perBucket is the intended number of simplices in a bucket.
const perBucket = 1 << 13

// distinct numbers the simplices, the same for the same vertices. It returns the vertices of each
// number, and the numbers of the faces.
func (m *meeting) distinct(vertices int) (list, faces []uint32) {
	n := len(m.given)/m.size + len(m.above)
	if uint64(n) >= math.MaxUint32 {
		panic(fmt.Sprintf("%d faces: want at most 2³²", n))
	}
	for vertices>>m.shift > n/perBucket {
		m.shift++
	}
	buckets := vertices>>m.shift + 1
	m.start, m.vertices = make([]uint32, buckets+1), make([]uint32, n*m.size)
	m.index, m.number = make([]uint32, n), make([]uint32, n)
	next := make([][]uint32, m.cores)
	crew.Each(m.cores, func(core int) {
		own := make([]uint32, buckets)
		m.each(core, func(_ int, s, rest []uint32) { own[least(s, rest)>>m.shift]++ })
		next[core] = own
	})
	offsets(next, m.start)
	crew.Each(m.cores, func(core int) {
		own := next[core]
		m.each(core, func(i int, s, rest []uint32) {
			at := &own[least(s, rest)>>m.shift]
			to := m.vertices[int(*at)*m.size:][:m.size]
			copy(to[copy(to, s):], rest)
			m.index[*at] = uint32(i)
			*at++
		})
	})
	tables, count := make([][]uint32, m.cores), make([]uint32, buckets)
	crew.InTurn(m.cores, buckets, func(core, b int) { tables[core], count[b] = m.meet(b, tables[core]) })
	first := make([]uint32, buckets+1)
	offsets([][]uint32{count}, first)
	list, numbers := make([]uint32, int(first[buckets])*m.size), make([]uint32, n)
	crew.InTurn(m.cores, buckets, func(_, b int) {
		seen := uint32(0)
		for at := m.start[b]; at < m.start[b+1]; at++ {
			number := m.number[at]
			numbers[m.index[at]] = first[b] + number
			if number == seen {
				copy(list[int(first[b]+seen)*m.size:], m.at(at))
				seen++
			}
		}
	})
	return list, numbers[len(m.given)/m.size:]
}

// offsets replaces the counts by core and bucket with the places of the first, and start with those
// of the buckets. It is no part of package crew, because package simplicial uses that one.
func offsets(counts [][]uint32, start []uint32) {
	sum := uint32(0)
	for b := range start {
		start[b] = sum
		for core := 0; core < len(counts) && b < len(counts[core]); core++ {
			n := counts[core][b]
			counts[core][b], sum = sum, sum+n
		}
	}
}

func least(s, rest []uint32) uint32 {
	if len(s) > 0 {
		return s[0]
	}
	return rest[0]
}

// each visits a core's share of the simplices: their indices, and their vertices in two parts.
func (m *meeting) each(core int, visit func(i int, s, rest []uint32)) {
	n := len(m.given) / m.size
	for i := n * core / m.cores; i < n*(core+1)/m.cores; i++ {
		visit(i, m.given[i*m.size:][:m.size], nil)
	}
	k := m.size + 1
	above := len(m.above) / k
	for i := above * core / m.cores; i < above*(core+1)/m.cores; i++ {
		s := m.above[i*k:][:k]
		for omit := range s {
			visit(n+i*k+omit, s[:omit], s[omit+1:])
		}
	}
}

// at returns the vertices of a simplex by its place.
func (m *meeting) at(place uint32) []uint32 { return m.vertices[int(place)*m.size:][:m.size] }

// meet numbers the simplices of a bucket. The table has the place plus 1 of the first of each kind,
// and is probed linearly.
func (m *meeting) meet(b int, table []uint32) (_ []uint32, count uint32) {
	from, to := m.start[b], m.start[b+1]
	size := 1 << bits.Len(uint(2*(to-from)))
	if size > len(table) {
		table = make([]uint32, size)
	}
	places := table[:size]
	clear(places)
	for here := from; here < to; here++ {
		s, hash := m.at(here), uint64(0)
		for _, v := range s {
			hash = (hash ^ uint64(v)) * 0x9fb21c651e98df25
			hash ^= hash >> 32
		}
		at := int(hash) & (size - 1)
		for places[at] > 0 && !slices.Equal(m.at(places[at]-1), s) {
			at = (at + 1) & (size - 1)
		}
		if places[at] == 0 {
			places[at] = here + 1
			m.number[here] = count
			count++
			continue
		}
		m.number[here] = m.number[places[at]-1]
	}
	return table, count
}

// betti returns the Betti numbers over the field of p elements, by the ranks of the boundary
// matrices from the greatest dimension down. If a column of the dimension above begins with a
// simplex, the simplex ends a boundary, and its own column is in the span of others.
func (c *chains) betti(p int64) []int64 {
	rank := make([]int64, len(c.count)+1)
	var known []bool
	for d := len(c.count) - 1; d > 0; d-- {
		faces := c.boundary[d]
		rank[d], known = ranks.Of(c.count[d-1], c.count[d], p, func(i int64, list []ranks.Term) []ranks.Term {
			for k, f := range faces[int(i)*(d+1) : (int(i)+1)*(d+1)] {
				list = append(list, ranks.Term{Row: f, Times: int64(1 - 2*(k&1))})
			}
			return list
		}, known)
	}
	b := make([]int64, len(c.count))
	for d, n := range c.count {
		b[d] = n - rank[d] - rank[d+1]
	}
	return b
}
