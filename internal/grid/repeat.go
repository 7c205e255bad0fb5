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

// OverPeriods is what of says of a source, without looking at all of one that repeats
// itself. Each period by which such an image is longer must make the same difference:
// lengthened is what of would say of the longer of two images that differ by one, with so
// many periods more than the shorter one.
func OverPeriods[T any](s Source, of func(Source) (T, error), lengthened func(shorter, longer T, periods int64) T) (T, error) {
	short, periods := periodic(s)
	if periods == 0 {
		return of(s)
	}
	shorter, err := of(head(s, short))
	if err != nil {
		return shorter, err
	}
	longer, err := of(head(s, short+Period(s)))
	if err != nil {
		return longer, err
	}
	return lengthened(shorter, longer, periods), nil
}

// LookedAt is the number of voxels of a source that OverPeriods looks at.
func LookedAt(s Source) int64 {
	short, periods := periodic(s)
	if periods == 0 {
		return s.Shape().Voxels()
	}
	return (2*short + Period(s)) * s.Shape().SliceVoxels()
}

// periodic says of how many slices an image is that differs from a repeating one by whole
// periods, and by how many; 0 where looking at two such images would take no less. It has
// two slices or more, since one plane alone is an image of another dimension.
func periodic(s Source) (short, periods int64) {
	n, period := s.Shape().Slices(), Period(s)
	if period == 0 || n < 2 {
		return n, 0
	}
	short = (n-2)%period + 2
	if 2*short+period >= n {
		return n, 0
	}
	return short, (n - short) / period
}

// head is the first n slices of a source: those of an image in memory in the same place.
func head(s Source, n int64) Source {
	f, ok := s.(*Field)
	if !ok {
		return Crop(s, 0, n)
	}
	return &Field{shape: f.shape.WithSlices(n), typ: f.typ, ladder: f.ladder, data: f.data[:n*SliceBytes(f)]}
}
