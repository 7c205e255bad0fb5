package datasets

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
	"time"

	"eccbench/internal/grid"
)

func TestFileFixtures(t *testing.T) {
	for _, f := range goodFixtures() {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join(fixtureDir, f.name)
			s, err := OpenFile(path, FileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := s.(*grid.Field); !ok {
				t.Errorf("source is a %T, want a *grid.Field", s)
			}
			checkFileImage(t, s, f.shape, f.typ, f.value)
			checkOnce(t, f.name, readFixture(t, f.name))

			s, err = OpenFile(path, FileOptions{Stream: true})
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
		_, err := OpenFile(filepath.Join(fixtureDir, name), FileOptions{})
		checkFileError(t, name, err, want)
	}
}

// TestFileDamaged cuts every fixture short at every byte, lengthens it, and
// damages each byte; of long ones, some. No prefix of an image may pass for one, save that a
// TIFF file is a web of offsets, and what is cut off may be padding, and that images may
// follow the one in a FITS file.
func TestFileDamaged(t *testing.T) {
	for _, f := range goodFixtures() {
		whole := readFixture(t, f.name)
		tiff := strings.HasSuffix(f.name, ".tif")
		step := 1 + len(whole)/1000
		for n := 0; n < len(whole); n += step {
			s, err := openFileBytes(f.name, whole[:n], FileOptions{})
			if err == nil && (tiff || strings.HasSuffix(f.name, ".fits")) {
				checkFileImage(t, s, f.shape, f.typ, f.value)
			} else if err == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", f.name, n, len(whole))
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error of several lines: %q", f.name, err)
			}
		}
		if !tiff {
			if _, err := openFileBytes(f.name, append(bytes.Clone(whole), 0), FileOptions{}); err == nil {
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

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("empty.npy", "")
	write("unknown.xyz", "who knows what this is")
	write("u8.npy", string(readFixture(t, "u1_2d.npy")))
	write("f32.npy", string(readFixture(t, "f4_1d.npy")))
	write("half.nhdr", "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nencoding: raw\ndata file: half.raw\n\n")
	for _, c := range []struct {
		name string
		o    FileOptions
		want string
	}{
		{"none.npy", FileOptions{}, "check the path"},
		{".", FileOptions{}, "is a directory"},
		{"empty.npy", FileOptions{}, "the file is empty"},
		{"unknown.xyz", FileOptions{}, "neither the name nor the first bytes"},
		{"half.nhdr", FileOptions{}, "its data file \"half.raw\": no such file"},
		{"u8.npy", FileOptions{Type: grid.Uint8}, "says its own shape and type"},
		{"u8.npy", FileOptions{Shape: grid.Shape{D: 1, H: 3, W: 5}}, "says its own shape and type"},
		{"u8.npy", FileOptions{Levels: 4}, "for float32 images"},
		{"f32.npy", FileOptions{Levels: -1}, "-1 levels"},
	} {
		path := filepath.Join(dir, c.name)
		_, err := OpenFile(path, c.o)
		checkFileError(t, c.name, err, c.want)
		if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("error does not start with the path: %v", err)
		}
		if err != nil && strings.Count(err.Error(), dir) > 1 {
			t.Errorf("error says the path twice: %v", err)
		}
	}
	if _, err := OpenFile(filepath.Join(dir, "none.npy"), FileOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v does not wrap fs.ErrNotExist", err)
	}
}

// The guide's table of formats has every extension, and no other.
func TestFormatsAreInTheGuide(t *testing.T) {
	text, err := os.ReadFile("../doc/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n### Formats\n")
	if !ok {
		t.Fatal("the guide has no section Formats")
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
		want = append(want, f.extensions...)
	}
	for _, p := range wrappings {
		want = append(want, p.extension)
	}
	want = append(want, zarrExtension)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the guide has %q, want %q", got, want)
	}
}

// TestFileSniffed opens the fixtures under a name that tells nothing.
func TestFileSniffed(t *testing.T) {
	for _, f := range goodFixtures() {
		s, err := openFileBytes("image", readFixture(t, f.name), FileOptions{})
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		checkFileImage(t, s, f.shape, f.typ, f.value)
	}
}

func TestFileShape(t *testing.T) {
	for _, c := range []struct {
		axes []int64
		want string
	}{
		{[]int64{7}, "7x1"},
		{[]int64{3, 5}, "5x3"},
		{[]int64{2, 3, 5}, "5x3x2"},
		{[]int64{1, 3, 5}, "5x3"},
		{[]int64{1, 1, 2, 3, 5}, "5x3x2"},
		{[]int64{2, 3, 5, 1}, "5x3x2"},
		{[]int64{1, 2, 3, 5, 1}, "5x3x2"},
		{[]int64{2, 1, 3, 5}, ""},
		{[]int64{2, 3, 4, 5}, ""},
		{[]int64{0, 5}, ""},
		{[]int64{-1, 5}, ""},
		{[]int64{1 << 40, 1 << 40}, ""},
		{nil, ""},
	} {
		s, err := fileShape(c.axes)
		if (err == nil) != (c.want != "") || err == nil && s.String() != c.want {
			t.Errorf("fileShape(%v) = %v, %v; want %q", c.axes, s, err, c.want)
		}
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
	o := FileOptions{Shape: shape, Type: grid.Float32, Stream: true}
	s, err := OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.(io.Closer).Close()
	o.Stream = false
	whole, err := OpenFile(path, o)
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

// TestStreamedWhereItCanBe opens files whose names say nothing of how: only those that
// are packed come into memory.
func TestStreamedWhereItCanBe(t *testing.T) {
	packed, err := os.ReadFile(filepath.Join(fixtureDir, "f32_2d.nii.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]struct {
		data  []byte
		query string
		whole bool
	}{
		"plain.raw":     {[]byte("abcdef"), "shape=3x2/type=uint8/", false},
		"packed.nii.gz": {packed, "", true},
		"held.raw":      {[]byte("abcdef"), "shape=3x2/type=uint8/stream=false/", true},
		"rolled.raw":    {[]byte("abcdef"), "shape=3x2/type=uint8/roll=1/", false},
		"turned.raw":    {[]byte("abcdef"), "shape=3x2/type=uint8/stream=false/roll=1/", true},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, o.data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open("file/" + o.query + "path=" + path)
		if err != nil {
			t.Fatal(err)
		}
		held, ok := s.(interface{ InMemory() bool })
		if got := ok && held.InMemory(); got != o.whole {
			t.Errorf("%s: in memory %v, want %v", name, got, o.whole)
		}
		grid.Close(s)
	}
}

// TestFileStreamShrinks cuts a file short after it was opened.
func TestFileStreamShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, make([]byte, 12), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := OpenFile(path, FileOptions{Shape: grid.Shape{D: 1, H: 3, W: 4}, Type: grid.Uint8, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.(io.Closer).Close()
	if err := os.Truncate(path, 6); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadSlab(grid.NewBuffer(12), 0, 3); !errors.Is(err, io.EOF) {
		t.Errorf("reading a file that shrank: %v", err)
	}
}

// TestFileStreamChanges puts a NaN into a file after it was opened.
func TestFileStreamChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.raw")
	values := []float32{1, 2, 3, 4, 5, 6}
	if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := OpenFile(path, FileOptions{Shape: grid.Shape{D: 1, H: 3, W: 2}, Type: grid.Float32, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.(io.Closer).Close()
	values[5] = float32(math.NaN())
	if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
		t.Fatal(err)
	}
	checkFileError(t, "slab", s.ReadSlab(grid.NewBuffer(16), 1, 3), "the first at index 5 (z 0, y 2, x 1)")
}

// TestFileClosed opens files over and over, and counts the descriptors left.
func TestFileClosed(t *testing.T) {
	const list = "/proc/self/fd"
	before, err := os.ReadDir(list)
	if err != nil {
		t.Skipf("no list of open files: %v", err)
	}
	for range 50 {
		for _, name := range []string{"u1_2d.npy", "f8_2d.npy", "u16_3d.nii.gz"} {
			OpenFile(filepath.Join(fixtureDir, name), FileOptions{})
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

// A file is looked at whole once, however often it is opened and turned; another file of
// the name, and another number of levels, are looked at anew.
func TestFilesAreSurveyedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.raw")
	write := func(values []float32, changed time.Time) {
		t.Helper()
		if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	var surveys Surveys
	const head = "file/shape=2x2x3/type=float32"
	look := func(options string) (values []float32, known int) {
		t.Helper()
		names, err := surveys.Variants(head+options+"/path="+path, 3)
		if err != nil || len(names) != 3 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			s, err := surveys.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			values = values[:0]
			for i := range s.Ladder().Len() {
				values = append(values, s.Ladder().Value(i))
			}
			if err := grid.Close(s); err != nil {
				t.Fatal(err)
			}
		}
		return values, len(surveys.list)
	}
	image := []float32{5, 1, 2, 3, 1, 2, 3, 5, 5, 5, 2, float32(math.Copysign(0, -1))}
	write(image, time.Unix(1000, 0))
	for _, c := range []struct {
		options string
		want    []float32
		known   int
	}{
		{"", []float32{0, 1, 2, 3, 5}, 1}, {"/stream=false", []float32{0, 1, 2, 3, 5}, 1}, {"/levels=2", []float32{0, 5}, 2},
	} {
		if got, known := look(c.options); !slices.Equal(got, c.want) || known != c.known {
			t.Errorf("%q: levels %v after %d surveys, want %v after %d", c.options, got, known, c.want, c.known)
		}
	}
	image[0] = 7
	write(image, time.Unix(2000, 0))
	if got, known := look(""); !slices.Equal(got, []float32{0, 1, 2, 3, 5, 7}) || known != 3 {
		t.Errorf("of another file: levels %v after %d surveys", got, known)
	}
	// What is in memory is normalised whether or not its levels are known.
	s, err := surveys.Open(head + "/stream=false/path=" + path)
	if err != nil {
		t.Fatal(err)
	}
	if data := s.(*grid.Field).Data(); math.Signbit(float64(grid.Values[float32](data)[11])) {
		t.Error("−0 was left")
	}
}

// Compressed voxels that are read once come to whoever asks for slabs together, and to
// nobody twice.
func TestFileReadOnce(t *testing.T) {
	path := filepath.Join(fixtureDir, "nifti2_i16_3d.nii.gz")
	whole, err := OpenFile(path, FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	once, err := OpenFile(path, FileOptions{Stream: true, Once: true})
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(once)
	size, n := grid.SliceBytes(once), once.Shape().Slices()
	got, errs := grid.NewBuffer(grid.TotalBytes(once)), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = once.ReadSlab(got[(n-1-i)*size:(n-i)*size], n-1-i, n-i) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil || !bytes.Equal(got, whole.(*grid.Field).Data()) {
		t.Errorf("read in order, the image is another one (%v)", err)
	}
	if err := once.ReadSlab(got[:size], 0, 1); err == nil || !strings.Contains(err.Error(), "read once") {
		t.Errorf("a slab was read twice: %v", err)
	}
	if _, err := OpenFile(filepath.Join(fixtureDir, "f32_2d.nii.gz"), FileOptions{Stream: true, Once: true}); !errors.As(err, &notStreamed{}) {
		t.Errorf("levels were found of voxels that can be read once: %v", err)
	}
}
