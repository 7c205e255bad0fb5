package chunked

// WithSlabs is an implementation whose slabs have about so many bytes.
func WithSlabs(i Implementation, bytes int64) Implementation {
	i.slab = bytes
	return i
}
