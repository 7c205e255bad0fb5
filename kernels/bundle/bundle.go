// Package bundle packs files into one: a tar archive, compressed by zstd, which common tools can
// read.
package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A File is one file of a bundle.
type File struct {
	Name  string
	Stamp string // identifies the source of the data
	Data  []byte
}

// stampKey is the PAX record that holds a file's stamp.
const stampKey = "comment"

// Archive makes a tar archive, which is a bundle once it is compressed. The same files always make the same bytes.
func Archive(files []File) ([]byte, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{
			Format: tar.FormatPAX, Name: f.Name, Size: int64(len(f.Data)), Mode: 0o644,
			PAXRecords: map[string]string{stampKey: f.Stamp},
		})
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return archive.Bytes(), nil
}

// Decompress returns the archive of a bundle. before is data that the compressor had seen before the
// bundle, or nil.
func Decompress(data, before []byte) ([]byte, error) {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1)}
	if before != nil {
		options = append(options, zstd.WithDecoderDictRaw(0, before))
	}
	z, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	defer z.Close()
	archive, err := z.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return archive, nil
}

// Unpack returns the files of a bundle, in order. Their data shares memory. before is as for
// Decompress.
func Unpack(data, before []byte) ([]File, error) {
	archive, err := Decompress(data, before)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(archive)
	var files []File
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpacking: %w", err)
		}
		at := len(archive) - r.Len() // tar.Reader reads no further than the header
		if int64(at)+h.Size > int64(len(archive)) {
			return nil, fmt.Errorf("unpacking: %s has no end", h.Name)
		}
		files = append(files, File{h.Name, h.PAXRecords[stampKey], archive[at : at+int(h.Size) : at+int(h.Size)]})
	}
}
