package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"eccbench/internal/grid"
)

// FileOptions says what a file cannot say of itself, and how to read it.
type FileOptions struct {
	// Shape and Type are required for a raw file and must be zero for every
	// other one.
	Shape grid.Shape
	Type  grid.Type
	// Levels is 0 for the identity ladder of 8 and 16-bit types and the table
	// of distinct values of float32. For float32 alone, Levels > 0 is the
	// number of levels of an affine ladder from the least value to the greatest.
	Levels int64
	// Every asks for the identity ladder of float32 too, for which the voxels need not be
	// looked at first. Levels is 0 then.
	Every bool
	// Gaps takes NaN for voxels that are no part of the image, where Every is asked for.
	Gaps bool
	// Stream asks for a source that reads slabs from the file instead of
	// holding the image in memory. With Once a compressed file can be one, whose slabs are
	// to be asked for once: in order, or together.
	Stream, Once bool
	// Surveys remember what was found of files that were looked at whole; nil for none.
	Surveys *Surveys

	file os.FileInfo // what is known of the file; nil for bytes that are none
	path string
}

// ladder is the ladder of float32 voxels, found or remembered, and whether it was
// remembered.
func (o FileOptions) ladder(shape grid.Shape, newReader func() chunkReader) (l grid.Ladder, known bool, err error) {
	if o.Every {
		return grid.Identity(grid.Float32), true, nil
	}
	if o.Gaps {
		return l, false, errors.New("NaN can be left out where each float32 is a level: add levels=every")
	}
	return o.Surveys.ladder(o.file, o.path, o.Levels, func() (grid.Ladder, error) { return float32Ladder(shape, o.Levels, newReader) })
}

// normalise is what float32 values go through.
func (o FileOptions) normalise() func(values []float32, base int64, shape grid.Shape) error {
	if o.Gaps {
		return grid.NormaliseGaps
	}
	return grid.Normalise
}

// OpenFile reads the image at path. The format follows from the extension, or
// from the first bytes where the extension is unknown; with a Shape, a file of
// unknown extension is raw.
//
// The source is a *grid.Field, or with o.Stream an io.Closer that holds the
// file open until it is closed. A streamed float32 image is read once whole
// before OpenFile returns, to refuse NaN and ±Inf and to find its levels.
//
// Every error is one line, "path: what is wrong; what to do".
func OpenFile(path string, o FileOptions) (grid.Source, error) {
	s, err := openPath(path, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func openPath(path string, o FileOptions) (grid.Source, error) {
	// Stat comes first because opening a named pipe would wait for a writer.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w; check the path", pathCause(err))
	case err != nil:
		return nil, pathCause(err)
	case info.IsDir():
		return nil, errors.New("is a directory; name one image file")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file; copy the image to one")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathCause(err)
	}
	s, err := openHandle(f, o)
	if stream, ok := s.(*fileStream); ok && err == nil {
		stream.closer = f
		return s, nil
	}
	if cerr := f.Close(); err == nil && cerr != nil {
		return nil, pathCause(cerr)
	}
	return s, err
}

func openHandle(f *os.File, o FileOptions) (grid.Source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, pathCause(err)
	}
	o.file, o.path = info, f.Name()
	return openImage(f.Name(), fileInput{f, info.Size(), o})
}

// pathCause is an error of package os without the path that it repeats.
func pathCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// A fileInput is what a format's reader is given: the bytes of an image file,
// how many they are, and what the caller said of them.
type fileInput struct {
	io.ReaderAt
	size int64
	FileOptions
}

// head reads up to n bytes from the start of the file.
func (in fileInput) head(n int64) ([]byte, error) {
	b := make([]byte, min(n, in.size))
	if _, err := in.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the header: %w", pathCause(err))
	}
	return b, nil
}

// A fileFormat is one kind of image file.
type fileFormat struct {
	name       string
	extensions []string // lower case, with the dot
	// matches tells the format by the first bytes of a file; nil when they
	// say nothing.
	matches func(head []byte) bool
	// open reads the header and says how the file holds its voxels.
	open func(fileInput) (*fileBody, error)
}

// fileFormats lists the formats that OpenFile reads, in the order that their
// first bytes are tried in.
func fileFormats() []fileFormat {
	return []fileFormat{
		{"raw", []string{".raw", ".bin", ".dat"}, nil, openRaw},
		{"npy", []string{".npy"}, startsWith(npyMagic), openNpy},
		{"NIfTI", []string{".nii", ".nii.gz"}, matchesNifti, openNifti},
		{"NRRD", []string{".nrrd", ".nhdr"}, startsWith(nrrdMagic), openNrrd},
		{"MetaImage", []string{".mha", ".mhd"}, startsWith(metaMagic), openMeta},
		{"PNG", []string{".png"}, startsWith(pngMagic), openPng},
		{"TIFF", []string{".tif", ".tiff"}, startsWith("II*\x00", "MM\x00*", "II+\x00", "MM\x00+"), openTiff},
	}
}

func startsWith(magics ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, m := range magics {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// openImage opens an image whose file is called name.
func openImage(name string, in fileInput) (grid.Source, error) {
	if in.size == 0 {
		return nil, errors.New("the file is empty; it holds no image")
	}
	if in.Levels < 0 || in.Levels > grid.MaxLevels {
		return nil, fmt.Errorf("%d levels asked for; want 0 to %d", in.Levels, int64(grid.MaxLevels))
	}
	format, err := formatOf(name, in)
	if err != nil {
		return nil, err
	}
	if given := in.Shape != (grid.Shape{}) || in.Type != 0; given && format.name != "raw" {
		return nil, fmt.Errorf("a %s file says its own shape and type; leave them out", format.name)
	}
	body, err := format.open(in)
	if err != nil {
		return nil, err
	}
	return body.source(in)
}

// IsImage reports whether a file's name says that it is an image which tells its own shape
// and type.
func IsImage(path string) bool {
	path = strings.ToLower(path)
	for _, f := range fileFormats()[1:] {
		if slices.ContainsFunc(f.extensions, func(ext string) bool { return strings.HasSuffix(path, ext) }) {
			return true
		}
	}
	return false
}

// formatOf picks a file's format by its name, else by its first bytes.
func formatOf(name string, in fileInput) (fileFormat, error) {
	formats := fileFormats()
	name = strings.ToLower(filepath.Base(name))
	var known []string
	for _, f := range formats {
		for _, ext := range f.extensions {
			if strings.HasSuffix(name, ext) {
				return f, nil
			}
		}
		known = append(known, f.extensions...)
	}
	if in.Shape != (grid.Shape{}) {
		return formats[0], nil
	}
	head, err := in.head(niftiHeaderSize)
	if err != nil {
		return fileFormat{}, err
	}
	for _, f := range formats {
		if f.matches != nil && f.matches(head) {
			return f, nil
		}
	}
	return fileFormat{}, fmt.Errorf("neither the name nor the first bytes tell the format; want one of %s", strings.Join(known, " "))
}

// fileShape makes a shape of axes given slowest first. Axes of length 1 beyond
// the third are dropped, from the slow end first.
func fileShape(axes []int64) (grid.Shape, error) {
	for len(axes) > 3 && axes[0] == 1 {
		axes = axes[1:]
	}
	for len(axes) > 3 && axes[len(axes)-1] == 1 {
		axes = axes[:len(axes)-1]
	}
	s := grid.Shape{D: 1, H: 1, W: 1}
	switch len(axes) {
	case 1:
		s.W = axes[0]
	case 2:
		s.H, s.W = axes[0], axes[1]
	case 3:
		s.D, s.H, s.W = axes[0], axes[1], axes[2]
	default:
		return s, fmt.Errorf("%d axes; want an image of 2 or 3, so save one volume of it alone", len(axes))
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("%w; the image is empty or its header is damaged", err)
	}
	return s, nil
}

// stream makes a source of a body whose slabs can be read by themselves, or in order.
func (b *fileBody) stream(in fileInput) (grid.Source, error) {
	var why string
	switch {
	case b.inflate != nil && !in.Once:
		why = "its voxels are compressed"
	case b.decoded != nil:
		why = "it is decoded whole"
	case b.fortran:
		why = "its voxels are in Fortran order"
	case b.ranked():
		why = fmt.Sprintf("its voxels of %s become float32, or ranks", b.stored)
	case b.inflate != nil && b.native() == grid.Float32 && !in.Every:
		why = "its voxels are compressed, and their levels are to be found first"
	}
	if why != "" {
		return nil, notStreamed{why}
	}
	s := &fileStream{body: b, file: in, ladder: grid.Identity(b.native()), normalise: in.normalise()}
	s.turn.L = &s.mu
	if b.inflate != nil {
		if err := checkRatio(b.bytes(), b.packed, deflateRatio); err != nil {
			return nil, err
		}
	} else if err := b.checkPlain(in.size); err != nil {
		return nil, err
	}
	if s.Type() != grid.Float32 {
		return s, nil
	}
	var err error
	s.ladder, _, err = in.ladder(b.shape, func() chunkReader {
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

// notStreamed is why slabs cannot be read from a file.
type notStreamed struct{ why string }

func (n notStreamed) Error() string {
	return fmt.Sprintf("cannot be streamed because %s; read it whole, or save it as raw little-endian", n.why)
}

// A fileStream is a source that reads its slabs from a file. It must be closed. Compressed
// voxels can be read once: who asks for a slab waits until all before it are read.
type fileStream struct {
	body   *fileBody
	ladder grid.Ladder
	file   io.ReaderAt
	closer io.Closer
	// normalise is grid.Normalise or NormaliseGaps.
	normalise func(values []float32, base int64, shape grid.Shape) error

	mu       sync.Mutex
	turn     sync.Cond // inflated or failed changed
	inflated int64     // bytes so far
	failed   error
}

// Shape is the image's extent.
func (s *fileStream) Shape() grid.Shape { return s.body.shape }

// Type is the image's element type.
func (s *fileStream) Type() grid.Type { return s.body.native() }

// Ladder is the list of levels that answers about the image are reported on.
func (s *fileStream) Ladder() grid.Ladder { return s.ladder }

// ReadSlab reads slices lo ≤ i < hi from the file to dst.
func (s *fileStream) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	first := lo * s.Shape().SliceVoxels()
	if err := s.read(dst, first); err != nil {
		return err
	}
	if s.Type() == grid.Float32 {
		return s.normalise(grid.Values[float32](dst), first, s.Shape())
	}
	return nil
}

// read fills dst with voxels from the given one on.
func (s *fileStream) read(dst []byte, first int64) error {
	b := s.body
	if b.plain() {
		return s.readStored(dst, first*b.stored.size())
	}
	stored := grid.NewBuffer(int64(len(dst)) / s.Type().Size() * b.stored.size())
	if err := s.readStored(stored, first*b.stored.size()); err != nil {
		return err
	}
	native, _, err := b.convert(stored)
	copy(dst, native)
	return err
}

// readStored fills dst with the voxels' bytes in the file from the given one on.
func (s *fileStream) readStored(dst []byte, from int64) error {
	if s.body.inflate != nil {
		return s.inflate(dst, from)
	}
	if err := readAt(s.file, dst, s.body.offset+from); err != nil {
		return fmt.Errorf("reading voxels at byte %d: %w", s.body.offset+from, err)
	}
	return nil
}

// inflate is readStored of compressed voxels, when all before them were read.
func (s *fileStream) inflate(dst []byte, from int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.inflated < from && s.failed == nil {
		s.turn.Wait()
	}
	if s.failed == nil && s.inflated > from {
		s.failed = errors.New("its compressed voxels can be read once, in order; decompress the file")
	}
	if s.failed == nil {
		var n int
		n, s.failed = inflateNext(s.body.inflate, dst, s.inflated, s.body.bytes())
		s.inflated += int64(n)
	}
	if s.failed == nil && s.inflated == s.body.bytes() {
		s.failed = checkEnd(s.body.inflate, true)
	}
	s.turn.Broadcast()
	return s.failed
}

// Cool puts the file out of the host's page cache, and reports whether it is.
func (s *fileStream) Cool() (cold bool, err error) {
	if f, ok := s.closer.(*os.File); ok {
		return dropPages(f)
	}
	return false, nil
}

// Close closes the file.
func (s *fileStream) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
