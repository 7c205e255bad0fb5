package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

func FuzzRaw(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, int64(1), int64(1), int64(2), uint8(grid.Float32))
	f.Fuzz(func(t *testing.T, data []byte, d, h, w int64, typ uint8) {
		o := format.Options{Shape: grid.Shape{D: d, H: h, W: w}, Type: grid.Type(typ)}
		s, err := openFileBytes("image.raw", data, o)
		o.Stream = true
		stream, serr := openFileBytes("image.raw", data, o)
		if (err == nil) != (serr == nil) {
			t.Fatalf("whole: %v, streamed: %v", err, serr)
		}
		if err != nil {
			return
		}
		want := s.(*grid.Field).Data()
		got := grid.NewBuffer(grid.TotalBytes(stream))
		if err := stream.ReadSlab(got, 0, stream.Shape().Slices()); err != nil || !bytes.Equal(got, want) || len(want) != len(data) {
			t.Fatalf("whole and streamed differ: %v", err)
		}
	})
}

// Bytes of a file that no voxel needs may be a header, which a MetaImage header can skip.
func TestRawLengths(t *testing.T) {
	o := format.Options{Shape: grid.Shape{D: 2, H: 2, W: 2}, Type: grid.Uint8}
	_, err := openFileBytes("image.raw", make([]byte, 20), o)
	checkFileError(t, "long", err, "has 20 bytes but 2x2x2 uint8 needs 8; correct the shape or the type, or name the file in a "+
		"MetaImage header (.mhd) with HeaderSize = 12 if it starts with a header")
	_, err = openFileBytes("image.raw", make([]byte, 7), o)
	if checkFileError(t, "short", err, "needs 8; correct the shape or the type"); strings.Contains(err.Error(), "HeaderSize") {
		t.Error(err)
	}
}

// A file that becomes shorter during a read, and a failing disk, are reported with the path.
func TestFilesThatAreDamagedWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, make([]byte, 5*6*7), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, format.Options{Shape: grid.Shape{D: 7, H: 6, W: 5}, Type: grid.Uint8, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	read := func(lo, hi int64) error { return s.ReadSlab(make([]byte, (hi-lo)*30), lo, hi) }
	var told *format.ReadError
	if err := read(0, 3); !errors.As(err, &told) || !errors.Is(err, storage.ErrChanged) {
		t.Errorf("slices that are there: %v", err)
	}
	if err := read(2, 4); !errors.As(err, &told) || told.Path != path || !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), path+": became shorter while it was read, and ends before byte 120;") {
		t.Errorf("slices that are gone: %v", err)
	}
	grid.Close(s)
	if err := read(0, 3); !errors.As(err, &told) || told.Path != path || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// The end of packed data in a file is not reported as the end of the file.
func TestChunksThatAreEmptyAreNotShorter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image.zarr")
	header := `{"zarr_format":2,"shape":[2,3,4],"chunks":[2,3,4],"dtype":"|u1","compressor":{"id":"gzip","level":1},"filters":null,"fill_value":0,"order":"C"}`
	if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, ".zarray"), []byte(header), 0o666), os.WriteFile(filepath.Join(dir, "0.0.0"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, format.Options{Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(s)
	if err := s.ReadSlab(make([]byte, 24), 0, 2); err == nil || strings.Contains(err.Error(), "shorter") || !strings.Contains(err.Error(), "chunk 0.0.0: gzip") {
		t.Errorf("an empty chunk: %v", err)
	}
}
