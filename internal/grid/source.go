package grid

import (
	"fmt"
	"io"
)

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

// Close closes a source that holds something open, such as a file. Others need not be
// closed. A source is only read from, so nothing is lost where that fails.
func Close(s Source) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
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

// Slabs of EachSlab: of about slabBytes, and so many of them read ahead that they
// take aheadBytes together, but at least two.
const (
	slabBytes  = 16 << 20
	aheadBytes = 64 << 20
)

// EachSlab reads the source in order, in slabs of about 16 MiB, and calls f with
// each; the next ones are read meanwhile. A slab is overwritten after f returns.
func EachSlab(s Source, f func(slab []byte, lo, hi int64) error) error {
	n := s.Shape().Slices()
	if whole, ok := s.(*Field); ok {
		return f(whole.data, 0, n)
	}
	size := SliceBytes(s)
	step := min(n, max(1, slabBytes/size))
	slabs := (n + step - 1) / step
	span := func(k int64) (lo, hi int64) { return k * step, min((k+1)*step, n) }
	ahead := min(slabs, max(2, aheadBytes/(step*size)))
	buffers, read := make([][]byte, ahead), make([]chan error, ahead)
	start := func(k int64) {
		lo, hi := span(k)
		dst, done := buffers[k%ahead][:(hi-lo)*size], read[k%ahead]
		go func() { done <- s.ReadSlab(dst, lo, hi) }()
	}
	for k := range ahead {
		buffers[k], read[k] = NewBuffer(step*size), make(chan error, 1)
		start(k)
	}
	for k := range slabs {
		lo, hi := span(k)
		err := <-read[k%ahead]
		if err == nil {
			err = f(buffers[k%ahead][:(hi-lo)*size], lo, hi)
		}
		if err != nil {
			for later := k + 1; later < min(k+ahead, slabs); later++ {
				<-read[later%ahead] // nobody looks at it any more
			}
			return err
		}
		if k+ahead < slabs {
			start(k + ahead)
		}
	}
	return nil
}
