package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/name"

	"github.com/klauspost/compress/flate"
)

const npzMagic = "PK\x03\x04"

// openNpz reads the header of an array in an archive of numpy.savez or savez_compressed: the only
// array, or the one in the options.
func openNpz(in format.Input) (*format.Body, error) {
	z, err := zip.NewReader(in, in.Size)
	if err != nil {
		return nil, fmt.Errorf("not an npz archive: %w; the file is truncated or damaged: copy it again", err)
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	if err := checkNpzEnd(in, len(z.Comment)); err != nil {
		return nil, err
	}
	chosen, err := npzArray(in, z)
	if err != nil {
		return nil, err
	}
	size, packed := chosen.UncompressedSize64, chosen.CompressedSize64
	at, err := chosen.DataOffset()
	if err != nil {
		if _, cause := in.ReadAt(make([]byte, 4), 0); cause != nil { // an error of the disk, not of the archive
			return nil, fmt.Errorf("reading the archive: %w", storage.Cause(cause))
		}
	}
	if err != nil || packed > uint64(in.Size) || at > in.Size-int64(packed) {
		return nil, fmt.Errorf("truncated: the array's %d bytes lie beyond the end of the archive; copy it again", packed)
	}
	array := in
	if chosen.Method == zip.Store {
		if size != packed {
			return nil, fmt.Errorf("the array has %d bytes by one header and %d by another; the archive is damaged: copy it "+
				"again",
				size, packed)
		}
		array.ReaderAt, array.Size, array.Held = io.NewSectionReader(in, at, int64(packed)), int64(packed), nil
	} else if in.Stream {
		open := func() (io.Reader, error) { return chosen.Open() }
		return in.Pass(open, int64(packed), storage.DeflateRatio, "it is compressed", openNpy)
	} else if array, err = inflateMember(in, chosen); err != nil {
		return nil, err
	}
	b, err := openNpy(array)
	if err != nil {
		return nil, err
	}
	b.In = array
	if chosen.Method == zip.Store {
		err = b.SumMember(array, chosen.CRC32)
	}
	return b, err
}

// npzArray returns the only array of an archive, or the one in the options.
func npzArray(in format.Input, z *zip.Reader) (chosen *zip.File, err error) {
	var names []string
	known := map[string]bool{}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if known[name] {
			return nil, fmt.Errorf("two arrays are named %.80q; save one of them alone", name)
		}
		known[name] = true
		names = append(names, name)
		if name == in.Array || in.Array == "" || f.Name == in.Array && chosen == nil { // an array may be called x.npy
			chosen = f
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("the archive has no .npy array; save one by numpy.savez")
	case chosen == nil:
		return nil, fmt.Errorf("there is no array %.80q; want one of %s", in.Array, name.List(names))
	case in.Array == "" && len(names) > 1:
		return nil, fmt.Errorf("%d arrays; choose one: --array of the command, or the input file/array=NAME/path=FILE: %s",
			len(names), name.List(names))
	}
	if chosen.Flags&(1|1<<5|1<<6) != 0 { // encrypted, patched, strongly encrypted
		return nil, errors.New("the array is encrypted, or a patch of another; save it again without a password")
	}
	return chosen, nil
}

// checkNpzEnd checks the record at the end of an archive, before its comment. Nothing may follow
// it, and the directory must end where it starts. The directory of a ZIP64 archive is followed by
// other records.
func checkNpzEnd(in format.Input, comment int) error {
	const size, locator = 22, 20
	at := in.Size - size - int64(comment)
	end := make([]byte, locator+size)
	if _, err := in.ReadAt(end[max(0, locator-at):], max(0, at-locator)); err != nil && err != io.EOF {
		return fmt.Errorf("reading the archive: %w", storage.Cause(err))
	}
	record := end[locator:]
	if string(record[:4]) != "PK\x05\x06" {
		return errors.New("trailing data after the archive; cut them off")
	}
	length, start := binary.LittleEndian.Uint32(record[12:]), binary.LittleEndian.Uint32(record[16:])
	if string(end[:4]) != "PK\x06\x07" && int64(length)+int64(start) != at {
		said := int64(length) + int64(start)
		return fmt.Errorf("the archive places the end of its directory at byte %d, not %d; it is damaged: copy it again",
			said, at)
	}
	return nil
}

// inflateMember decompresses a file of an archive into memory.
func inflateMember(in format.Input, f *zip.File) (format.Input, error) {
	if f.UncompressedSize64/storage.DeflateRatio > f.CompressedSize64 {
		return in, fmt.Errorf("the archive states %d bytes, more than %d compressed bytes can hold; it is damaged",
			f.UncompressedSize64, f.CompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return in, fmt.Errorf("decompressing: %w; save it by numpy.savez", err)
	}
	defer r.Close() // only read from
	if in.Held, err = format.ReadExactly(r, int64(f.UncompressedSize64), int64(f.CompressedSize64)); err != nil {
		return in, err
	}
	if err := storage.CheckEnd(r, true); err != nil {
		return in, err
	}
	in.ReaderAt, in.Size = bytes.NewReader(in.Held), int64(len(in.Held))
	return in, nil
}
