package grid

// Repeat shows a source with its first slices again and again: slice i is slice i mod
// period of the original.
func Repeat(s Source, period int64) Source {
	if period >= s.Shape().Slices() {
		return s
	}
	return repeat{s, period}
}

type repeat struct {
	Source
	period int64
}

func (r repeat) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(r, dst, lo, hi); err != nil {
		return err
	}
	size := SliceBytes(r)
	for at := lo; at < hi; {
		part := dst[(at-lo)*size:]
		if at >= lo+r.period { // it has been read
			copy(part, dst[:(at-lo)*size][(at-lo-r.period)*size:])
			at += r.period
			continue
		}
		from := at % r.period
		count := min(hi-at, r.period-from, lo+r.period-at)
		if err := r.Source.ReadSlab(part[:count*size], from, from+count); err != nil {
			return err
		}
		at += count
	}
	return nil
}

// Close closes the original where that can be closed.
func (r repeat) Close() error { return Close(r.Source) }

// Period is after how many slices a source of Repeat shows the same again, or a Field that
// was made of one; 0 for all others.
func Period(s Source) int64 {
	switch s := s.(type) {
	case repeat:
		return s.period
	case *Field:
		return s.period
	}
	return 0
}

// Repeating is the field, of which the caller knows that slice i is slice i mod period.
func (f *Field) Repeating(period int64) *Field {
	g := *f
	g.period = period
	return &g
}

// Unrepeated is a source of which nobody sees that it repeats itself.
func Unrepeated(s Source) Source {
	if f, ok := s.(*Field); ok {
		return f.Repeating(0)
	}
	if Period(s) > 0 {
		return struct{ Source }{s}
	}
	return s
}

// OverPeriods is what of says of a source, without looking at all of one that repeats
// itself. What of says must be a sum of what the first slice says, the last one, and each
// two that are beside each other, or each of them; add adds a number of times, which may be
// negative, what it says to a sum, which is the zero T before.
func OverPeriods[T any](s Source, of func(Source) (T, error), add func(sum *T, said T, times int64)) (T, error) {
	var sum T
	for _, p := range parts(s) {
		said, err := of(p.viewOf(s))
		if err != nil {
			return sum, err
		}
		add(&sum, said, p.times)
	}
	return sum, nil
}

// LookedAt is the number of voxels of a source that OverPeriods looks at.
func LookedAt(s Source) int64 {
	slices := int64(0)
	for _, p := range parts(s) {
		slices += p.hi - p.lo
	}
	return slices * s.Shape().SliceVoxels()
}

// A part is slices lo ≤ i < hi of a source, which count so many times.
type part struct{ lo, hi, times int64 }

// parts are what a source is the sum of: the source itself, or with a period p and
// n = r + q·p slices, a slab of r slices and q times the difference of two slabs of which
// one is a period longer. A slab of r slices is that of p + 2 without those beyond it. No
// part is one plane of several, which would be an image of another dimension.
func parts(s Source) []part {
	n, p := s.Shape().Slices(), Period(s)
	if p == 0 {
		return []part{{0, n, 1}}
	}
	r := (n-2)%p + 2
	q := (n - r) / p
	list := []part{{0, p + 2, q}, {0, 2, -q}}
	if beyond := p + 2 - r; r <= beyond+4 {
		list = append(list, part{0, r, 1})
	} else {
		list[0].times++
		if beyond > 0 {
			list = append(list, part{r - 2, p + 2, -1}, part{r - 2, r, 1})
		}
	}
	slices := int64(0)
	for _, p := range list {
		slices += p.hi - p.lo
	}
	if slices >= n {
		return []part{{0, n, 1}}
	}
	return list
}

// viewOf returns the part of a source.
func (p part) viewOf(s Source) Source {
	if p.lo == 0 && p.hi == s.Shape().Slices() {
		return s
	}
	return Crop(s, p.lo, p.hi)
}
