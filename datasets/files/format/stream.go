package format

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/datasets/zarr"
	"eccbench/internal/grid"
)

// stream makes a source that reads slabs of a body separately or in order.
func (b *Body) stream() (grid.Source, error) {
	var why string
	switch {
	case b.Inflate != nil && !b.In.Once:
		why = "its voxels are compressed"
	case b.Inflate != nil && b.Volumes.Count > 1:
		why = "its volumes are compressed"
	case b.Volumes.Stride > 1:
		why = "its volumes lie voxel by voxel"
	case b.Decoded != nil:
		why = "it is decoded whole"
	case b.Fortran:
		why = "its voxels are in Fortran order"
	case b.Ranked():
		why = fmt.Sprintf("its voxels of %s become float32, or ranks", b.Stored)
	case b.Inflate != nil && b.Native() == grid.Float32 && !b.In.Every:
		why = "its voxels are compressed, and their levels are to be found first"
	}
	if why != "" {
		return nil, NotStreamed{why}
	}
	s := &Stream{body: b, ladder: grid.Identity(b.Native()), normalise: b.In.Normalise()}
	s.turn.L = &s.mu
	if b.Inflate != nil {
		if err := CheckRatio(b.Bytes(), b.Packed, b.Ratio); err != nil {
			return nil, err
		}
	} else if err := b.checkPlain(); err != nil {
		return nil, err
	}
	if s.Type() != grid.Float32 {
		return s, nil
	}
	var err error
	s.ladder, _, err = b.In.ladder(b.Shape, func() element.Reader {
		var buf []byte
		return func(lo, hi int64) ([]float32, error) {
			if n := 4 * (hi - lo); n > int64(len(buf)) {
				buf = grid.NewBuffer(n)
			}
			chunk := buf[:4*(hi-lo)]
			err := s.read(chunk, lo)
			return grid.Values[float32](chunk), err
		}
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// A Stream is a source that reads its slabs from a file. It must be closed. Compressed voxels
// can be read only once: a read of a slab waits for the reads of all earlier voxels.
type Stream struct {
	body   *Body
	ladder grid.Ladder
	Files  *storage.Set // the files of the voxels; nil for none
	Path   string       // the name for messages; "" until Open returns
	// Normalise is grid.Normalise or grid.NormaliseGaps.
	normalise func(values []float32, base int64, shape grid.Shape) error

	mu       sync.Mutex
	turn     sync.Cond // inflated or failed changed
	inflated int64     // bytes so far
	failed   error
}

// Shape returns the image's shape.
func (s *Stream) Shape() grid.Shape { return s.body.Shape }

// Type returns the image's element type.
func (s *Stream) Type() grid.Type { return s.body.Native() }

// Ladder returns the levels of answers about the image.
func (s *Stream) Ladder() grid.Ladder { return s.ladder }

// ReadSlab reads slices lo ≤ i < hi from the file to dst. An error in the file is a *ReadError.
func (s *Stream) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	err := s.readSlab(dst, lo)
	if !errors.Is(err, io.EOF) { // already reported
		err = s.Files.Blame(err)
	}
	if err != nil && s.Path != "" {
		err = &ReadError{s.Path, err}
	}
	return err
}

// readSlab fills dst with slices from lo.
func (s *Stream) readSlab(dst []byte, lo int64) error {
	first := lo * s.Shape().SliceVoxels()
	if err := s.read(dst, first); err != nil {
		return err
	}
	if s.Type() == grid.Float32 {
		return s.normalise(grid.Values[float32](dst), first, s.Shape())
	}
	return nil
}

// read fills dst with voxels from the given one.
func (s *Stream) read(dst []byte, first int64) error {
	b := s.body
	if b.plain() {
		err := s.readStored(dst, first*b.Stored.Size())
		if b.Truth {
			oneTruths(dst)
		}
		return err
	}
	stored := grid.NewBuffer(int64(len(dst)) / s.Type().Size() * b.Stored.Size())
	if err := s.readStored(stored, first*b.Stored.Size()); err != nil {
		return err
	}
	native, _, err := b.Convert(stored)
	copy(dst, native)
	return err
}

// readStored fills dst with the stored bytes of voxels from the given byte.
func (s *Stream) readStored(dst []byte, from int64) error {
	if s.body.Inflate != nil {
		return s.inflate(dst, from)
	}
	b := s.body
	from += b.Offset + b.Volumes.First*b.Stored.Size()
	err := storage.ReadAt(b.In.ReaderAt, dst, from)
	if err == io.EOF { // of the file itself, not of compressed data in it
		return fmt.Errorf("became shorter while it was read, and ends before byte %d; leave it as it is meanwhile: %w",
			from+int64(len(dst)), err)
	}
	if err != nil {
		return fmt.Errorf("reading voxels at byte %d: %w", from, storage.Cause(err))
	}
	return b.sum.add(b, dst, from-b.Offset-b.Volumes.First*b.Stored.Size())
}

// inflate is readStored for compressed voxels. It waits for the reads of all earlier voxels.
func (s *Stream) inflate(dst []byte, from int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.inflated < from && s.failed == nil {
		s.turn.Wait()
	}
	if s.failed == nil && s.inflated > from {
		s.failed = errors.New("its compressed voxels can be read once, in order; decompress the file")
	}
	if s.failed == nil && s.inflated == 0 {
		s.failed = s.body.skip()
	}
	if s.failed == nil {
		var n int
		n, s.failed = inflateNext(s.body.Inflate, dst, s.inflated, s.body.Bytes())
		s.inflated += int64(n)
	}
	if s.failed == nil && s.inflated == s.body.Bytes() {
		s.failed = storage.CheckEnd(s.body.Inflate, true)
	}
	s.turn.Broadcast()
	return s.failed
}

// Step returns the number of slices that are read together.
func (s *Stream) Step() int64 {
	if chunks, ok := s.body.In.ReaderAt.(*zarr.Array); ok {
		return chunks.Step()
	}
	return 1
}

// InBulk is true for remote files and for chunks, which may be remote.
func (s *Stream) InBulk() bool {
	switch s.body.In.ReaderAt.(type) {
	case *storage.Object, *zarr.Array:
		return true
	}
	return false
}

// CachedBytes returns the bytes of memory for slices that are read together.
func (s *Stream) CachedBytes() int64 {
	if chunks, ok := s.body.In.ReaderAt.(*zarr.Array); ok {
		return chunks.CachedBytes()
	}
	return 0
}

// Cool evicts the file from the host's page cache, and reports whether it is evicted.
func (s *Stream) Cool() (cold bool, err error) {
	if _, chunks := s.body.In.ReaderAt.(*zarr.Array); chunks || s.Files == nil {
		return false, nil
	}
	return s.Files.Cool()
}

// Missing describes the missing parts of the file and the values of their voxels; "" for none.
func (s *Stream) Missing() string {
	return s.body.missing(s.Files)
}

// missing describes the missing parts of the image's files, "" for none.
func (b *Body) missing(files *storage.Set) string {
	var lacks []string
	if chunks, ok := b.In.ReaderAt.(*zarr.Array); ok {
		lacks = append(lacks, chunks.Missing())
	}
	if files.Unversioned() {
		lacks = append(lacks, "the server names no version (ETag, Last-Modified): only lengths are compared")
	}
	return strings.Join(slices.DeleteFunc(lacks, func(s string) bool { return s == "" }), "; ")
}

// Unchanged returns an error if a file, or a chunk that was read, has changed.
func (s *Stream) Unchanged() error {
	err := s.Files.Blame(nil)
	if chunks, ok := s.body.In.ReaderAt.(*zarr.Array); ok && err == nil {
		err = chunks.Unchanged()
	}
	if err != nil {
		return &ReadError{s.Path, err}
	}
	return nil
}

// Dim returns the number of the image's axes.
func (s *Stream) Dim() int { return max(s.body.Axes, s.body.Shape.Dim()) }

// Noted returns a field of all voxels that keeps its number of axes and its missing parts.
func (b *Body) Noted(f *grid.Field, files *storage.Set) (grid.Source, error) {
	if b.Axes == 3 {
		f = f.Volume()
	}
	if lacks := b.missing(files); lacks != "" {
		f = f.Lacking(lacks)
	}
	if chunks, ok := b.In.ReaderAt.(*zarr.Array); ok {
		return f, chunks.Unchanged()
	}
	return f, nil
}

// Close closes the file.
func (s *Stream) Close() error {
	if chunks, ok := s.body.In.ReaderAt.(*zarr.Array); ok {
		chunks.Close() // never fails
	}
	if s.Files == nil {
		return nil
	}
	return s.Files.Close()
}
