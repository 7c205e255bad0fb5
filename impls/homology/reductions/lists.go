package reductions

import "slices"

// A span is where a list stands: its length, and how long it may become there.
type span struct {
	from      int
	len, room uint32
}

// lists are ascending lists of numbers that grow and shrink, in one piece of memory.
type lists struct {
	data  []uint32
	spans []span
}

// fixed are n lists of k numbers each, which are at hand.
func fixed(data []uint32, k int) *lists {
	l := &lists{data: data, spans: make([]span, len(data)/k)}
	for i := range l.spans {
		l.spans[i] = span{i * k, uint32(k), uint32(k)}
		slices.Sort(data[i*k : (i+1)*k])
	}
	return l
}

// some are copies of a few of the lists.
func (l *lists) some(of []uint32) *lists {
	out := &lists{spans: make([]span, len(of))}
	for i, from := range of {
		list := l.get(from)
		out.spans[i] = span{len(out.data), uint32(len(list)), uint32(len(list))}
		out.data = append(out.data, list...)
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
		l.spans[i].from = at
		at += int(l.spans[i].room)
	}
	l.data = make([]uint32, at)
	each(func(i, v uint32) {
		s := &l.spans[v]
		l.data[s.from+int(s.len)] = i
		s.len++
	})
	return l
}

// get is a list.
func (l *lists) get(i uint32) []uint32 {
	s := l.spans[i]
	return l.data[s.from : s.from+int(s.len)]
}

// set replaces a list: where it stands if there is room, else at the end of all. What get gave
// of other lists stays as it is.
func (l *lists) set(i uint32, list []uint32) {
	s := &l.spans[i]
	if int(s.room) < len(list) {
		s.from, s.room = len(l.data), uint32(2*len(list))
		if need := len(l.data) + 2*len(list); need > cap(l.data) { // all of it moves, so seldom
			l.data = append(make([]uint32, 0, 2*need), l.data...)
		}
		l.data = l.data[:len(l.data)+2*len(list)]
	}
	copy(l.data[s.from:], list)
	s.len = uint32(len(list))
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
