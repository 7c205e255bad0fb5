package grid

import (
	"cmp"
	"fmt"
	"io"
	"sync"
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
// take aheadBytes together, but at least two: what fills the requests that a disk takes at a
// time, and no more, as memory that nobody has written to costs more than what is used again.
// Each is read in parts of about partBytes at the same time.
const (
	slabBytes  = 16 << 20
	aheadBytes = 32 << 20
	partBytes  = 4 << 20
)

// EachSlab reads the source in order, in slabs of about 16 MiB, and calls f with
// each; the next ones are read meanwhile. A slab is overwritten after f returns.
func EachSlab(s Source, f func(slab []byte, lo, hi int64) error) error {
	if whole, ok := s.(*Field); ok {
		return f(whole.data, 0, s.Shape().Slices())
	}
	return eachSlab(s, Whole(s), slabBytes/SliceBytes(s), 0, f)
}

// EachSharing reads the source in order, in slabs of so many slices, of which each begins with the
// last slice of the one before, too. The next ones are read meanwhile; a slab is overwritten after f
// returns.
func EachSharing(s Source, step int64, f func(slab []byte, lo, hi int64) error) error {
	whole, ok := s.(*Field)
	if !ok {
		return eachSlab(s, Whole(s), step, 1, f)
	}
	n, size := s.Shape().Slices(), SliceBytes(s)
	for at := int64(0); at < n; at += step {
		lo, hi := max(0, at-1), min(at+step, n)
		if err := f(whole.data[lo*size:hi*size], lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// SharingBytes is how much memory EachSharing takes.
func SharingBytes(s Source, step int64) int64 {
	step = min(step, s.Shape().Slices())
	return min(1+(s.Shape().Slices()-1)/step, slabsAhead(step*SliceBytes(s))) * (step + 1) * SliceBytes(s)
}

// A Span is slices Lo ≤ i < Hi of a source.
type Span struct{ Lo, Hi int64 }

// Whole is all slices of a source.
func Whole(s Source) Span { return Span{0, s.Shape().Slices()} }

// Len is how many slices a span has.
func (s Span) Len() int64 { return s.Hi - s.Lo }

// eachSlab is EachSlab of the slices of a span, in slabs of so many, each of which begins
// with so many slices of those before it, which the first one reads.
func eachSlab(s Source, of Span, step, shared int64, f func(slab []byte, lo, hi int64) error) error {
	n, size := of.Len(), SliceBytes(s)
	step = min(n, max(1, shared, step))
	slabs := (n + step - 1) / step
	span := func(k int64) (lo, hi int64) { return of.Lo + k*step, of.Lo + min((k+1)*step, n) }
	ahead := min(slabs, slabsAhead(step*size))
	buffers, read := make([][]byte, ahead), make([]chan error, ahead)
	start := func(k int64) {
		lo, hi := span(k)
		from := lo
		if k == 0 {
			from -= min(lo, shared)
		}
		dst, done := buffers[k%ahead][(shared-(lo-from))*size:][:(hi-from)*size], read[k%ahead]
		go func() { done <- readParts(s, dst, from, hi) }()
	}
	for k := range ahead {
		buffers[k], read[k] = takeBuffer((shared+step)*size), make(chan error, 1)
		start(k)
	}
	defer func() { // nothing is read any more
		for _, b := range buffers {
			leaveBuffer(b)
		}
	}()
	for k := range slabs {
		lo, hi := span(k)
		before := min(lo, shared) // slices of the slab before
		slab := buffers[k%ahead][(shared-before)*size : (shared+hi-lo)*size]
		err := <-read[k%ahead]
		if err == nil {
			err = f(slab, lo-before, hi)
		}
		if err != nil {
			for later := k + 1; later < min(k+ahead, slabs); later++ {
				<-read[later%ahead] // nobody looks at it any more
			}
			return err
		}
		if k+1 < slabs {
			copy(buffers[(k+1)%ahead][:shared*size], slab[int64(len(slab))-shared*size:])
		}
		if k+ahead < slabs {
			start(k + ahead)
		}
	}
	return nil
}

// slabsAhead is how many slabs of a size are held at a time.
func slabsAhead(size int64) int64 { return max(2, aheadBytes/size) }

// readParts is ReadSlab in parts at the same time.
func readParts(s Source, dst []byte, lo, hi int64) error {
	parts := min(hi-lo, max(1, int64(len(dst))/partBytes))
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for p := range parts {
		from, to := (hi-lo)*p/parts, (hi-lo)*(p+1)/parts
		part := dst[from*SliceBytes(s) : to*SliceBytes(s)]
		wg.Go(func() { errs[p] = s.ReadSlab(part, lo+from, lo+to) })
	}
	wg.Wait()
	return cmp.Or(errs...)
}
