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

// EachSlab reads the source in order, in slabs of about 64 MiB, and calls f with
// each; the next one is read meanwhile. A slab is overwritten after f returns.
func EachSlab(s Source, f func(slab []byte, lo, hi int64) error) error {
	n := s.Shape().Slices()
	if whole, ok := s.(*Field); ok {
		return f(whole.data, 0, n)
	}
	size := SliceBytes(s)
	step := min(n, max(1, (64<<20)/size))
	var buffers [2][]byte
	var slab []byte
	read := make(chan error, 1)
	start := func(lo int64) {
		i := lo / step % 2
		if buffers[i] == nil {
			buffers[i] = NewBuffer(step * size)
		}
		slab = buffers[i][:(min(lo+step, n)-lo)*size]
		go func(dst []byte) { read <- s.ReadSlab(dst, lo, min(lo+step, n)) }(slab)
	}
	start(0)
	for lo := int64(0); lo < n; lo += step {
		if err := <-read; err != nil {
			return err
		}
		now := slab
		more := lo+step < n
		if more {
			start(lo + step)
		}
		if err := f(now, lo, min(lo+step, n)); err != nil {
			if more {
				<-read // into a buffer that nobody looks at any more
			}
			return err
		}
	}
	return nil
}
