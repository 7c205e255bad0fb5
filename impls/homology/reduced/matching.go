package reduced

import (
	"container/heap"
	"math/bits"
	"slices"

	"eccbench/internal/simplicial"
)

// none is the partner of an unpaired simplex.
const none = ^uint32(0)

// A queue is a set of simplices. The one with the least number is next, so that a search stays in
// the cache and the paths of a chain are short.
type queue struct {
	bits  []uint64
	least int // all words before are 0
}

// A matching is the pairs of a discrete Morse function. Simplices are removed in an order such that
// all faces of the larger simplex of a pair, except its partner, are removed before it.
type matching struct {
	faces    *simplicial.Faces
	cofaces  [][]uint32 // of dimension d: the cofaces of each simplex, starting at first
	first    [][]uint32
	left     [][]uint8  // number of remaining faces
	gone     [][]bool   // whether the simplex was removed
	up       [][]uint32 // the larger partner of the smaller simplex of a pair, else none
	when     [][]uint32 // order of removal of smaller partners and critical simplices
	critical [][]uint32
	clock    uint32
	queue    []queue // by dimension: simplices with one remaining face
}

func newMatching(f *simplicial.Faces) *matching {
	dims := len(f.Vertices)
	m := &matching{
		faces: f, cofaces: make([][]uint32, dims), first: make([][]uint32, dims), left: make([][]uint8, dims),
		gone: make([][]bool, dims),
		up:   make([][]uint32, dims), when: make([][]uint32, dims), critical: make([][]uint32, dims),
		queue: make([]queue, dims),
	}
	for d := range dims {
		n := f.Count(d)
		m.queue[d].bits = make([]uint64, n/64+1)
		m.gone[d], m.up[d], m.when[d], m.left[d] = make([]bool, n), slices.Repeat([]uint32{none}, int(n)), make([]uint32, n),
			slices.Repeat([]uint8{uint8(d + 1)}, int(n))
		m.first[d] = make([]uint32, n+1)
		if d == dims-1 {
			continue
		}
		above, first := f.Boundary[d+1], m.first[d]
		for _, face := range above {
			first[face]++
		}
		for i := range n {
			first[i+1] += first[i]
		}
		m.cofaces[d] = make([]uint32, len(above))
		for at, face := range slices.Backward(above) {
			first[face]--
			m.cofaces[d][first[face]] = uint32(at / (d + 2))
		}
	}
	return m
}

// pair removes all simplices. It removes pairs as long as a simplex has a single remaining face.
// Otherwise the next simplex of the lowest dimension is critical.
func (m *matching) pair() {
	for d := range m.gone {
		for i := range m.gone[d] {
			if m.gone[d][i] {
				continue
			}
			m.critical[d] = append(m.critical[d], uint32(i))
			m.take(d, uint32(i))
			m.drain()
		}
	}
}

// drain removes pairs until there are none. A removed pair lowers the number of faces only in its
// own dimensions and the next one. So lower dimensions need no second look.
func (m *matching) drain() {
	for d := 1; d < len(m.gone); d++ {
		for q := &m.queue[d]; q.least < len(q.bits); {
			word := &q.bits[q.least]
			if *word == 0 {
				q.least++
				continue
			}
			t := uint32(64*q.least + bits.TrailingZeros64(*word))
			*word &= *word - 1
			for _, s := range m.facesOf(d, t) {
				if !m.gone[d-1][s] { // at most one face remains
					m.up[d-1][s] = t
					m.gone[d][t] = true
					m.take(d-1, s)
					m.leave(d, t)
				}
			}
		}
	}
}

// take removes a simplex.
func (m *matching) take(d int, s uint32) {
	m.gone[d][s] = true
	m.when[d][s] = m.clock
	m.clock++
	m.leave(d, s)
}

// leave decrements the number of remaining faces of a removed simplex's cofaces.
func (m *matching) leave(d int, s uint32) {
	for _, t := range m.cofaces[d][m.first[d][s]:m.first[d][s+1]] {
		if m.left[d+1][t]--; m.left[d+1][t] == 1 {
			q := &m.queue[d+1]
			q.bits[t/64] |= 1 << (t % 64)
			q.least = min(q.least, int(t/64))
		}
	}
}

// A front is the simplices of a chain that must be replaced, the last removed first.
type front struct {
	list []uint32
	when []uint32
}

func (f *front) Len() int           { return len(f.list) }
func (f *front) Less(i, j int) bool { return f.when[f.list[i]] > f.when[f.list[j]] }
func (f *front) Swap(i, j int)      { f.list[i], f.list[j] = f.list[j], f.list[i] }
func (f *front) Push(v any)         { f.list = append(f.list, v.(uint32)) }
func (f *front) Pop() any {
	v := f.list[len(f.list)-1]
	f.list = f.list[:len(f.list)-1]
	return v
}

// boundary returns the boundary of the critical simplices of dimension d in the critical ones of
// dimension d−1. It replaces the smaller simplex of a pair by the rest of its partner's boundary,
// until only critical ones and larger partners remain.
func (m *matching) boundary(d int, p int64) []row {
	number := make(map[uint32]int32, len(m.critical[d-1]))
	for i, s := range m.critical[d-1] {
		number[s] = int32(i)
	}
	rows := make([]row, 0, len(m.critical[d]))
	f := &front{when: m.when[d-1]}
	chain := map[uint32]scalar{} // of the simplices in the front
	add := func(s uint32, times scalar) {
		if m.up[d-1][s] == none {
			if _, critical := number[s]; !critical {
				return // larger partner of a pair
			}
		}
		have, there := chain[s]
		chain[s] = have.plus(times, p)
		if !there {
			heap.Push(f, s)
		}
	}
	for _, c := range m.critical[d] {
		for k, s := range m.facesOf(d, c) {
			add(s, m.sign(k, p))
		}
		var r row
		for f.Len() > 0 {
			s := heap.Pop(f).(uint32)
			times := chain[s]
			delete(chain, s)
			if times.zero() {
				continue
			}
			t := m.up[d-1][s]
			if t == none {
				r = append(r, entry{number[s], times})
				continue
			}
			own := scalar{}
			for k, face := range m.facesOf(d, t) {
				if face == s {
					own = m.sign(k, p)
				}
			}
			times = times.times(own, p).negative(p) // an incidence is its own inverse
			for k, face := range m.facesOf(d, t) {
				if face != s {
					add(face, times.times(m.sign(k, p), p))
				}
			}
		}
		r.sort()
		rows = append(rows, r)
	}
	return rows
}

// facesOf returns the faces of a simplex.
func (m *matching) facesOf(d int, t uint32) []uint32 {
	return m.faces.Boundary[d][int(t)*(d+1) : int(t+1)*(d+1)]
}

// sign returns the incidence of the face without vertex k.
func (m *matching) sign(k int, p int64) scalar {
	if k%2 == 1 {
		return one().negative(p)
	}
	return one()
}
