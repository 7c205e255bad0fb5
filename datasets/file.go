package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
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
	// OneSlice says that a Shape of 2 axes is that of a volume of one slice.
	OneSlice bool
	// Other is the type of a raw file in place of Type where it is another, such as float64 or int8.
	Other string
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
	// Volume is the image that is meant of a file that holds several, from 0 on; nil for
	// the only one.
	Volume *int64
	// Array is the name of one array in a file that holds several, "" for the only one, or for
	// the finest level of an image that has several.
	Array string
	// Channel is the name or the number of one of an image's channels, "" for the only one.
	Channel string
	// Strict makes an error of a chunk of a Zarr array that is missing, in place of the fill value.
	Strict bool
	// Memory is how many bytes an image that is held whole may take; 0 for no limit.
	Memory int64
	// Surveys remember what was found of files that were looked at whole; nil for none.
	Surveys *Surveys
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
// Every error is one line, "path: what is wrong; what to do", and so is what ReadSlab says of the file later.
func OpenFile(path string, o FileOptions) (grid.Source, error) {
	s, err := openPath(path, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func openPath(path string, o FileOptions) (grid.Source, error) {
	files := &fileSet{}
	body, err := files.describe(path, o)
	var s grid.Source
	if err == nil {
		s, err = body.source()
	}
	err = files.blame(err)
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

// describe opens the image at path, and reads its header.
func (s *fileSet) describe(path string, o FileOptions) (*fileBody, error) {
	if IsZarr(path) || isZarrName(path) {
		return s.describeZarr(path, o)
	}
	f, size, err := s.open(path)
	if err != nil {
		return nil, err
	}
	return describe(path, fileInput{ReaderAt: f, size: size, FileOptions: o, files: s})
}

// filesOf are the files that the image at path is read from: those that its header names
// come after it.
func filesOf(path string, o FileOptions) []string {
	if IsURL(path) && !IsZarr(path) && !isZarrName(path) { // which has no others beside it
		return []string{path}
	}
	files := &fileSet{}
	defer files.Close() // only looked at
	o.Stream = true     // what would be decoded whole is not
	// An image that cannot be read is read from no more than was opened of it.
	files.describe(path, o)
	if names := files.names(); len(names) > 0 {
		return names
	}
	return []string{path}
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
	files *fileSet // that are open; nil for bytes that are no file's
	// identity tells what the bytes are from others where files does not.
	identity string
	held     []byte // the bytes, where they are in memory and nobody else's
	unsized  bool   // the bytes are the first ones, and nobody knows of how many
}

// ladder is the ladder of float32 voxels, found or remembered, and whether it was
// remembered.
func (in fileInput) ladder(shape grid.Shape, newReader func() chunkReader) (l grid.Ladder, known bool, err error) {
	if in.Every {
		return grid.Identity(grid.Float32), true, nil
	}
	if in.Gaps {
		return l, false, errors.New("NaN can be left out where each float32 is a level: add levels=every")
	}
	image := in.identity
	if image == "" {
		image = in.files.identity()
	}
	if image != "" && in.Volume != nil {
		image += fmt.Sprintf("volume %d ", *in.Volume)
	}
	if image != "" {
		image += in.Array
	}
	return in.Surveys.ladder(image, in.Levels, func() (grid.Ladder, error) { return float32Ladder(shape, in.Levels, newReader) })
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

// openImage opens an image whose file is called name.
func openImage(name string, in fileInput) (grid.Source, error) {
	body, err := describe(name, in)
	if err != nil {
		return nil, err
	}
	return body.source()
}

// describe reads the header of an image whose file is called name.
func describe(name string, in fileInput) (*fileBody, error) {
	if in.size == 0 {
		return nil, errors.New("the file is empty; it holds no image")
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
		return nil, fmt.Errorf("a %s file says its own shape and type; leave them out", format.name)
	}
	if in.unsized && !slices.Contains(passed, format.name) {
		return nil, notStreamed{"what follows its voxels is not known"}
	}
	body, err := format.open(in)
	if err != nil {
		return nil, err
	}
	if in.Array != "" && format.name != "npz" {
		return nil, fmt.Errorf("a %s file has no arrays with names; leave --array out", format.name)
	}
	if in.Channel != "" && format.name != "TIFF" {
		return nil, fmt.Errorf("a %s file has no channels with names; leave --channel out, or choose by --volume", format.name)
	}
	if in.Volume != nil && body.volumes.count == 0 {
		return nil, fmt.Errorf("a %s file has one volume; leave --volume out", format.name)
	}
	if body.in.ReaderAt == nil {
		body.in = in
	}
	return body, nil
}

// levelsError is that of a number of levels that there cannot be.
func levelsError(n int64) error {
	return fmt.Errorf("%d levels asked for; want 0 to %d", n, int64(grid.MaxLevels))
}

// IsImage reports whether a file's name says that it is an image which tells its own shape
// and type. The voxels of a pair are none: their header is.
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
	by    packing
	inner string // its name without that
}

func (w wrappedFile) Error() string { return "compressed by " + w.by.name }

// fileVersion ends the names of files from an OpenVMS system, such as those of Scanco scanners.
var fileVersion = regexp.MustCompile(`;[0-9]+$`)

// formatOf picks a file's format by its name, else by its first bytes. A file that is
// compressed as a whole is an error that says so.
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
	stored := in.stored()
	exact := stored != 0 && in.Shape.Check() == nil && in.Shape.Voxels()*stored.size() == in.size
	if p, inner, ok := wrapping(name, head); ok && in.held == nil && !exact { // whose first bytes are anything
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
		return nil, notStreamed{why}
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
	s.ladder, _, err = b.in.ladder(b.shape, func() chunkReader {
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
	files  *fileSet // that the voxels' file is of; nil for none
	path   string   // as it was named; "" before it is handed out, when whoever opens it says so
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

// A ReadError is what is wrong with the voxels of a file, whose header was right when it was opened.
type ReadError struct {
	Path string
	Err  error
}

func (e *ReadError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// ReadSlab reads slices lo ≤ i < hi from the file to dst. What is wrong with the file is a *ReadError.
func (s *fileStream) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	err := s.readSlab(dst, lo)
	if !errors.Is(err, io.EOF) { // which has said so
		err = s.files.blame(err)
	}
	if err != nil && s.path != "" {
		err = &ReadError{s.path, err}
	}
	return err
}

// readSlab fills dst with slices from lo on.
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

// read fills dst with voxels from the given one on.
func (s *fileStream) read(dst []byte, first int64) error {
	b := s.body
	if b.plain() {
		err := s.readStored(dst, first*b.stored.size())
		if b.truth {
			oneTruths(dst)
		}
		return err
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
	b := s.body
	from += b.offset + b.volumes.first*b.stored.size()
	err := readAt(b.in.ReaderAt, dst, from)
	if err == io.EOF { // of the file itself, not of what is packed in it
		return fmt.Errorf("became shorter while it was read, and ends before byte %d; leave it as it is meanwhile: %w", from+int64(len(dst)), err)
	}
	if err != nil {
		return fmt.Errorf("reading voxels at byte %d: %w", from, pathCause(err))
	}
	return b.sum.add(b, dst, from-b.offset-b.volumes.first*b.stored.size())
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
	if s.failed == nil && s.inflated == 0 {
		s.failed = s.body.skip()
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

// Step is how many slices are read together, whoever asks for one of them.
func (s *fileStream) Step() int64 {
	if chunks, ok := s.body.in.ReaderAt.(*zarrArray); ok {
		return chunks.step()
	}
	return 1
}

// InBulk says so of what is not on this machine, and of chunks, which may not be.
func (s *fileStream) InBulk() bool {
	switch s.body.in.ReaderAt.(type) {
	case *remoteFile, *zarrArray:
		return true
	}
	return false
}

// Held is how many bytes are kept of what is read together.
func (s *fileStream) Held() int64 {
	if chunks, ok := s.body.in.ReaderAt.(*zarrArray); ok {
		return chunks.held()
	}
	return 0
}

// Cool puts the file out of the host's page cache, and reports whether it is.
func (s *fileStream) Cool() (cold bool, err error) {
	if _, chunks := s.body.in.ReaderAt.(*zarrArray); chunks || s.files == nil {
		return false, nil
	}
	return s.files.Cool()
}

// Missing is what there is not of the file, and what its voxels were set to; "" for nothing.
func (s *fileStream) Missing() string {
	return s.body.missing(s.files)
}

// missing is what there is not of the image's files, "" for nothing.
func (b *fileBody) missing(files *fileSet) string {
	var lacks []string
	if chunks, ok := b.in.ReaderAt.(*zarrArray); ok {
		lacks = append(lacks, chunks.missing())
	}
	if files.unversioned() {
		lacks = append(lacks, "the server names no version (ETag, Last-Modified): only lengths are compared")
	}
	return strings.Join(slices.DeleteFunc(lacks, func(s string) bool { return s == "" }), "; ")
}

// Unchanged is an error if a file, or a chunk that was read, is not what it was.
func (s *fileStream) Unchanged() error {
	err := s.files.blame(nil)
	if chunks, ok := s.body.in.ReaderAt.(*zarrArray); ok && err == nil {
		err = chunks.unchanged()
	}
	if err != nil {
		return &ReadError{s.path, err}
	}
	return nil
}

// Dim is the number of the image's axes.
func (s *fileStream) Dim() int { return max(s.body.axes, s.body.shape.Dim()) }

// noted is a field of all voxels, which keeps its axes and what there is not of the file.
func (b *fileBody) noted(f *grid.Field, files *fileSet) (grid.Source, error) {
	if b.axes == 3 {
		f = f.Volume()
	}
	if lacks := b.missing(files); lacks != "" {
		f = f.Lacking(lacks)
	}
	if chunks, ok := b.in.ReaderAt.(*zarrArray); ok {
		return f, chunks.unchanged()
	}
	return f, nil
}

// Close closes the file.
func (s *fileStream) Close() error {
	if chunks, ok := s.body.in.ReaderAt.(*zarrArray); ok {
		chunks.Close() // which fails never
	}
	if s.files == nil {
		return nil
	}
	return s.files.Close()
}
