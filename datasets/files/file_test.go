package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func TestFileFixtures(t *testing.T) {
	for _, f := range goodFixtures() {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join(fixtureDir, f.name)
			s, err := Open(path, format.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := s.(*grid.Field); !ok {
				t.Errorf("source is a %T, want a *grid.Field", s)
			}
			checkFileImage(t, s, f.shape, f.typ, f.value)
			checkOnce(t, f.name, readFixture(t, f.name))

			s, err = Open(path, format.Options{Stream: true})
			if err != nil {
				if want := path + ": cannot be streamed because "; !strings.HasPrefix(err.Error(), want) {
					t.Fatalf("streaming: %v", err)
				}
				return
			}
			checkFileImage(t, s, f.shape, f.typ, f.value)
			if err := s.(io.Closer).Close(); err != nil {
				t.Fatal(err)
			}
			if err := s.ReadSlab(grid.NewBuffer(grid.TotalBytes(s)), 0, s.Shape().Slices()); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("reading after Close: %v", err)
			}
		})
	}
}

func TestFileFixturesRefused(t *testing.T) {
	for name, want := range refusedFixtures {
		_, err := Open(filepath.Join(fixtureDir, name), format.Options{})
		checkFileError(t, name, err, want)
	}
}

// TestFileDamaged truncates every fixture at every byte, lengthens it, and damages each byte; for
// long files, some. No prefix of an image may be accepted. Exceptions are TIFF files, whose end may
// be padding, and FITS files, where other images may follow.
func TestFileDamaged(t *testing.T) {
	for _, f := range goodFixtures() {
		whole := readFixture(t, f.name)
		tiff := strings.HasSuffix(f.name, ".tif")
		step := 1 + len(whole)/1000
		for n := 0; n < len(whole); n += step {
			s, err := openFileBytes(f.name, whole[:n], format.Options{})
			if err == nil && (tiff || strings.HasSuffix(f.name, ".fits")) {
				checkFileImage(t, s, f.shape, f.typ, f.value)
			} else if err == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", f.name, n, len(whole))
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error of several lines: %q", f.name, err)
			}
		}
		if !tiff && !strings.HasSuffix(f.name, ".fits") {
			if _, err := openFileBytes(f.name, append(bytes.Clone(whole), 1), format.Options{}); err == nil {
				t.Errorf("%s: a byte after the end is accepted", f.name)
			}
		}
		for n := 0; n < len(whole); n += step {
			bad := bytes.Clone(whole)
			bad[n] ^= 0xff
			checkAnyFile(t, f.name, bad)
		}
	}
}

// The table of formats in the manual has exactly the supported extensions.
func TestFormatsAreInTheManual(t *testing.T) {
	text, err := os.ReadFile("../../doc/images.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Formats\n")
	if !ok {
		t.Fatal("doc/images.md has no section Formats")
	}
	section, _, _ = strings.Cut(section, "\n#")
	var got, want []string
	for row := range strings.Lines(section) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for word := range strings.FieldsSeq(cells[2]) {
				if word = strings.Trim(word, "`,"); strings.HasPrefix(word, ".") {
					got = append(got, word)
				}
			}
		}
	}
	for _, f := range fileFormats() {
		want = append(want, f.Extensions...)
	}
	for _, p := range wrappings {
		want = append(want, p.Extension)
	}
	want = append(want, zarrExtension)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("doc/images.md has %q, want %q", got, want)
	}
}

// TestFileStreamConcurrent reads slabs of one stream from several goroutines.
func TestFileStreamConcurrent(t *testing.T) {
	shape := grid.Shape{D: 16, H: 9, W: 7}
	values := make([]float32, shape.Voxels())
	for i := range values {
		values[i] = float32(i%100) - 50
	}
	values[3] = float32(math.Copysign(0, -1))
	path := filepath.Join(t.TempDir(), "image.dat")
	if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
		t.Fatal(err)
	}
	o := format.Options{Shape: shape, Type: grid.Float32, Stream: true}
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.(io.Closer).Close()
	o.Stream = false
	whole, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Ladder().Key() != whole.Ladder().Key() {
		t.Errorf("streamed ladder %v, whole ladder %v", s.Ladder().Key(), whole.Ladder().Key())
	}
	want := whole.(*grid.Field).Data()
	if bits := binary.LittleEndian.Uint32(want[12:]); bits != 0 {
		t.Errorf("-0 became %#x", bits)
	}
	var wg sync.WaitGroup
	size := grid.SliceBytes(s)
	for lo := range shape.D {
		wg.Go(func() {
			for hi := lo; hi <= shape.D; hi++ {
				buf := grid.NewBuffer((hi - lo) * size)
				if err := s.ReadSlab(buf, lo, hi); err != nil || !bytes.Equal(buf, want[lo*size:hi*size]) {
					t.Errorf("slab %d..%d differs: %v", lo, hi, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestFileClosed opens files repeatedly, and counts the open descriptors.
func TestFileClosed(t *testing.T) {
	const list = "/proc/self/fd"
	before, err := os.ReadDir(list)
	if err != nil {
		t.Skipf("no list of open files: %v", err)
	}
	for range 50 {
		for _, name := range []string{"u1_2d.npy", "f8_2d.npy", "u16_3d.nii.gz"} {
			Open(filepath.Join(fixtureDir, name), format.Options{})
		}
	}
	after, err := os.ReadDir(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(after) > len(before)+40 { // other tests may open some
		t.Errorf("%d open files became %d", len(before), len(after))
	}
}
