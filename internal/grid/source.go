package grid

import "fmt"

// A Source is what an implementation is given: an image's shape, type and
// ladder, and any slab of its slices on request. A *Field is the Source that
// holds the whole image in memory.
type Source interface {
	Shape() Shape
	Type() Type
	Ladder() Ladder
	// ReadSlab fills dst with slices lo ≤ i < hi. dst is exactly as long as
	// they are and aligned for the type. The same slab is the same bytes every
	// time, alone or as part of a larger one, and calls may run concurrently.
	ReadSlab(dst []byte, lo, hi int64) error
}

// SliceBytes is the number of bytes of one slice of the source.
func SliceBytes(s Source) int64 { return s.Shape().SliceVoxels() * s.Type().Size() }

// TotalBytes is the number of bytes of the whole image.
func TotalBytes(s Source) int64 { return s.Shape().Voxels() * s.Type().Size() }

// CheckSlab reports whether a ReadSlab call's arguments fit the source; every
// Source calls it first.
func CheckSlab(s Source, dst []byte, lo, hi int64) error {
	if lo < 0 || hi < lo || hi > s.Shape().Slices() {
		return fmt.Errorf("slab %d..%d of an image of %d slices", lo, hi, s.Shape().Slices())
	}
	if want := (hi - lo) * SliceBytes(s); int64(len(dst)) != want {
		return fmt.Errorf("slab %d..%d: buffer of %d bytes, want %d", lo, hi, len(dst), want)
	}
	return nil
}

// EachSlab reads the source in order, in slabs of about 64 MiB that share
// one buffer, and calls f with each.
func EachSlab(s Source, f func(slab []byte, lo, hi int64) error) error {
	n := s.Shape().Slices()
	if whole, ok := s.(*Field); ok {
		return f(whole.data, 0, n)
	}
	size := SliceBytes(s)
	step := min(n, max(1, (64<<20)/size))
	buf := NewBuffer(step * size)
	for lo := int64(0); lo < n; lo += step {
		hi := min(lo+step, n)
		slab := buf[:(hi-lo)*size]
		if err := s.ReadSlab(slab, lo, hi); err != nil {
			return err
		}
		if err := f(slab, lo, hi); err != nil {
			return err
		}
	}
	return nil
}
