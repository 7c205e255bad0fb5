package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
)

// GeometryOf reads the geometry of a NIfTI, NRRD or MetaImage file; nil if the file has none or
// another format. It determines the format as Open does.
func GeometryOf(path string, o format.Options) (*format.Geometry, error) {
	if IsZarr(path) || isZarrName(path) {
		return nil, nil
	}
	files := &storage.Set{}
	defer files.Close() // only the header is read
	f, size, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	in := format.Input{ReaderAt: f, Size: size, Options: o, Files: files}
	kind, err := formatOf(path, in)
	if w := (wrappedFile{}); errors.As(err, &w) {
		if r, err := w.by.Open(bufio.NewReader(io.NewSectionReader(f, 0, size)), size); err == nil {
			in.Held, _ = io.ReadAll(io.LimitReader(r, format.PassHead)) // a later read reports the error
		}
		in.ReaderAt, in.Size = bytes.NewReader(in.Held), int64(len(in.Held))
		kind, err = formatOf(w.inner, in)
	}
	if err != nil || kind.Geometry == nil {
		return nil, nil // a later read reports the error
	}
	g, err := kind.Geometry(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}
