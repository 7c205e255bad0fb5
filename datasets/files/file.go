package files

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"eccbench/datasets/files/arrays"
	"eccbench/datasets/files/dicom"
	"eccbench/datasets/files/format"
	"eccbench/datasets/files/raster"
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
// Every error is one line, "path: the fault; the remedy", and so are later errors of ReadSlab.
func Open(path string, o format.Options) (grid.Source, error) {
	s, err := openPath(path, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func openPath(path string, o format.Options) (grid.Source, error) {
	files := &storage.Set{}
	body, err := describePath(files, path, o)
	var s grid.Source
	if err == nil {
		s, err = body.Source()
	}
	err = files.Blame(err)
	if stream, ok := s.(*format.Stream); ok && err == nil {
		stream.Files, stream.Path = files, path
		return s, nil
	}
	if cerr := files.Close(); err == nil && cerr != nil {
		return nil, cerr
	}
	if f, ok := s.(*grid.Field); ok && err == nil {
		return body.Noted(f, files)
	}
	return s, err
}

// describePath opens the image at path and reads its header.
func describePath(s *storage.Set, path string, o format.Options) (*format.Body, error) {
	if IsZarr(path) || isZarrName(path) {
		return describeZarrPath(s, path, o)
	}
	f, size, err := s.Open(path)
	if errors.Is(err, regular.ErrDirectory) {
		return nil, cmp.Or(foreign(path, nil), fmt.Errorf("is a directory; want an image file, or stack/path=FOLDER for "+
			"its images as one volume"))
	}
	if err != nil {
		return nil, err
	}
	return describe(path, format.Input{ReaderAt: f, Size: size, Options: o, Files: s})
}

// Files returns the files of the image at path. The files that its header names follow it.
func Files(path string, o format.Options) []string {
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
func fileFormats() []format.Format {
	return slices.Concat(arrays.Formats(), dicom.Formats(), raster.Formats())
}

// describe reads the header of an image from a file with a name.
func describe(name string, in format.Input) (*format.Body, error) {
	if in.Size == 0 {
		return nil, errors.New("the file is empty; it contains no image")
	}
	if in.Levels < 0 || in.Levels > grid.MaxLevels {
		return nil, format.LevelsError(in.Levels)
	}
	kind, err := formatOf(name, in)
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
	if given := in.Shape != (grid.Shape{}) || in.Typed(); given && kind.Name != "raw" {
		return nil, fmt.Errorf("a %s file has its own shape and type; leave them out", kind.Name)
	}
	if in.Unsized && !slices.Contains(passed, kind.Name) {
		return nil, format.NotStreamed{Reason: "what follows its voxels is not known"}
	}
	body, err := kind.Open(in)
	if err != nil {
		return nil, err
	}
	body.Format = kind.Name
	if in.Array != "" && kind.Name != "npz" {
		return nil, fmt.Errorf("a %s file has no arrays with names; leave array out", kind.Name)
	}
	if in.Channel != "" && kind.Name != "TIFF" {
		return nil, fmt.Errorf("a %s file has no channels with names; leave channel out, or choose by volume",
			kind.Name)
	}
	if in.Strict {
		return nil, fmt.Errorf("a %s file has no chunks that can be missing; leave strict out", kind.Name)
	}
	if in.Volume != nil && body.Volumes.Count == 0 {
		return nil, fmt.Errorf("a %s file has one volume; leave volume out", kind.Name)
	}
	if body.In.ReaderAt == nil {
		body.In = in
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
		slices.ContainsFunc(fileFormats()[1:], func(f format.Format) bool { return f.HasExtension(path) })
}

// fileVersion matches the end of file names from an OpenVMS system, such as Scanco scanners.
var fileVersion = regexp.MustCompile(`;[0-9]+$`)

// formatOf determines a file's format by its name, else by its first bytes. It returns an error for
// a file that is compressed as a whole.
func formatOf(name string, in format.Input) (format.Format, error) {
	formats := fileFormats()
	name = fileVersion.ReplaceAllString(strings.ToLower(filepath.Base(name)), "")
	var known []string
	for _, f := range formats {
		if f.HasExtension(name) {
			return f, nil
		}
		known = append(known, f.Extensions...)
	}
	head, err := in.Head(format.MatchedBytes)
	if err != nil {
		return format.Format{}, err
	}
	if foreign(name, nil) != nil && in.Shape == (grid.Shape{}) {
		return format.Format{}, foreign(name, head)
	}
	stored := in.Stored()
	exact := stored != 0 && in.Shape.Check() == nil && in.Shape.Voxels()*stored.Size() == in.Size
	if p, inner, ok := wrapping(name, head); ok && in.Held == nil && !exact { // the first bytes can be anything
		return format.Format{}, wrappedFile{p, inner}
	}
	if in.Shape != (grid.Shape{}) {
		return formats[0], nil
	}
	for _, f := range formats {
		if f.Matches != nil && f.Matches(head) {
			return f, nil
		}
	}
	if err := foreign(name, head); err != nil {
		return format.Format{}, err
	}
	return format.Format{}, fmt.Errorf("neither the name nor the first bytes identify the format; want one of %s",
		strings.Join(known, " "))
}
