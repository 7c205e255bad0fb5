package grid

// Step returns the number of slices that a source always reads together, aligned to a multiple of
// it (such as a row of chunks). It is 1 if each slice is read separately.
func Step(s Source) int64 {
	if m, ok := s.(masked); ok {
		return Step(m.Source)
	}
	if r, ok := s.(interface{ Step() int64 }); ok {
		return min(max(1, r.Step()), s.Shape().Slices())
	}
	return 1
}

// Held returns the number of bytes that a source caches of such reads.
func Held(s Source) int64 {
	switch s := s.(type) {
	case masked:
		return Held(s.Source) + Held(s.mask)
	case interface{ Held() int64 }:
		return s.Held()
	}
	return 0
}

// InBulk reports whether a source is read best by many parallel requests, such as a remote one.
func InBulk(s Source) bool {
	b, ok := s.(interface{ InBulk() bool })
	return ok && b.InBulk()
}
