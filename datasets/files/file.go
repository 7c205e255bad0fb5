package files

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"eccbench/datasets/storage"
	"eccbench/internal/grid"
	"eccbench/internal/regular"
)

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

// fileFormats lists the formats of Open, in the order in which their first bytes are tried.
func fileFormats() []fileFormat {
	return slices.Concat(arrayFormats(), dicomFormats(), rasterFormats())
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
			return describeWrapped(in, wrapped)
		}
		if in, err = unwrap(in, wrapped); err != nil {
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

// IsImage reports whether a file's name denotes an image with a header for its shape and type. For
// a pair of files this is the header, not the file of the voxels.
func IsImage(path string) bool {
	path = strings.ToLower(path)
	if _, inner, ok := wrapping(path, nil); ok && !strings.HasPrefix(filepath.Ext(inner), ".img") {
		path = inner
	}
	return !strings.HasSuffix(path, ".img") && !strings.HasSuffix(path, ".img.gz") &&
		slices.ContainsFunc(fileFormats()[1:], func(f fileFormat) bool { return f.has(path) })
}

// fileVersion matches the end of file names from an OpenVMS system, such as Scanco scanners.
var fileVersion = regexp.MustCompile(`;[0-9]+$`)

// formatOf determines a file's format by its name, else by its first bytes. It returns an error for
// a file that is compressed as a whole.
func formatOf(name string, in fileInput) (fileFormat, error) {
	formats := fileFormats()
	name = fileVersion.ReplaceAllString(strings.ToLower(filepath.Base(name)), "")
	var known []string
	for _, f := range formats {
		if f.has(name) {
			return f, nil
		}
		known = append(known, f.extensions...)
	}
	head, err := in.head(matchedBytes)
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
