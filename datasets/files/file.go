package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/datasets/zarr"
	"eccbench/internal/grid"
	"eccbench/internal/regular"
)

// Options hold the properties that a file does not contain, and how to read it.
type Options struct {
	// Shape and Type are required for a raw file and must be zero for other files.
	Shape grid.Shape
	Type  grid.Type
	// OneSlice marks a Shape of 2 axes as a volume of one slice.
	OneSlice bool
	// Other is a type of a raw file that grid.Type does not have, such as float64 or int8.
	Other string
	// Levels is 0 for the identity ladder of 8 and 16-bit types, and for the table of distinct
	// values of float32. For float32, Levels > 0 is the number of levels of an affine ladder from
	// the least value to the greatest.
	Levels int64
	// Every selects the identity ladder of float32 too, which does not need a pass over the voxels.
	// Levels is 0 then.
	Every bool
	// Gaps excludes NaN voxels from the image, together with Every.
	Gaps bool
	// Stream requests a source that reads slabs from the file, instead of an image in memory. With
	// Once, it may be a compressed file whose slabs are read once: in order, or together.
	Stream, Once bool
	// Volume is the number of one image in a file with several, from 0; nil for the only one.
	Volume *int64
	// Array is the name of one array in a file with several. "" selects the only array, or the
	// finest level of an image.
	Array string
	// Channel is the name or the number of a channel, or "" for the only one.
	Channel string
	// Strict makes a missing chunk of a Zarr array an error instead of reading the fill value.
	Strict bool
	// Memory is the greatest size in bytes of an image in memory; 0 for no limit.
	Memory int64
	// Surveys cache the results of complete passes over files; nil for none.
	Surveys *Surveys
}

// normalise returns the check and conversion of float32 values.
func (o Options) normalise() func(values []float32, base int64, shape grid.Shape) error {
	if o.Gaps {
		return grid.NormaliseGaps
	}
	return grid.Normalise
}

// Open reads the image at path. The extension determines the format; for an unknown extension
// the first bytes do. With a Shape, a file with an unknown extension is raw.
//
// The source is a *grid.Field. With o.Stream it is an io.Closer that keeps the file open until
// Close. Open reads a streamed float32 image once, to reject NaN and ±Inf and to find its
// levels.
//
// Every error is one line, "path: what is wrong; what to do", and so are later errors of ReadSlab.
func Open(path string, o Options) (grid.Source, error) {
	s, err := openPath(path, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func openPath(path string, o Options) (grid.Source, error) {
	files := &storage.Set{}
	body, err := describePath(files, path, o)
	var s grid.Source
	if err == nil {
		s, err = body.source()
	}
	err = files.Blame(err)
	if stream, ok := s.(*fileStream); ok && err == nil {
		stream.files, stream.path = files, path
		return s, nil
	}
	if cerr := files.Close(); err == nil && cerr != nil {
		return nil, cerr
	}
	if f, ok := s.(*grid.Field); ok && err == nil {
		return body.noted(f, files)
	}
	return s, err
}

// describePath opens the image at path and reads its header.
func describePath(s *storage.Set, path string, o Options) (*fileBody, error) {
	if IsZarr(path) || isZarrName(path) {
		return describeZarrPath(s, path, o)
	}
	f, size, err := s.Open(path)
	if advice := foreign(path, nil); advice != nil && errors.Is(err, regular.ErrDirectory) {
		return nil, advice
	}
	if err != nil {
		return nil, err
	}
	return describe(path, fileInput{ReaderAt: f, size: size, Options: o, files: s})
}

// Files returns the files of the image at path. The files that its header names follow it.
func Files(path string, o Options) []string {
	if storage.IsURL(path) && !IsZarr(path) && !isZarrName(path) { // which has no other files
		return []string{path}
	}
	files := &storage.Set{}
	defer files.Close() // closing a file that was only read cannot lose anything
	o.Stream = true     // nothing is decoded
	// An image that cannot be read has only the files that were opened.
	describePath(files, path, o)
	if names := files.Names(); len(names) > 0 {
		return names
	}
	return []string{path}
}

// A fileInput is the input of a format's reader: the bytes of an image file, their number, and the
// caller's options.
type fileInput struct {
	io.ReaderAt
	size int64
	Options
	files *storage.Set // the open files; nil for bytes without a file
	// identity identifies the bytes if files does not.
	identity string
	held     []byte // the bytes, if they are in memory and not shared
	unsized  bool   // the bytes are the beginning of a file of unknown size
}

// ladder returns the ladder of float32 voxels, and reports whether it was cached.
func (in fileInput) ladder(shape grid.Shape, newReader func() element.Reader) (l grid.Ladder, known bool, err error) {
	if in.Every {
		return grid.Identity(grid.Float32), true, nil
	}
	if in.Gaps {
		return l, false, errors.New("NaN can be left out where each float32 is a level: add levels=every")
	}
	image := in.identity
	if image == "" {
		image = in.files.Identity()
	}
	if image != "" && in.Volume != nil {
		image += fmt.Sprintf("volume %d ", *in.Volume)
	}
	if image != "" {
		image += in.Array
	}
	return in.Surveys.ladder(image, in.Levels, func() (grid.Ladder, error) { return element.Float32Ladder(shape, in.Levels, newReader) })
}

// head reads up to n bytes from the start of the file.
func (in fileInput) head(n int64) ([]byte, error) {
	b := make([]byte, min(n, in.size))
	if _, err := in.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the header: %w", storage.Cause(err))
	}
	return b, nil
}

// A fileFormat is one kind of image file.
type fileFormat struct {
	name       string
	extensions []string // lower case, with the dot
	// matches recognizes the format by the first bytes of a file; nil if they are not
	// characteristic.
	matches func(head []byte) bool
	// open reads the header and describes the storage of the voxels.
	open func(fileInput) (*fileBody, error)
}

// fileFormats lists the formats of Open, in the order in which their first bytes are tried.
func fileFormats() []fileFormat {
	return []fileFormat{
		{"raw", []string{".raw", ".bin", ".dat"}, nil, openRaw},
		{"npy", []string{".npy"}, startsWith(npyMagic), openNpy},
		{"npz", []string{".npz"}, startsWith(npzMagic), openNpz},
		{"NIfTI", []string{".nii", ".nii.gz", ".hdr", ".hdr.gz", ".img", ".img.gz"}, matchesNifti, openNifti},
		{"NRRD", []string{".nrrd", ".nhdr"}, startsWith(nrrdMagic), openNrrd},
		{"MetaImage", []string{".mha", ".mhd"}, matchesMeta, openMeta},
		{"MRC", []string{".mrc", ".mrcs", ".map", ".rec"}, matchesMrc, openMrc},
		{"ISQ", []string{".isq"}, startsWith(isqMagic), openIsq},
		{"FITS", []string{".fits", ".fit", ".fts"}, startsWith(fitsMagic), openFits},
		{"DICOM", []string{".dcm", ".dicom", ".ima"}, matchesDicom, openDicom},
		{"PNG", []string{".png"}, startsWith(pngMagic), openPng},
		{"BMP", []string{".bmp"}, matchesBmp, openBmp},
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

// openImage opens an image from a file with a name.
func openImage(name string, in fileInput) (grid.Source, error) {
	body, err := describe(name, in)
	if err != nil {
		return nil, err
	}
	return body.source()
}

// describe reads the header of an image from a file with a name.
func describe(name string, in fileInput) (*fileBody, error) {
	if in.size == 0 {
		return nil, errors.New("the file is empty; it contains no image")
	}
	if in.Levels < 0 || in.Levels > grid.MaxLevels {
		return nil, levelsError(in.Levels)
	}
	format, err := formatOf(name, in)
	if wrapped := (wrappedFile{}); errors.As(err, &wrapped) {
		if in.Stream {
			return in.wrapped(wrapped)
		}
		if in, err = in.unwrap(wrapped); err != nil {
			return nil, err
		}
		return describe(wrapped.inner, in)
	}
	if err != nil {
		return nil, err
	}
	if given := in.Shape != (grid.Shape{}) || in.typed(); given && format.name != "raw" {
		return nil, fmt.Errorf("a %s file has its own shape and type; leave them out", format.name)
	}
	if in.unsized && !slices.Contains(passed, format.name) {
		return nil, NotStreamed{"what follows its voxels is not known"}
	}
	body, err := format.open(in)
	if err != nil {
		return nil, err
	}
	if in.Array != "" && format.name != "npz" {
		return nil, fmt.Errorf("a %s file has no arrays with names; leave --array out", format.name)
	}
	if in.Channel != "" && format.name != "TIFF" {
		return nil, fmt.Errorf("a %s file has no channels with names; leave --channel out, or choose by --volume",
			format.name)
	}
	if in.Volume != nil && body.volumes.count == 0 {
		return nil, fmt.Errorf("a %s file has one volume; leave --volume out", format.name)
	}
	if body.in.ReaderAt == nil {
		body.in = in
	}
	return body, nil
}

// levelsError returns the error of an impossible number of levels.
func levelsError(n int64) error {
	return fmt.Errorf("%d levels asked for; want 0 to %d", n, int64(grid.MaxLevels))
}

// IsImage reports whether a file's name denotes an image with a header for its shape and type. For
// a pair of files this is the header, not the file of the voxels.
func IsImage(path string) bool {
	path = strings.ToLower(path)
	if _, inner, ok := wrapping(path, nil); ok && !strings.HasPrefix(filepath.Ext(inner), ".img") {
		path = inner
	}
	for _, f := range fileFormats()[1:] {
		if slices.ContainsFunc(f.extensions, func(ext string) bool { return strings.HasSuffix(path, ext) && !strings.HasPrefix(ext, ".img") }) {
			return true
		}
	}
	return false
}

// A wrappedFile is a file that is compressed as a whole.
type wrappedFile struct {
	by    storage.Compression
	inner string // its name without the compression
}

func (w wrappedFile) Error() string { return "compressed by " + w.by.Name }

// fileVersion matches the end of file names from an OpenVMS system, such as Scanco scanners.
var fileVersion = regexp.MustCompile(`;[0-9]+$`)

// formatOf determines a file's format by its name, else by its first bytes. It returns an error for
// a file that is compressed as a whole.
func formatOf(name string, in fileInput) (fileFormat, error) {
	formats := fileFormats()
	name = fileVersion.ReplaceAllString(strings.ToLower(filepath.Base(name)), "")
	var known []string
	for _, f := range formats {
		for _, ext := range f.extensions {
			if strings.HasSuffix(name, ext) {
				return f, nil
			}
		}
		known = append(known, f.extensions...)
	}
	head, err := in.head(niftiHeaderSize)
	if err != nil {
		return fileFormat{}, err
	}
	if err := foreign(name, nil); err != nil && in.Shape == (grid.Shape{}) {
		return fileFormat{}, err
	}
	stored := in.Stored()
	exact := stored != 0 && in.Shape.Check() == nil && in.Shape.Voxels()*stored.Size() == in.size
	if p, inner, ok := wrapping(name, head); ok && in.held == nil && !exact { // the first bytes can be anything
		return fileFormat{}, wrappedFile{p, inner}
	}
	if in.Shape != (grid.Shape{}) {
		return formats[0], nil
	}
	for _, f := range formats {
		if f.matches != nil && f.matches(head) {
			return f, nil
		}
	}
	if err := foreign(name, head); err != nil {
		return fileFormat{}, err
	}
	return fileFormat{}, fmt.Errorf("neither the name nor the first bytes identify the format; want one of %s",
		strings.Join(known, " "))
}

// fileShape makes a shape of axes given slowest first. It drops slow axes of length 1 beyond the
// third.
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

// stream makes a source that reads slabs of a body separately or in order.
func (b *fileBody) stream() (grid.Source, error) {
	var why string
	switch {
	case b.inflate != nil && !b.in.Once:
		why = "its voxels are compressed"
	case b.inflate != nil && b.volumes.count > 1:
		why = "its volumes are compressed"
	case b.volumes.stride > 1:
		why = "its volumes lie voxel by voxel"
	case b.decoded != nil:
		why = "it is decoded whole"
	case b.fortran:
		why = "its voxels are in Fortran order"
	case b.ranked():
		why = fmt.Sprintf("its voxels of %s become float32, or ranks", b.stored)
	case b.inflate != nil && b.native() == grid.Float32 && !b.in.Every:
		why = "its voxels are compressed, and their levels are to be found first"
	}
	if why != "" {
		return nil, NotStreamed{why}
	}
	s := &fileStream{body: b, ladder: grid.Identity(b.native()), normalise: b.in.normalise()}
	s.turn.L = &s.mu
	if b.inflate != nil {
		if err := checkRatio(b.bytes(), b.packed, b.ratio); err != nil {
			return nil, err
		}
	} else if err := b.checkPlain(); err != nil {
		return nil, err
	}
	if s.Type() != grid.Float32 {
		return s, nil
	}
	var err error
	s.ladder, _, err = b.in.ladder(b.shape, func() element.Reader {
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

// NotStreamed is the error of a file whose slabs cannot be read separately.
type NotStreamed struct{ why string }

func (n NotStreamed) Error() string {
	return fmt.Sprintf("cannot be streamed because %s; read it whole, or save it as raw little-endian", n.why)
}

// A fileStream is a source that reads its slabs from a file. It must be closed. Compressed voxels
// can be read only once: a read of a slab waits for the reads of all earlier voxels.
type fileStream struct {
	body   *fileBody
	ladder grid.Ladder
	files  *storage.Set // the files of the voxels; nil for none
	path   string       // the name for messages; "" until Open returns
	// normalise is grid.Normalise or grid.NormaliseGaps.
	normalise func(values []float32, base int64, shape grid.Shape) error

	mu       sync.Mutex
	turn     sync.Cond // inflated or failed changed
	inflated int64     // bytes so far
	failed   error
}

// Shape returns the image's shape.
func (s *fileStream) Shape() grid.Shape { return s.body.shape }

// Type returns the image's element type.
func (s *fileStream) Type() grid.Type { return s.body.native() }

// Ladder returns the levels of answers about the image.
func (s *fileStream) Ladder() grid.Ladder { return s.ladder }

// A ReadError is an error in the voxels of a file with a valid header.
type ReadError struct {
	Path string
	Err  error
}

func (e *ReadError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// ReadSlab reads slices lo ≤ i < hi from the file to dst. An error in the file is a *ReadError.
func (s *fileStream) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	err := s.readSlab(dst, lo)
	if !errors.Is(err, io.EOF) { // already reported
		err = s.files.Blame(err)
	}
	if err != nil && s.path != "" {
		err = &ReadError{s.path, err}
	}
	return err
}

// readSlab fills dst with slices from lo.
func (s *fileStream) readSlab(dst []byte, lo int64) error {
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
func (s *fileStream) read(dst []byte, first int64) error {
	b := s.body
	if b.plain() {
		err := s.readStored(dst, first*b.stored.Size())
		if b.truth {
			oneTruths(dst)
		}
		return err
	}
	stored := grid.NewBuffer(int64(len(dst)) / s.Type().Size() * b.stored.Size())
	if err := s.readStored(stored, first*b.stored.Size()); err != nil {
		return err
	}
	native, _, err := b.convert(stored)
	copy(dst, native)
	return err
}

// readStored fills dst with the stored bytes of voxels from the given byte.
func (s *fileStream) readStored(dst []byte, from int64) error {
	if s.body.inflate != nil {
		return s.inflate(dst, from)
	}
	b := s.body
	from += b.offset + b.volumes.first*b.stored.Size()
	err := storage.ReadAt(b.in.ReaderAt, dst, from)
	if err == io.EOF { // of the file itself, not of compressed data in it
		return fmt.Errorf("became shorter while it was read, and ends before byte %d; leave it as it is meanwhile: %w",
			from+int64(len(dst)), err)
	}
	if err != nil {
		return fmt.Errorf("reading voxels at byte %d: %w", from, storage.Cause(err))
	}
	return b.sum.add(b, dst, from-b.offset-b.volumes.first*b.stored.Size())
}

// inflate is readStored for compressed voxels. It waits for the reads of all earlier voxels.
func (s *fileStream) inflate(dst []byte, from int64) error {
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
		n, s.failed = inflateNext(s.body.inflate, dst, s.inflated, s.body.bytes())
		s.inflated += int64(n)
	}
	if s.failed == nil && s.inflated == s.body.bytes() {
		s.failed = storage.CheckEnd(s.body.inflate, true)
	}
	s.turn.Broadcast()
	return s.failed
}

// Step returns the number of slices that are read together.
func (s *fileStream) Step() int64 {
	if chunks, ok := s.body.in.ReaderAt.(*zarr.Array); ok {
		return chunks.Step()
	}
	return 1
}

// InBulk is true for remote files and for chunks, which may be remote.
func (s *fileStream) InBulk() bool {
	switch s.body.in.ReaderAt.(type) {
	case *storage.Object, *zarr.Array:
		return true
	}
	return false
}

// Held returns the bytes of memory for slices that are read together.
func (s *fileStream) Held() int64 {
	if chunks, ok := s.body.in.ReaderAt.(*zarr.Array); ok {
		return chunks.Held()
	}
	return 0
}

// Cool evicts the file from the host's page cache, and reports whether it is evicted.
func (s *fileStream) Cool() (cold bool, err error) {
	if _, chunks := s.body.in.ReaderAt.(*zarr.Array); chunks || s.files == nil {
		return false, nil
	}
	return s.files.Cool()
}

// Missing describes the missing parts of the file and the values of their voxels; "" for none.
func (s *fileStream) Missing() string {
	return s.body.missing(s.files)
}

// missing describes the missing parts of the image's files, "" for none.
func (b *fileBody) missing(files *storage.Set) string {
	var lacks []string
	if chunks, ok := b.in.ReaderAt.(*zarr.Array); ok {
		lacks = append(lacks, chunks.Missing())
	}
	if files.Unversioned() {
		lacks = append(lacks, "the server names no version (ETag, Last-Modified): only lengths are compared")
	}
	return strings.Join(slices.DeleteFunc(lacks, func(s string) bool { return s == "" }), "; ")
}

// Unchanged returns an error if a file, or a chunk that was read, has changed.
func (s *fileStream) Unchanged() error {
	err := s.files.Blame(nil)
	if chunks, ok := s.body.in.ReaderAt.(*zarr.Array); ok && err == nil {
		err = chunks.Unchanged()
	}
	if err != nil {
		return &ReadError{s.path, err}
	}
	return nil
}

// Dim returns the number of the image's axes.
func (s *fileStream) Dim() int { return max(s.body.axes, s.body.shape.Dim()) }

// noted returns a field of all voxels that keeps its number of axes and its missing parts.
func (b *fileBody) noted(f *grid.Field, files *storage.Set) (grid.Source, error) {
	if b.axes == 3 {
		f = f.Volume()
	}
	if lacks := b.missing(files); lacks != "" {
		f = f.Lacking(lacks)
	}
	if chunks, ok := b.in.ReaderAt.(*zarr.Array); ok {
		return f, chunks.Unchanged()
	}
	return f, nil
}

// Close closes the file.
func (s *fileStream) Close() error {
	if chunks, ok := s.body.in.ReaderAt.(*zarr.Array); ok {
		chunks.Close() // never fails
	}
	if s.files == nil {
		return nil
	}
	return s.files.Close()
}
