package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// Invalid raw images are refused with the reason.
func refusesRaw(t *testing.T) {
	shape := grid.Shape{D: 2, H: 3, W: 4}
	for _, c := range []struct {
		what string
		size int
		o    format.Options
		want string
	}{
		{"no shape", 24, format.Options{Type: grid.Uint8}, "neither its shape nor its type"},
		{"no type", 24, format.Options{Shape: shape}, "neither its shape nor its type"},
		{"a type of nobody", 24, format.Options{Shape: shape, Other: "float80"}, "unknown element type"},
		{"short of float64", 191, format.Options{Shape: shape, Other: "float64"}, "the file has 191 bytes but 4x3x2 float64 needs 192"},
		{"unknown type", 24, format.Options{Shape: shape, Type: 9}, "unknown element type"},
		{"short", 47, format.Options{Shape: shape, Type: grid.Int16}, "the file has 47 bytes but 4x3x2 int16 needs 48"},
		{"long", 49, format.Options{Shape: shape, Type: grid.Uint16}, "the file has 49 bytes but 4x3x2 uint16 needs 48"},
		{"empty", 0, format.Options{Shape: shape, Type: grid.Uint8}, "the file is empty"},
		{"zero axis", 24, format.Options{Shape: grid.Shape{D: 1, H: 0, W: 4}, Type: grid.Uint8}, "at least 1"},
		{"huge", 24, format.Options{Shape: grid.Shape{D: 10000, H: 10000, W: 10000}, Type: grid.Float32}, "needs 4000000000000"},
		{"beyond counting", 24, format.Options{Shape: grid.Shape{D: 1 << 40, H: 1 << 40, W: 1}, Type: grid.Float32}, "more voxels than can be counted"},
	} {
		for _, stream := range []bool{false, true} {
			c.o.Stream = stream
			_, err := openFileBytes("image.raw", make([]byte, c.size), c.o)
			checkFileError(t, c.what, err, c.want)
		}
	}
}

// Raw files are read by the names of their types.
func readsRaw(t *testing.T) {
	shape := grid.Shape{D: 2, H: 3, W: 4}
	for _, s := range storedTypes() {
		data := fileBytes(s, binary.LittleEndian, 24, fileSequence(s))
		for _, stream := range []bool{false, true} {
			got, err := openFileBytes("image.bin", data, format.Options{Shape: shape, Other: s.String(), Stream: stream && !s.Narrowed()})
			if err != nil {
				t.Fatal(err)
			}
			checkFileImage(t, got, "4x3x2", s.Native(), fileSequence(s))
		}
		// A file with an unknown extension is raw if it has a shape.
		if _, err := openFileBytes("image", data, format.Options{Shape: shape, Other: s.String()}); err != nil {
			t.Error(err)
		}
	}
}

// Unsupported files are rejected with the reason.
func refusesFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("empty.npy", "")
	write("unknown.xyz", "who knows what this is")
	write("u8.npy", string(fixture(t, "u1_2d.npy")))
	write("f32.npy", string(fixture(t, "f4_1d.npy")))
	write("half.nhdr", "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nencoding: raw\ndata file: half.raw\n\n")
	for _, c := range []struct {
		name string
		o    format.Options
		want string
	}{
		{"none.npy", format.Options{}, "check the path"},
		{".", format.Options{}, "is a directory"},
		{"empty.npy", format.Options{}, "the file is empty"},
		{"unknown.xyz", format.Options{}, "neither the name nor the first bytes"},
		{"half.nhdr", format.Options{}, "its data file \"half.raw\": no such file"},
		{"u8.npy", format.Options{Type: grid.Uint8}, "has its own shape and type"},
		{"u8.npy", format.Options{Shape: grid.Shape{D: 1, H: 3, W: 5}}, "has its own shape and type"},
		{"u8.npy", format.Options{Levels: 4}, "for float32 images"},
		{"f32.npy", format.Options{Levels: -1}, "-1 levels"},
	} {
		path := filepath.Join(dir, c.name)
		_, err := Open(path, c.o)
		checkFileError(t, c.name, err, c.want)
		if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("error does not start with the path: %v", err)
		}
		if err != nil && strings.Count(err.Error(), dir) > 1 {
			t.Errorf("error says the path twice: %v", err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none.npy"), format.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v does not wrap fs.ErrNotExist", err)
	}
}

// streamsWhereItCan opens files for which the name gives no mode: only compressed files are read
// into memory.
func streamsWhereItCan(t *testing.T) {
	packed := fixture(t, "f32_2d.nii.gz")
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
		s, err := Named.Open("file/" + o.query + "path=" + path)
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

// filesThatShrink truncates a file after it was opened.
func filesThatShrink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, make([]byte, 12), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, format.Options{Shape: grid.Shape{D: 1, H: 3, W: 4}, Type: grid.Uint8, Stream: true})
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

// filesThatChange puts a NaN into a file after it was opened.
func filesThatChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.raw")
	values := []float32{1, 2, 3, 4, 5, 6}
	if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, format.Options{Shape: grid.Shape{D: 1, H: 3, W: 2}, Type: grid.Float32, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.(io.Closer).Close()
	values[5] = float32(math.NaN())
	if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadSlab(grid.NewBuffer(16), 1, 3); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("slab: %v; want ErrChanged", err)
	}
}

// A file is read whole once, for any number of opens and rotations. Another file of the same name,
// and another number of levels, need another read.
func surveysOnce(t *testing.T) {
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
	var surveys format.Surveys
	const head = "file/shape=2x2x3/type=float32"
	look := func(options string) (values []float32, known int) {
		t.Helper()
		names, err := Named.VariantsWith(&surveys, head+options+"/path="+path, 3)
		if err != nil || len(names) != 3 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			s, err := Named.OpenWith(&surveys, name)
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
		return values, surveyed(&surveys)
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
	// Values in memory are normalised even if the levels are known.
	s, err := Named.OpenWith(&surveys, head+"/stream=false/path="+path)
	if err != nil {
		t.Fatal(err)
	}
	if data := s.(*grid.Field).Data(); math.Signbit(float64(grid.Values[float32](data)[11])) {
		t.Error("−0 was left")
	}
}

// Compressed voxels that are read once are available to parallel readers, but not twice.
func readsOnce(t *testing.T) {
	path := fixturePath(t, "nifti2_i16_3d.nii.gz")
	whole, err := Open(path, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	once, err := Open(path, format.Options{Stream: true, Once: true})
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
	if _, err := Open(fixturePath(t, "f32_2d.nii.gz"), format.Options{Stream: true, Once: true}); !errors.As(err, &format.NotStreamed{}) {
		t.Errorf("levels were found of voxels that can be read once: %v", err)
	}
}

// An image that must be loaded whole is rejected before it is read if it exceeds the memory. The
// error has the sum. A streamed image is not rejected.
func roomOfFiles(t *testing.T) {
	for name, c := range map[string]struct {
		least int64
		sum   string
	}{
		"u8_3d.nii":            {24, "24 B as stored)"},
		"f64_ranked_3d.nii.gz": {24 * (8 + 4 + 16), "192 B as stored + 96 B as float32 + 384 B while they are ranked)"},
		"i8_3d.nii":            {24 * (1 + 2), "24 B as stored + 48 B as int16)"},
		"u8_3d.mha":            {24, "24 B as stored)"},
		"u8_strips_3d.tif":     {0, "as stored)"},
		"u8_2d.png":            {0, "as stored)"},
		"u2_fortran_3d.npy":    {24 * (2 + 2), "48 B as stored + 48 B in order)"},
	} {
		path := fixturePath(t, name)
		most := int64(1)
		if c.least > 0 {
			most = c.least - 1
		}
		_, err := Open(path, format.Options{Memory: most})
		if err == nil || !strings.Contains(err.Error(), c.sum) || !strings.Contains(err.Error(), "voxels take") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s in %d bytes: %v, want %q", name, most, err, c.sum)
		}
		if _, err := Open(path, format.Options{Memory: max(c.least, 1<<20)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.least == 0 {
			continue
		}
		if _, err := Open(path, format.Options{Memory: c.least}); err != nil {
			t.Errorf("%s in %d bytes: %v", name, c.least, err)
		}
	}
	s, err := Open(fixturePath(t, "u8_3d.nii"), format.Options{Memory: 1, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	grid.Close(s)
	_, err = Open(fixturePath(t, "u8_3d.mha.bz2"), format.Options{Memory: 1})
	if err == nil || !strings.Contains(err.Error(), "of memory are free") {
		t.Errorf("decompressed in a byte: %v", err)
	}
}

// npyOf returns an npy file of one row.
func npyOf(descr string, values any, n int) []byte {
	var b []byte
	b, err := binary.Append(b, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return writeNpy(npyHeaderText(descr, "False", fmt.Sprintf("(%d,)", n)), b)
}

// Values that float32 cannot represent keep their order and their own labels, and equal values are
// one level.
func ranksValues(t *testing.T) { ranked(t, 3000) }

func ranked(t *testing.T, n int) {
	many := make([]float64, n)
	for i := range many {
		many[i] = float64(i*7919%1_000_003) + 0.1
	}
	for name, c := range map[string]struct {
		descr  string
		values any
		want   []string // in ascending order
	}{
		"floats":   {"<f8", []float64{1e300, 0.1, math.Copysign(0, -1), -1e-320, 0, -1e300, 0.1}, []string{"-1e+300", "-1e-320", "0", "0.1", "1e+300"}},
		"int64":    {"<i8", []int64{math.MaxInt64, math.MinInt64, -1, 0, math.MaxInt64 - 1}, []string{"-9223372036854775808", "-1", "0", "9223372036854775806", "9223372036854775807"}},
		"uint64":   {"<u8", []uint64{math.MaxUint64, 3, 0, math.MaxUint64 - 1}, []string{"0", "3", "18446744073709551614", "18446744073709551615"}},
		"int32":    {"<i4", []int32{1<<24 + 1, -5, 1 << 24, -1<<24 - 1}, []string{"-16777217", "-5", "16777216", "16777217"}},
		"uint32":   {"<u4", []uint32{math.MaxUint32, 7, math.MaxUint32 - 1}, []string{"7", "4294967294", "4294967295"}},
		"in parts": {"<f8", many, nil},
	} {
		n := binary.Size(c.values) / int(c.descr[2]-'0')
		for _, every := range []bool{false, true} {
			s, err := openFileBytes("image.npy", npyOf(c.descr, c.values, n), format.Options{Every: every})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			labels := grid.LabelsOf(s)
			if labels == nil {
				t.Fatalf("%s: no labels", name)
			}
			codes := slices.Clone(s.(*grid.Field).Floats())
			fields := strings.Fields(strings.Trim(fmt.Sprint(c.values), "[]"))
			for i, code := range codes {
				if got, want := string(labels.Append(nil, code)), fields[i]; got != want && !(got == "0" && want == "-0") {
					t.Errorf("%s: voxel %d stands for %s, want %s", name, i, got, want)
				}
			}
			slices.Sort(codes)
			var got []string
			for _, code := range slices.Compact(codes) {
				got = append(got, string(labels.Append(nil, code)))
			}
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
			if c.want == nil && len(got) != len(many) {
				t.Errorf("%s: %d distinct values, want %d", name, len(got), len(many))
			}
		}
		if _, err := openFileBytes("image.npy", npyOf(c.descr, c.values, n), format.Options{Levels: 5}); err == nil || !strings.Contains(err.Error(), "ranks have no evenly spaced levels") {
			t.Errorf("%s on 5 levels: %v", name, err)
		}
	}
}

// Values that float32 represents are unchanged.
func narrowsExactly(t *testing.T) {
	for name, c := range map[string]struct {
		descr  string
		values any
	}{
		"floats": {"<f8", []float64{0.5, -3, 1, 1 << 60, 0.1328125}},
		"int64":  {"<i8", []int64{1 << 60, -3, 0, 1 << 24, math.MinInt64}},
		"uint64": {"<u8", []uint64{1 << 63, 3}},
		"int32":  {"<i4", []int32{math.MinInt32, 1 << 24, 7}},
	} {
		n := binary.Size(c.values) / int(c.descr[2]-'0')
		s, err := openFileBytes("image.npy", npyOf(c.descr, c.values, n), format.Options{})
		if err != nil || grid.LabelsOf(s) != nil {
			t.Fatalf("%s: labels %v (%v)", name, grid.LabelsOf(s), err)
		}
		var got []string
		for _, v := range s.(*grid.Field).Floats() {
			if strings.Contains(c.descr, "f") {
				got = append(got, fmt.Sprint(float64(v)))
			} else {
				got = append(got, fmt.Sprintf("%.0f", v))
			}
		}
		if want := fmt.Sprint(c.values); "["+strings.Join(got, " ")+"]" != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// NaN is rejected with its position, for all kinds of other values.
func narrowRefusesNaN(t *testing.T) {
	for _, values := range [][]float64{{1, math.NaN(), 2, math.Inf(1)}, {0.1, math.NaN(), 0.2, math.Inf(-1)}} {
		for _, every := range []bool{false, true} {
			_, err := openFileBytes("image.npy", npyOf("<f8", values, 4), format.Options{Every: every})
			checkFileError(t, fmt.Sprint(values), err, "2 values are NaN or infinite, the first at index 1")
		}
	}
}

// Values that float32 cannot represent are ranked among the values of all slices.
func ranksStacks(t *testing.T) {
	dir := t.TempDir()
	whole := fixture(t, "f8_ranked_3d.npy")
	data := whole[len(whole)-24*8:]
	for z := range 2 {
		slice := writeNpy(npyHeaderText("<f8", "False", "(3, 4)"), data[z*96:][:96])
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.npy", 2-z)), slice, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Named.Open("stack/path=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, s, "4x3x2", grid.Float32, func(i int64) float64 { return -1 + float64(0.1*float64((i+12)%24)) })
}

// Invalid stacks are refused with the reason.
func refusesStacks(t *testing.T) {
	base := t.TempDir()
	for _, c := range []struct{ what, fourth, want string }{
		{"shape", string(writeNpy(npyHeaderText("|u1", "False", "(3, 3)"), make([]byte, 9))), "slice DIR/s4.npy: 3x3 of uint8, where the first slice is 3x2 of uint8"},
		{"type", string(writeNpy(npyHeaderText("|i1", "False", "(2, 3)"), make([]byte, 6))), "slice DIR/s4.npy: 3x2 of int8"},
		{"volume", string(writeNpy(npyHeaderText("|u1", "False", "(2, 2, 3)"), make([]byte, 12))), "slice DIR/s4.npy: 3x2x2 of uint8"},
		{"Fortran", string(writeNpy(npyHeaderText("|u1", "True", "(2, 3)"), make([]byte, 6))), "slice DIR/s4.npy: its voxels are in Fortran order"},
		{"short", string(writeNpy(npyHeaderText("|u1", "False", "(2, 3)"), make([]byte, 5))), "slice DIR/s4.npy: truncated"},
		{"empty", "", "slice DIR/s4.npy: the file is empty"},
	} {
		dir := filepath.Join(base, c.what)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		writeSlices(t, dir, ".npy", "|u1", element.Uint8, 7, fileSequence(element.Uint8))
		for _, name := range []string{"s4.npy", "s6.npy"} { // the first one is reported
			if err := os.WriteFile(filepath.Join(dir, name), []byte(c.fourth), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			_, err := Named.Open("stack/path=" + dir)
			checkFileError(t, c.what, err, dir+": "+strings.Replace(c.want, "DIR", dir, 1))
		}
	}
	writeSlices(t, base, ".npy", "|u1", element.Uint8, 2, fileSequence(element.Uint8))
	if err := os.WriteFile(filepath.Join(base, "s1.npy"), fixture(t, "u2_fortran_3d.npy"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(base, "none"):  "no slices",
		filepath.Join(base, "*.png"): "no slices",
		filepath.Join(base, "[.npy"): "syntax error in pattern; want a folder",
		t.TempDir():                  "no slices",
		base:                         "in Fortran order",
		fixturePath(t, "u8_3d.nii"):  "a volume of 4x3x2; want images of two axes",
	} {
		_, err := Named.Open("stack/path=" + path)
		checkFileError(t, path, err, want)
	}
	if _, err := Named.Canonical("stack/shape=3x2"); err == nil {
		t.Error("a stack without a path is accepted")
	}
	if _, err := Named.Open("stack/type=uint8/shape=3x2/path=" + fixturePath(t, "u8_2d.png")); err == nil {
		t.Error("the shape of a PNG file is accepted")
	}
}

// A stack is read again if a slice changed.
func surveysStacks(t *testing.T) {
	dir := t.TempDir()
	writeSlices(t, dir, ".npy", "<f4", element.Float32, 3, linear(0, 1))
	var surveys format.Surveys
	look := func() int64 {
		t.Helper()
		names, err := Named.VariantsWith(&surveys, "stack/path="+dir, 3)
		if err != nil || len(names) != 3 {
			t.Fatal(names, err)
		}
		s, err := Named.OpenWith(&surveys, names[2])
		if err != nil {
			t.Fatal(err)
		}
		return s.Ladder().Len()
	}
	if n := look(); n != 18 || surveyed(&surveys) != 1 {
		t.Errorf("%d levels by %d surveys, want 18 by 1", n, surveyed(&surveys))
	}
	slice := writeNpy(npyHeaderText("<f4", "False", "(2, 3)"), make([]byte, 24))
	if err := os.WriteFile(filepath.Join(dir, "s3.npy"), slice, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "s3.npy"), time.Unix(2000, 0), time.Unix(2000, 0)); err != nil {
		t.Fatal(err)
	}
	if n := look(); n != 12 {
		t.Errorf("%d levels after a slice changed, want 12", n)
	}
}

// fixturePath returns the path of an unpacked fixture.
func fixturePath(t *testing.T, name string) string { return filepath.Join(unpacked(t, name), name) }

// The .img of a pair names the image as well, and a pair is not half of a pair.
func opensPairs(t *testing.T) {
	for header, name := range map[string]string{
		"i16_pair_3d.hdr": "i16_pair_3d.img", "f32_pair_3d.hdr.gz": "f32_pair_3d.img.gz",
	} {
		for _, f := range pairFixtures() {
			if f.name == header {
				s, err := Open(filepath.Join(unpacked(t, header, name), name), format.Options{})
				if err != nil {
					t.Fatal(err)
				}
				checkFileImage(t, s, f.shape, f.typ, f.value)
			}
		}
	}
	dir := t.TempDir()
	for name, data := range map[string]string{"alone.hdr": "i16_pair_3d.hdr", "alone.txt": "i16_pair_3d.hdr", "half.img": "i16_pair_3d.img", "one.hdr": "u8_3d.nii", "one.img": "i16_pair_3d.img"} {
		if err := os.WriteFile(filepath.Join(dir, name), fixture(t, data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"alone.hdr": "there is no alone.img beside it", "alone.txt": "with its .img beside it",
		"half.img": "there is no half.hdr beside it", "one.img": "rename that to .nii",
	} {
		_, err := Open(filepath.Join(dir, name), format.Options{})
		checkFileError(t, name, err, want)
	}
	voxels := bytes.Clone(fixture(t, "i16_pair_3d.img"))
	copy(voxels, "\x1f\x8b\x00\x01") // as the voxels of a pair may start
	if err := os.WriteFile(filepath.Join(dir, "alone.img"), voxels, 0o666); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(filepath.Join(dir, "alone.hdr"), format.Options{}); err != nil {
		t.Error(err)
	} else if diff := slabsDiffer(s, voxels); diff != "" {
		t.Error(diff)
	}
}

// A failingFile returns errors from its k-th read on.
type failingFile struct {
	io.ReaderAt
	k *atomic.Int64
}

func (f failingFile) ReadAt(p []byte, at int64) (int, error) {
	if f.k.Add(-1) < 0 {
		return 0, errFailing
	}
	return f.ReaderAt.ReadAt(p, at)
}

var errFailing = errors.New("the disk is on fire")

// Formats are also recognised by the first bytes alone. A read error is reported when the file is
// opened or, for a streamed file, when it is read. It is not reported as damage.
func failingFiles(t *testing.T) {
	for _, f := range goodFixtures() {
		data := fixture(t, f.name)
		s, err := openFileBytes("image", data, format.Options{})
		if err != nil {
			t.Errorf("%s by its first bytes: %v", f.name, err)
			continue
		}
		checkFileImage(t, s, f.shape, f.typ, f.value)
		for _, stream := range []bool{false, true} {
			for k, over := int64(0), false; !over; k++ {
				var left atomic.Int64
				left.Store(k)
				in := failingFile{bytes.NewReader(data), &left}
				s, err := openImage(f.name, format.Input{ReaderAt: in, Size: int64(len(data)), Options: format.Options{Stream: stream}})
				if err == nil {
					err = s.ReadSlab(grid.NewBuffer(grid.TotalBytes(s)), 0, s.Shape().Slices())
				}
				if over = left.Load() >= 0 || k > 99; !over && !errors.Is(err, errFailing) {
					t.Errorf("%s, streamed %v, fails from place %d on, and %v is told", f.name, stream, k, err)
				}
			}
		}
	}
}

func storedTypes() []element.Type {
	return []element.Type{element.Uint8, element.Int8, element.Int16, element.Uint16, element.Float32}
}

// The slices of a series are ordered by place, for any names. They are rejected if they exceed the
// memory.
func ordersSeries(t *testing.T) {
	series, err := fs.Sub(fixtures, fixtureDir+"/series")
	dir := filepath.Join(t.TempDir(), "series")
	if err == nil {
		err = os.CopyFS(dir, series)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := Named.Open("stack/path=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, s, "5x3x4", grid.Float32, linear(-1024, 100))
	_, err = OpenStack(dir, format.Options{Memory: 1})
	checkFileError(t, "a stack in a byte", err, "voxels take")
}
