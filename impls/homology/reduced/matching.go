package reduced

import (
	"container/heap"
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/pool"
)

// A level is the cells of a dimension that are in no pair with a larger one, their faces, and the
// pairs of both in a discrete Morse function. The faces of a cell are paired or critical after it.
type level struct {
	k        int // faces of each cell
	boundary []uint32
	faces    []face
	removed  []uint32 // the faces of pairs, in order
	critical []uint32 // cells without a pair
}

// A face is a face of cells that remain.
type face struct {
	cells uint32 // their exclusive or; the cell of a pair
	left  uint32 // their number, or paired
}

// paired is in place of the number of cells of a face in a pair.
const paired = math.MaxUint32

// A queue is a set of faces. The one with the least number is next, so that a search stays in the
// cache and the paths of a chain are short.
type queue struct {
	bits  []uint64
	least int // all words before are 0
}

func (q *queue) add(f uint32) {
	q.bits[f/64] |= 1 << (f % 64)
	q.least = min(q.least, int(f/64))
}

// next removes the least face.
func (q *queue) next() (f uint32, ok bool) {
	for ; q.least < len(q.bits); q.least++ {
		if word := &q.bits[q.least]; *word != 0 {
			f = uint32(64*q.least + bits.TrailingZeros64(*word))
			*word &= *word - 1
			return f, true
		}
	}
	return 0, false
}

// collapse removes all cells of k faces each: a cell together with a face that no other one has, as
// long as there is such a face, and else the next cell alone.
func collapse(p *pool.Pool, boundary []uint32, k, faces int) *level {
	l := &level{k: k, boundary: boundary, faces: pool.Zeros[face](p, faces)}
	cells := len(boundary) / k
	for t := range cells {
		for _, f := range l.of(uint32(t)) {
			l.faces[f].cells ^= uint32(t)
			l.faces[f].left++
		}
	}
	gone, q := make([]uint64, (cells+63)/64), &queue{bits: make([]uint64, (faces+63)/64)}
	for f := range l.faces {
		if l.faces[f].left == 1 {
			q.add(uint32(f))
		}
	}
	q.least = 0
	remove := func(t uint32) {
		gone[t/64] |= 1 << (t % 64)
		for _, f := range l.of(t) {
			l.faces[f].cells ^= t
			if l.faces[f].left--; l.faces[f].left == 1 {
				q.add(f)
			}
		}
	}
	l.removed = pool.Take[uint32](p, min(cells, faces))[:0]
	for next := range uint32(cells) {
		for f, ok := q.next(); ok; f, ok = q.next() {
			if l.faces[f].left == 1 {
				t := l.faces[f].cells
				remove(t)
				l.faces[f] = face{t, paired}
				l.removed = append(l.removed, f)
			}
		}
		if gone[next/64]>>(next%64)&1 == 0 {
			l.critical = append(l.critical, next)
			remove(next)
		}
	}
	return l
}

// span pairs edges of a spanning forest with vertices, and leaves one vertex of each tree. The
// boundary of the other edges is 0.
func span(p *pool.Pool, boundary []uint32, vertices int) *level {
	l := &level{k: 2, boundary: boundary, faces: pool.Zeros[face](p, vertices)}
	parents := crew.Parents(pool.Take[uint32](p, vertices))
	for v := range parents {
		parents[v] = uint32(v)
	}
	for e := range uint32(len(boundary) / 2) {
		if !parents.Unite(boundary[2*e], boundary[2*e+1]) {
			l.critical = append(l.critical, e)
		}
	}
	for v := range parents {
		if parents[v] != uint32(v) {
			l.faces[v].left = paired
		}
	}
	pool.Give(p, parents)
	return l
}

// free returns the memory to the pool.
func (l *level) free(p *pool.Pool) {
	pool.Give(p, l.boundary)
	pool.Give(p, l.faces)
	pool.Give(p, l.removed)
}

// of returns the faces of a cell.
func (l *level) of(t uint32) []uint32 { return l.boundary[int(t)*l.k:][:l.k] }

// unpaired returns those simplices, of some vertices each, whose faces are in no pair. It reuses the list.
func (l *level) unpaired(list []uint32, vertices int) []uint32 {
	n := 0
	for f := range l.faces {
		if l.faces[f].left != paired {
			for i := range vertices { // copy has a cost for each call
				list[n+i] = list[f*vertices+i]
			}
			n += vertices
		}
	}
	return list[:n]
}

// A front is the simplices of a chain that must be replaced, the first removed first.
type front struct {
	list []uint32
	when []uint32
}

func (f *front) Len() int           { return len(f.list) }
func (f *front) Less(i, j int) bool { return f.when[f.list[i]] < f.when[f.list[j]] }
func (f *front) Swap(i, j int)      { f.list[i], f.list[j] = f.list[j], f.list[i] }
func (f *front) Push(v any)         { f.list = append(f.list, v.(uint32)) }
func (f *front) Pop() any {
	v := f.list[len(f.list)-1]
	f.list = f.list[:len(f.list)-1]
	return v
}

// matrix returns the boundary of the critical cells in the critical faces. It replaces the face of a
// pair by the rest of the cell's boundary, until only critical ones and larger partners remain.
// critical are the critical ones by their number among the faces in no pair.
func (l *level) matrix(critical []uint32, p int64) []row {
	number, rank := make(map[uint32]int32, len(critical)), uint32(0)
	for f := range l.faces {
		if l.faces[f].left == paired {
			continue
		}
		if at, ok := slices.BinarySearch(critical, rank); ok {
			number[uint32(f)] = int32(at)
		}
		rank++
	}
	f := &front{when: slices.Repeat([]uint32{paired}, len(l.faces))} // those of no pair are last
	for i, s := range l.removed {
		f.when[s] = uint32(i)
	}
	rows := make([]row, 0, len(l.critical))
	chain := map[uint32]scalar{} // of the faces in the front
	add := func(s uint32, times scalar) {
		if _, isCritical := number[s]; !isCritical && l.faces[s].left != paired {
			return // larger partner of a pair
		}
		have, there := chain[s]
		chain[s] = have.plus(times, p)
		if !there {
			heap.Push(f, s)
		}
	}
	for _, c := range l.critical {
		for k, s := range l.of(c) {
			add(s, sign(k, p))
		}
		var r row
		for f.Len() > 0 {
			s := heap.Pop(f).(uint32)
			times := chain[s]
			delete(chain, s)
			if times.zero() {
				continue
			}
			if l.faces[s].left != paired {
				r = append(r, entry{number[s], times})
				continue
			}
			cell := l.of(l.faces[s].cells)
			times = times.times(sign(slices.Index(cell, s), p), p).negative(p) // an incidence is its own inverse
			for k, face := range cell {
				if face != s {
					add(face, times.times(sign(k, p), p))
				}
			}
		}
		r.sort()
		rows = append(rows, r)
	}
	return rows
}

// sign returns the incidence of the face without vertex k.
func sign(k int, p int64) scalar {
	if k%2 == 1 {
		return one().negative(p)
	}
	return one()
}
