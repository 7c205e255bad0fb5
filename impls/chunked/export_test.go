package chunked

// WithSlabs returns the implementation with slabs of about the given bytes.
func WithSlabs(i Implementation, bytes int64) Implementation {
	i.slab = bytes
	return i
}
