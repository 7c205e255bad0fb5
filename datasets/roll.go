package datasets

import (
	"eccbench/internal/grid"
)

// A rolled source is another source, rotated along its slowest axis: slice i is slice (i+by) mod
// Slices of the other, 0 < by < Slices.
type rolled struct {
	grid.Wrapped
	by int64
}

// roll rotates s. It returns s itself for 0 and every multiple of its slices.
func roll(s grid.Source, by int64) grid.Source {
	if by %= s.Shape().Slices(); by == 0 {
		return s
	}
	return &rolled{grid.Wrapped{Source: s}, by}
}

// ReadSlab reads the slab in one or two pieces of the other source.
func (r *rolled) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(r, dst, lo, hi); err != nil {
		return err
	}
	n := r.Shape().Slices()
	// Slices before the seam come from the end of the other source.
	seam := n - r.by
	if lo < seam {
		end := min(hi, seam)
		size := (end - lo) * grid.SliceBytes(r)
		if err := r.Source.ReadSlab(dst[:size], lo+r.by, end+r.by); err != nil {
			return err
		}
		dst, lo = dst[size:], end
	}
	if lo < hi {
		return r.Source.ReadSlab(dst, lo-seam, hi-seam)
	}
	return nil
}

// Cool evicts the other source from the host's caches, if possible.
func (r *rolled) Cool() (cold bool, err error) {
	if c, ok := r.Source.(interface{ Cool() (bool, error) }); ok {
		return c.Cool()
	}
	return true, nil // it is generated, not read
}

// InMemory reports whether the other source is in memory.
func (r *rolled) InMemory() bool {
	m, ok := r.Source.(interface{ InMemory() bool })
	return ok && m.InMemory()
}
