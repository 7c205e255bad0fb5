package grid

// Repeat shows a source that repeats its first slices: slice i is slice i mod period of the
// original.
func Repeat(s Source, period int64) Source {
	if period >= s.Shape().Slices() {
		return s
	}
	return repeat{Wrapped{s}, period}
}

type repeat struct {
	Wrapped
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
