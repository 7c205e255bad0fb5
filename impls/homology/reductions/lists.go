package reductions

import "slices"

// A span is a list, or where it stands: its length, and how long it may become there. Most
// lists are short, and are found with one look at memory.
type span struct {
	at        [short]uint32 // the numbers of a list with room for so many, else where it begins
	len, room uint32
}

const short = 2

// lists are ascending lists of numbers that grow and shrink, the long ones in one piece of memory.
type lists struct {
	data  []uint32
	spans []span
}

// place gives a list room, elsewhere in memory where that is much.
func (s *span) place(from int, room uint32) {
	if s.room = room; room > short {
		s.at = [short]uint32{uint32(from), uint32(from >> 32)}
	}
}

// from is where a list stands that is not short.
func (s *span) from() int { return int(s.at[0]) | int(s.at[1])<<32 }

// fixed are n lists of k numbers each, which are at hand.
func fixed(data []uint32, k int) *lists {
	l := &lists{data: data, spans: make([]span, len(data)/k)}
	for i := range l.spans {
		list := data[i*k : (i+1)*k]
		slices.Sort(list)
		s := &l.spans[i]
		s.place(i*k, uint32(k))
		if s.len = uint32(k); k <= short {
			copy(s.at[:], list)
		}
	}
	return l
}

// some are copies of a few of the lists.
func (l *lists) some(of []uint32) *lists {
	out := &lists{spans: make([]span, len(of))}
	for i, from := range of {
		out.set(uint32(i), l.get(from))
	}
	return out
}

// inverted is for each of n numbers the lists that have it, but for those that are left out.
// Lists hold other numbers where number says so, and some that count not.
func inverted(of *lists, n int64, out []bool, number func(uint32) (uint32, bool)) *lists {
	l := &lists{spans: make([]span, n)}
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
		if s.place(at, s.room); s.room > short {
			at += int(s.room)
		}
	}
	l.data = make([]uint32, at)
	each(func(i, v uint32) {
		s := &l.spans[v]
		s.len++
		l.get(v)[s.len-1] = i
	})
	return l
}

// get is a list.
func (l *lists) get(i uint32) []uint32 {
	s := &l.spans[i]
	if s.room <= short {
		return s.at[:s.len]
	}
	return l.data[s.from():][:s.len]
}

// set replaces a list: where it stands if there is room, else at the end of all. What get gave
// of other lists stays as it is.
func (l *lists) set(i uint32, list []uint32) {
	s := &l.spans[i]
	if n := len(list); int(s.room) < n {
		room := n
		if n > short {
			room = 2 * n
			if need := len(l.data) + room; need > cap(l.data) { // all of it moves, so seldom
				l.data = append(make([]uint32, 0, 2*need), l.data...)
			}
		}
		s.place(len(l.data), uint32(room))
		if room > short {
			l.data = l.data[:len(l.data)+room]
		}
	}
	s.len = uint32(len(list))
	copy(l.get(i), list)
}

// drop takes a number out of a list that has it.
func (l *lists) drop(i, number uint32) {
	list := l.get(i)
	at := slices.Index(list, number)
	copy(list[at:], list[at+1:])
	l.spans[i].len--
}

// difference appends what is in one of two ascending lists but not in the other.
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
