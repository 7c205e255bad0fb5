package reductions

import (
	"slices"

	"eccbench/internal/pool"
)

// A span is a short list, or the place of a longer one. Most lists are short and need a single
// memory access.
type span struct {
	at        [short]uint32 // the numbers of a short list, else the index of its piece and the offset in it
	len, room uint32
}

const short = 2

// lists are sorted lists of numbers that grow and shrink. Long lists are in pieces of memory that
// never move.
type lists struct {
	data  [][]uint32
	spans []span
	pool  *pool.Pool
}

// Each piece has room for twice as many numbers as the previous one, within these limits, unless a
// single list needs more.
const leastPiece, mostPiece = 1 << 10, 1 << 23

// place sets the room of a list, and its place in a piece if the list is long.
func (s *span) place(piece, from int, room uint32) {
	if s.room = room; room > short {
		s.at = [short]uint32{uint32(piece), uint32(from)}
	}
}

// fixed makes lists of k numbers each from consecutive data.
func fixed(p *pool.Pool, data []uint32, k int) *lists {
	l := &lists{data: [][]uint32{data}, spans: pool.Zeros[span](p, len(data)/k), pool: p}
	for i := range l.spans {
		list := data[i*k : (i+1)*k]
		slices.Sort(list)
		s := &l.spans[i]
		s.place(0, i*k, uint32(k))
		if s.len = uint32(k); k <= short {
			copy(s.at[:], list)
		}
	}
	return l
}

// selected copies some of the lists.
func (l *lists) selected(of []uint32) *lists {
	out := &lists{spans: make([]span, len(of))}
	for i, from := range of {
		out.set(uint32(i), l.get(from))
	}
	return out
}

// inverted returns for each of n numbers the lists that contain it, without the lists marked in
// out. The function number, unless nil, renumbers the entries or drops them.
func inverted(p *pool.Pool, of *lists, n int64, out []bool, number func(uint32) (uint32, bool)) *lists {
	l := &lists{spans: pool.Zeros[span](p, int(n)), pool: p}
	each := func(f func(list, number uint32)) {
		for i := range of.spans {
			if out != nil && out[i] {
				continue
			}
			for _, v := range of.get(uint32(i)) {
				if number == nil {
					f(uint32(i), v)
				} else if v, ok := number(v); ok {
					f(uint32(i), v)
				}
			}
		}
	}
	each(func(_, v uint32) { l.spans[v].room++ })
	at := 0
	for i := range l.spans {
		s := &l.spans[i]
		if s.place(0, at, s.room); s.room > short {
			at += int(s.room)
		}
	}
	l.data = [][]uint32{pool.Take[uint32](p, at)}
	each(func(i, v uint32) {
		s := &l.spans[v]
		s.len++
		l.get(v)[s.len-1] = i
	})
	return l
}

// get returns a list.
func (l *lists) get(i uint32) []uint32 {
	s := &l.spans[i]
	if s.room <= short {
		return s.at[:s.len]
	}
	return l.data[s.at[0]][s.at[1]:][:s.len]
}

// set replaces a list: in place if there is room, else after all others. Slices of other lists from
// get stay valid.
func (l *lists) set(i uint32, list []uint32) {
	s := &l.spans[i]
	if n := len(list); int(s.room) < n {
		if n <= short {
			s.place(0, 0, uint32(n))
		} else {
			from := l.grow(2 * n)
			s.place(len(l.data)-1, from, uint32(2*n))
		}
	}
	s.len = uint32(len(list))
	copy(l.get(i), list)
}

// grow makes room for n numbers in the last piece.
func (l *lists) grow(n int) (from int) {
	var piece []uint32
	if len(l.data) > 0 {
		piece = l.data[len(l.data)-1]
	}
	if cap(piece)-len(piece) < n {
		size := min(max(2*cap(piece), leastPiece), mostPiece)
		l.data = append(l.data, pool.Take[uint32](l.pool, max(size, n))[:0])
	}
	last := &l.data[len(l.data)-1]
	from = len(*last)
	*last = (*last)[:from+n]
	return from
}

// drop removes a number from a list that contains it.
func (l *lists) drop(i, number uint32) {
	list := l.get(i)
	at := slices.Index(list, number)
	copy(list[at:], list[at+1:])
	l.spans[i].len--
}

// difference appends the symmetric difference of two ascending lists.
func difference(out, a, b []uint32) []uint32 {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out = append(out, a[0])
			a = a[1:]
		case a[0] > b[0]:
			out = append(out, b[0])
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
