package grid

// Step is the number of slices of a source that are read together, from multiples of it on, even if
// a caller needs only one; 1 if each is read separately.
func Step(s Source) int64 {
	if m, ok := s.(masked); ok {
		return Step(m.Source)
	}
	if r, ok := s.(interface{ Step() int64 }); ok {
		return min(max(1, r.Step()), s.Shape().Slices())
	}
	return 1
}

// Held is how many bytes a source keeps of what it reads together.
func Held(s Source) int64 {
	switch s := s.(type) {
	case masked:
		return Held(s.Source) + Held(s.mask)
	case interface{ Held() int64 }:
		return s.Held()
	}
	return 0
}

// InBulk reports whether a source is read best by many requests at a time, as one that is far away
// is.
func InBulk(s Source) bool {
	b, ok := s.(interface{ InBulk() bool })
	return ok && b.InBulk()
}
