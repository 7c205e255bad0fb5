package grid

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
)

// A Source is an image that is read by slabs of slices. It is the input of an implementation. A
// *Field is a Source that is completely in memory.
type Source interface {
	Shape() Shape
	Type() Type
	Ladder() Ladder
	// ReadSlab fills dst with slices lo ≤ i < hi. dst must have exactly their length and be aligned
	// for the type. The same slice has the same bytes in every call. Calls may run concurrently.
	ReadSlab(dst []byte, lo, hi int64) error
}

// Dim returns the number of axes of an image, 2 or 3. A volume of one slice has 3 axes, although
// its shape is that of a 2D image.
func Dim(s Source) int {
	if d, ok := s.(interface{ Dim() int }); ok {
		return d.Dim()
	}
	return s.Shape().Dim()
}

// Extent formats the shape of an image with all its axes: "WxHx1" for a volume of one slice.
func Extent(s Source) string { return s.Shape().WithAxes(Dim(s)) }

// Close closes a source if it is an io.Closer, such as a file. Sources are only read, so callers
// may ignore the error.
func Close(s Source) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Missing describes the data that a file lacks and the value that replaces it, such as "1 of 8
// chunks missing: fill value 0", or the skipped files of a folder. It covers the part that was read, and is "" for
// complete data.
func Missing(s Source) string {
	if m, ok := s.(interface{ Missing() string }); ok {
		return m.Missing()
	}
	return ""
}

// Unchanged returns an error if a file of the source has changed since it was opened. Each read
// checks its own file; call Unchanged for an answer that combines several files.
func Unchanged(s Source) error {
	if u, ok := s.(interface{ Unchanged() error }); ok {
		return u.Unchanged()
	}
	return nil
}

// A Wrapped source is the part of a view of another source that is about the file and the axes of
// that source. Embed it in the view.
type Wrapped struct{ Source }

// Dim, Labels, InBulk, Missing, Unchanged and Close are those of the other source.
func (w Wrapped) Dim() int         { return Dim(w.Source) }
func (w Wrapped) Labels() *Labels  { return LabelsOf(w.Source) }
func (w Wrapped) InBulk() bool     { return InBulk(w.Source) }
func (w Wrapped) Missing() string  { return Missing(w.Source) }
func (w Wrapped) Unchanged() error { return Unchanged(w.Source) }
func (w Wrapped) Close() error     { return Close(w.Source) }

// ScratchBytes is that of the other source.
func (w Wrapped) ScratchBytes() int64 { return ScratchBytes(w.Source) }

// SliceBytes is the number of bytes of one slice of the source.
func SliceBytes(s Source) int64 { return s.Shape().SliceVoxels() * s.Type().Size() }

// TotalBytes is the number of bytes of the whole image.
func TotalBytes(s Source) int64 { return s.Shape().Voxels() * s.Type().Size() }

// CheckSlab checks the arguments of a ReadSlab call. Every Source calls it first.
func CheckSlab(s Source, dst []byte, lo, hi int64) error {
	if lo < 0 || hi < lo || hi > s.Shape().Slices() {
		return fmt.Errorf("slab %d..%d of an image of %d slices", lo, hi, s.Shape().Slices())
	}
	if want := (hi - lo) * SliceBytes(s); int64(len(dst)) != want {
		return fmt.Errorf("slab %d..%d: buffer of %d bytes, want %d", lo, hi, len(dst), want)
	}
	return nil
}

// Sizes for EachSlab. Slabs have about slabBytes. At least two slabs, aheadBytes together, are
// buffered: that keeps a disk busy, and more would cost fresh memory instead of reusing buffers.
// Each slab is read in parallel parts of about partBytes.
const (
	slabBytes  = 16 << 20
	aheadBytes = 32 << 20
	partBytes  = 4 << 20
)

// EachSlab reads the source in order, in slabs of about 16 MiB, and calls f for each. The next
// slabs are read while f runs. A slab is overwritten after f returns.
func EachSlab(s Source, f func(slab []byte, lo, hi int64) error) error {
	if whole, ok := s.(*Field); ok {
		return f(whole.data, 0, s.Shape().Slices())
	}
	return eachSlab(s, Whole(s), slabBytes/SliceBytes(s), 0, visitAll(f))
}

// SlabBytes returns the memory that EachSlab allocates.
func SlabBytes(s Source) int64 {
	if _, whole := s.(*Field); whole {
		return 0
	}
	step := min(s.Shape().Slices(), max(1, slabBytes/SliceBytes(s)))
	slices := min(CeilDiv(s.Shape().Slices(), step), slabsAhead(step*SliceBytes(s))) * step
	return slices * (SliceBytes(s) + ScratchBytes(s))
}

// EachSharing reads the source in order, in slabs of step slices. Each slab also begins with the
// last slice of the previous one. The next slabs are read while f runs; a slab is overwritten after
// f returns.
func EachSharing(s Source, step int64, f func(slab []byte, lo, hi int64) error) error {
	whole, ok := s.(*Field)
	if !ok {
		return eachSlab(s, Whole(s), step, 1, visitAll(f))
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

// SharingBytes returns the memory that EachSharing allocates.
func SharingBytes(s Source, step int64) int64 {
	step = min(step, s.Shape().Slices())
	if step == s.Shape().Slices() {
		return TotalBytes(s)
	}
	return min(1+(s.Shape().Slices()-1)/step, slabsAhead(step*SliceBytes(s))) * (step + 1) * SliceBytes(s)
}

// A Span is slices Lo ≤ i < Hi of a source.
type Span struct{ Lo, Hi int64 }

// Whole returns the span of all slices of a source.
func Whole(s Source) Span { return Span{0, s.Shape().Slices()} }

// String returns the first and the last slice, which is part of the span.
func (s Span) String() string {
	switch s.Len() {
	case 0:
		return "no slices"
	case 1:
		return fmt.Sprintf("slice %d", s.Lo)
	}
	return fmt.Sprintf("slices %d to %d", s.Lo, s.Hi-1)
}

// Len returns the number of slices of a span.
func (s Span) Len() int64 { return s.Hi - s.Lo }

// A visit processes a slab. It may return a rest of the work, which runs once while the next slab
// is visited and ends before the slab is overwritten.
type visit func(slab []byte, lo, hi int64) (rest func() error, err error)

// visitAll makes a visit without a rest.
func visitAll(f func(slab []byte, lo, hi int64) error) visit {
	return func(slab []byte, lo, hi int64) (func() error, error) { return noRest, f(slab, lo, hi) }
}

// A slabReader reads the slabs of a span ahead of their visits, into a ring of buffers.
type slabReader struct {
	s                         Source
	of                        Span
	step, shared, size, slabs int64 // size: bytes of a slice
	buffers                   []slabBuffer
	running                   sync.WaitGroup
}

type slabBuffer struct {
	data       []byte
	free, read chan error // for its next slab
}

func (r *slabReader) span(k int64) (lo, hi int64) {
	return r.of.Lo + k*r.step, r.of.Lo + min((k+1)*r.step, r.of.Len())
}

func (r *slabReader) buffer(k int64) slabBuffer { return r.buffers[k%int64(len(r.buffers))] }

// start runs the rest of a visit, and then reads slab k into the same buffer if there is one.
func (r *slabReader) start(k int64, rest func() error) {
	lo, hi := r.span(k)
	from := lo
	if k == 0 {
		from -= min(lo, r.shared)
	}
	b := r.buffer(k)
	r.running.Go(func() {
		err := rest()
		b.free <- err
		if err == nil && k < r.slabs {
			b.read <- readParts(r.s, b.data[(r.shared-(lo-from))*r.size:][:(hi-from)*r.size], from, hi)
		}
	})
}

// eachSlab reads a span in slabs of step slices, each preceded by shared slices of the slab before.
// All reads and all rests have ended when eachSlab returns.
func eachSlab(s Source, of Span, step, shared int64, f visit) error {
	n, size := of.Len(), SliceBytes(s)
	step = min(n, max(1, shared, step))
	slabs := (n + step - 1) / step
	if slabs == 1 && of.Lo == 0 {
		shared = 0
	}
	ahead, length := min(slabs, slabsAhead(step*size)), (shared+step)*size
	r := &slabReader{s: s, of: of, step: step, shared: shared, size: size, slabs: slabs}
	r.buffers = make([]slabBuffer, ahead)
	all := takeBuffer(ahead * length) // at once, for huge pages
	for k := range ahead {
		r.buffers[k] = slabBuffer{all[k*length:][:length], make(chan error, 1), make(chan error, 1)}
		r.start(k, noRest)
	}
	<-r.buffers[0].free // no earlier slab uses this buffer
	defer func() {
		r.running.Wait()
		leaveBuffer(all)
	}()
	for k := range slabs {
		lo, hi := r.span(k)
		before := min(lo, shared) // number of shared slices
		b, next := r.buffer(k), r.buffer(k+1)
		slab := b.data[(shared-before)*size : (shared+hi-lo)*size]
		if err := <-b.read; err != nil {
			return err
		}
		rest, err := f(slab, lo-before, hi)
		if err == nil && k+1 < slabs {
			if err = <-next.free; err == nil {
				copy(next.data[:shared*size], slab[int64(len(slab))-shared*size:])
			}
		}
		if err != nil {
			return cmp.Or(err, rest())
		}
		r.start(k+ahead, rest)
	}
	var err error
	for _, b := range r.buffers {
		err = cmp.Or(err, <-b.free)
	}
	return err
}

// noRest is the rest of a visit without one.
func noRest() error { return nil }

// slabsAhead returns the number of slab buffers for a slab size.
func slabsAhead(size int64) int64 { return max(2, aheadBytes/size) }

// readParts reads a slab in parallel parts.
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

// Step returns the number of slices that a source always reads together, aligned to a multiple of
// it (such as a row of chunks). It is 1 if each slice is read separately.
func Step(s Source) int64 {
	if r, ok := s.(interface{ Step() int64 }); ok {
		return min(max(1, r.Step()), s.Shape().Slices())
	}
	return 1
}

// CachedBytes returns the number of bytes that a source caches of such reads.
func CachedBytes(s Source) int64 {
	if c, ok := s.(interface{ CachedBytes() int64 }); ok {
		return c.CachedBytes()
	}
	return 0
}

// ScratchBytes returns the number of bytes that a source allocates while it reads a slice, per slice.
func ScratchBytes(s Source) int64 {
	if c, ok := s.(interface{ ScratchBytes() int64 }); ok {
		return c.ScratchBytes()
	}
	return 0
}

// InBulk reports whether a source is read best by many parallel requests, such as a remote one.
func InBulk(s Source) bool {
	b, ok := s.(interface{ InBulk() bool })
	return ok && b.InBulk()
}

// WithContext returns a source that is bound to a context: once the context ends, reads return its error.
// A Field stays a Field in the same memory; code that reads its Data calls Ended from time to time.
func WithContext(ctx context.Context, s Source) Source {
	switch s := s.(type) {
	case *Field:
		g := *s
		g.until = ctx
		return &g
	case repeat:
		return repeat{Wrapped{WithContext(ctx, s.Source)}, s.period}
	}
	return contextSource{s, ctx}
}

// Ended returns the error of a Field's context (see WithContext) or of its Watcher, or nil. Other sources
// return such errors from ReadSlab.
func Ended(s Source) error {
	f, ok := s.(*Field)
	if ok && f.until != nil {
		if err := f.until.Err(); err != nil {
			return err
		}
	}
	if ok && f.watcher != nil {
		return f.watcher.Err()
	}
	return nil
}

type contextSource struct {
	Source
	ctx context.Context
}

func (u contextSource) ReadSlab(dst []byte, lo, hi int64) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	return u.Source.ReadSlab(dst, lo, hi)
}

// Dim returns the number of axes of the source.
func (u contextSource) Dim() int { return Dim(u.Source) }

// Labels returns the labels of the source.
func (u contextSource) Labels() *Labels { return LabelsOf(u.Source) }
