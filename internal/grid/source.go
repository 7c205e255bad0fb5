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

// Dim is the number of axes of an image: 2 or 3. A volume of one slice has 3, and the shape of an
// image of 2.
func Dim(s Source) int {
	if d, ok := s.(interface{ Dim() int }); ok {
		return d.Dim()
	}
	return s.Shape().Dim()
}

// Extent is the shape of an image with all its axes: "WxHx1" of a volume of one slice.
func Extent(s Source) string { return s.Shape().WithAxes(Dim(s)) }

// Close closes a source that holds something open, such as a file. Others need not be
// closed. A source is only read from, so nothing is lost where that fails.
func Close(s Source) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Missing is what a file lacks of its image and what these voxels were set to, such as "1 of 8
// chunks missing: fill value 0", as far as it was read; "" for nothing.
func Missing(s Source) string {
	if m, ok := s.(interface{ Missing() string }); ok {
		return m.Missing()
	}
	return ""
}

// Unchanged is an error if a file that the source was read from is not what it was. Each read is
// checked by itself; this is for an answer that is made of several files.
func Unchanged(s Source) error {
	if u, ok := s.(interface{ Unchanged() error }); ok {
		return u.Unchanged()
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
	return eachSlab(s, Whole(s), slabBytes/SliceBytes(s), 0, atOnce(f))
}

// EachSharing reads the source in order, in slabs of so many slices, of which each begins with the
// last slice of the one before, too. The next ones are read meanwhile; a slab is overwritten after f
// returns.
func EachSharing(s Source, step int64, f func(slab []byte, lo, hi int64) error) error {
	whole, ok := s.(*Field)
	if !ok {
		return eachSlab(s, Whole(s), step, 1, atOnce(f))
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

// A visit looks at a slab. What it leaves is waited for, once, before the slab is overwritten, while the next
// one is visited.
type visit func(slab []byte, lo, hi int64) (rest func() error, err error)

// atOnce is a visit that leaves nothing.
func atOnce(f func(slab []byte, lo, hi int64) error) visit {
	return func(slab []byte, lo, hi int64) (func() error, error) { return nothing, f(slab, lo, hi) }
}

// eachSlab is EachSlab of the slices of a span, in slabs of so many, each of which begins
// with so many slices of those before it, which the first one reads. What visits leave is done, and nothing
// is read any more, when eachSlab returns.
func eachSlab(s Source, of Span, step, shared int64, f visit) error {
	n, size := of.Len(), SliceBytes(s)
	step = min(n, max(1, shared, step))
	slabs := (n + step - 1) / step
	span := func(k int64) (lo, hi int64) { return of.Lo + k*step, of.Lo + min((k+1)*step, n) }
	ahead := min(slabs, slabsAhead(step*size))
	buffers := make([][]byte, ahead)
	free, read := make([]chan error, ahead), make([]chan error, ahead) // for the next slab of a buffer
	var running sync.WaitGroup
	start := func(k int64, rest func() error) {
		lo, hi := span(k)
		from := lo
		if k == 0 {
			from -= min(lo, shared)
		}
		buffer, free, read := buffers[k%ahead], free[k%ahead], read[k%ahead]
		running.Go(func() {
			err := rest()
			free <- err
			if err == nil && k < slabs {
				read <- readParts(s, buffer[(shared-(lo-from))*size:][:(hi-from)*size], from, hi)
			}
		})
	}
	for k := range ahead {
		buffers[k], free[k], read[k] = takeBuffer((shared+step)*size), make(chan error, 1), make(chan error, 1)
		start(k, nothing)
	}
	<-free[0] // the slab before it is none
	defer func() {
		running.Wait()
		for _, b := range buffers {
			leaveBuffer(b)
		}
	}()
	for k := range slabs {
		lo, hi := span(k)
		before := min(lo, shared) // slices of the slab before
		slab := buffers[k%ahead][(shared-before)*size : (shared+hi-lo)*size]
		if err := <-read[k%ahead]; err != nil {
			return err
		}
		rest, err := f(slab, lo-before, hi)
		if next := (k + 1) % ahead; err == nil && k+1 < slabs {
			if err = <-free[next]; err == nil {
				copy(buffers[next][:shared*size], slab[int64(len(slab))-shared*size:])
			}
		}
		if err != nil {
			return cmp.Or(err, rest())
		}
		start(k+ahead, rest)
	}
	var err error
	for _, free := range free {
		err = cmp.Or(err, <-free)
	}
	return err
}

// nothing is what a visit leaves that is over when it returns.
func nothing() error { return nil }

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
