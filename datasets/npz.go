package datasets

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"
)

const npzMagic = "PK\x03\x04"

// openNpz reads the header of an array in an archive that numpy.savez or savez_compressed
// wrote: of the only one, or of the one that the options name.
func openNpz(in fileInput) (*fileBody, error) {
	z, err := zip.NewReader(in, in.size)
	if err != nil {
		return nil, fmt.Errorf("not an npz archive: %w; the file is truncated or damaged: copy it again", err)
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	end := make([]byte, 4) // of what the archive ends with, before its comment
	if _, err := in.ReadAt(end, max(0, in.size-22-int64(len(z.Comment)))); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the archive: %w", pathCause(err))
	}
	if string(end) != "PK\x05\x06" {
		return nil, errors.New("trailing data after the archive; cut them off")
	}
	var names []string
	known := map[string]bool{}
	var chosen *zip.File
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if known[name] {
			return nil, fmt.Errorf("two arrays are named %.80q; save one of them alone", name)
		}
		known[name] = true
		if names = append(names, name); name == in.Array || in.Array == "" {
			chosen = f
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("the archive has no .npy array; save one by numpy.savez")
	case chosen == nil:
		return nil, fmt.Errorf("there is no array %.80q; want one of %s", in.Array, listOf(names))
	case in.Array == "" && len(names) > 1:
		return nil, fmt.Errorf("%d arrays; choose one with --array, or array=NAME in an input string: %s", len(names), listOf(names))
	}
	if chosen.Flags&1 != 0 {
		return nil, errors.New("the array is encrypted; save it again without a password")
	}
	size, packed := chosen.UncompressedSize64, chosen.CompressedSize64
	at, err := chosen.DataOffset()
	if err != nil {
		if _, cause := in.ReadAt(end, 0); cause != nil { // the disk's, and not the archive's
			return nil, fmt.Errorf("reading the archive: %w", pathCause(cause))
		}
	}
	if err != nil || packed > uint64(in.size) || at > in.size-int64(packed) {
		return nil, fmt.Errorf("truncated: the array's %d bytes lie beyond the end of the archive; copy it again", packed)
	}
	array := in
	if chosen.Method == zip.Store {
		if size != packed {
			return nil, fmt.Errorf("the array is said to be %d bytes and %d; the archive is damaged: copy it again", size, packed)
		}
		array.ReaderAt, array.size, array.held = io.NewSectionReader(in, at, int64(packed)), int64(packed), nil
	} else if in.Stream {
		open := func() (io.Reader, error) { return chosen.Open() }
		return in.pass(open, int64(packed), deflateRatio, "it is compressed", openNpy)
	} else if array, err = in.member(chosen); err != nil {
		return nil, err
	}
	b, err := openNpy(array)
	if err != nil {
		return nil, err
	}
	b.in = array
	if chosen.Method == zip.Store {
		err = b.sumMember(array, chosen.CRC32)
	}
	return b, err
}

// member decompresses a file of an archive into memory.
func (in fileInput) member(f *zip.File) (fileInput, error) {
	if f.UncompressedSize64/deflateRatio > f.CompressedSize64 {
		return in, fmt.Errorf("the archive says %d bytes, more than %d compressed bytes can hold; it is damaged", f.UncompressedSize64, f.CompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return in, fmt.Errorf("decompressing: %w; save it by numpy.savez", err)
	}
	defer r.Close() // only read from
	if in.held, err = readExactly(r, int64(f.UncompressedSize64), int64(f.CompressedSize64)); err != nil {
		return in, err
	}
	if err := checkEnd(r, true); err != nil {
		return in, err
	}
	in.ReaderAt, in.size = bytes.NewReader(in.held), int64(len(in.held))
	return in, nil
}

// listOf are some of a list of names.
func listOf(names []string) string {
	const most = 12
	var text []string
	for _, n := range names[:min(most, len(names))] {
		text = append(text, fmt.Sprintf("%.40q", n))
	}
	if len(names) > most {
		text = append(text, "…")
	}
	return strings.Join(text, ", ")
}
