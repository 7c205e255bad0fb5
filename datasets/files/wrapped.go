package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
)

// wrappings are the compressions of whole files.
var wrappings = []storage.Compression{storage.Gzip, storage.Zstd, storage.Bzip2}

// wrapping returns the compression of a file by its name, else by its first bytes, and the name
// without its extension.
func wrapping(name string, head []byte) (p storage.Compression, inner string, ok bool) {
	for _, p := range wrappings {
		if n := len(name) - len(p.Extension); n > 0 && strings.EqualFold(name[n:], p.Extension) {
			return p, name[:n], true
		}
	}
	for _, p := range wrappings {
		if bytes.HasPrefix(head, []byte(p.Magic)) { // a string of the whole file would be a copy
			return p, name, true
		}
	}
	return storage.Compression{}, "", false
}

// signed are the formats whose files always begin with a signature.
var signed = []string{"npy", "npz", "NRRD", "FITS", "DICOM", "PNG", "BMP", "TIFF"}

// checkWrapped returns an error if the first bytes of a compressed file contradict its name. It runs before
// the whole file is decompressed.
func checkWrapped(in format.Input, w wrappedFile, r *bufio.Reader) error {
	var err error
	if in.Held, err = r.Peek(format.PassHead); err != nil {
		return nil // the file is short, or the error appears again
	}
	in.ReaderAt, in.Size = bytes.NewReader(in.Held), int64(len(in.Held))
	kind, err := formatOf(w.inner, in)
	if err == nil && slices.Contains(signed, kind.Name) && !kind.Matches(in.Held) {
		err = fmt.Errorf("not a %s file, although it has the name of one: its first bytes differ; check the file",
			kind.Name)
	}
	return err
}

// unwrap decompresses a whole file into memory, which grows as bytes arrive.
func unwrap(in format.Input, w wrappedFile) (format.Input, error) {
	p := w.by
	r, err := p.Open(bufio.NewReader(io.NewSectionReader(in, 0, in.Size)), in.Size)
	if err == nil {
		plain := bufio.NewReaderSize(r, format.PassHead)
		if err := checkWrapped(in, w, plain); err != nil {
			return in, err
		}
		in.Held, err = format.ReadAll(plain, in.Size, in.Memory)
	}
	if err != nil {
		return in, unwrapError(p, err)
	}
	in.ReaderAt, in.Size = bytes.NewReader(in.Held), int64(len(in.Held))
	if in.Memory > 0 {
		in.Memory = max(1, in.Memory-in.Size)
	}
	return in, nil
}

// unwrapError returns the error of a user's file for one of its decompression.
func unwrapError(p storage.Compression, err error) error {
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("truncated: the data by %s end too early; copy the file again", p.Name)
	case errors.As(err, new(format.NoRoom)):
		return err
	}
	return fmt.Errorf("decompressing: %w; copy the file again", storage.Cause(err))
}

// Unwrap returns the contents of a file that is compressed as a whole, recognised as those of images are, and its name
// without the extension of the compression. Other contents and names are returned as they are.
func Unwrap(name string, data []byte) ([]byte, string, error) {
	p, inner, ok := wrapping(name, data)
	if !ok {
		return data, name, nil
	}
	r, err := p.Open(bufio.NewReader(bytes.NewReader(data)), int64(len(data)))
	if err == nil {
		data, err = format.ReadAll(r, int64(len(data)), 0)
	}
	if err != nil {
		return nil, inner, unwrapError(p, err)
	}
	return data, inner, nil
}

// passed are the formats with a header followed by voxels and nothing else.
var passed = []string{"raw", "npy", "NIfTI", "NRRD", "MetaImage"}

// describeWrapped describes an image in a file that is compressed as a whole and read in order.
func describeWrapped(in format.Input, w wrappedFile) (*format.Body, error) {
	open := func() (io.Reader, error) {
		return w.by.Open(bufio.NewReader(io.NewSectionReader(in, 0, in.Size)), in.Size)
	}
	return in.Pass(open, in.Size, w.by.Ratio, "it is compressed by "+w.by.Name,
		func(in format.Input) (*format.Body, error) { return describe(w.inner, in) })
}

// A wrappedFile is a file that is compressed as a whole.
type wrappedFile struct {
	by    storage.Compression
	inner string // its name without the compression
}

func (w wrappedFile) Error() string { return "compressed by " + w.by.Name }
