package grid

// Repeat shows a source that repeats its first slices: slice i is slice i mod period of the
// original.
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
		if at >= lo+r.period { // this period is already in dst
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

// Close closes the original if it is an io.Closer.
func (r repeat) Close() error { return Close(r.Source) }

// Period returns the number of slices after which a source of Repeat, or a Field made of one,
// repeats. It returns 0 for any other source.
func Period(s Source) int64 {
	switch s := s.(type) {
	case repeat:
		return s.period
	case *Field:
		return s.period
	}
	return 0
}

// Repeating marks the field as periodic. The caller guarantees that slice i is slice i mod period.
func (f *Field) Repeating(period int64) *Field {
	g := *f
	g.period = period
	return &g
}

// Unrepeated hides the period of a source.
func Unrepeated(s Source) Source {
	if f, ok := s.(*Field); ok {
		return f.Repeating(0)
	}
	if Period(s) > 0 {
		return struct{ Source }{s}
	}
	return s
}

// OverPeriods computes a quantity of a source without reading every repetition. The quantity, which
// the argument of computes, must be a sum over slices and pairs of adjacent slices, plus terms of
// the first and last slice. add adds a value to the sum, which starts at the zero T, the given
// number of times (possibly negative).
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

// LookedAt returns the number of voxels that OverPeriods reads.
func LookedAt(s Source) int64 {
	slices := int64(0)
	for _, p := range parts(s) {
		slices += p.hi - p.lo
	}
	return slices * s.Shape().SliceVoxels()
}

// A part is slices lo ≤ i < hi of a source with a factor.
type part struct{ lo, hi, times int64 }

// parts decomposes a source into slabs with factors. Without a period, the source is the only part.
// With period p there are n = r + q·p slices. The parts are a slab of r slices, and q times the
// difference of two slabs whose lengths differ by p. The slab of r slices may be replaced by the
// slab of p + 2 slices minus the rest. A part never is a single plane of a 3D image, because that
// would be a 2D image.
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
