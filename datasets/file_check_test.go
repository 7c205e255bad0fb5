package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

const fixtureDir = "testdata/files"

// A fileFixture is a file that other software wrote, and what it holds.
type fileFixture struct {
	name  string
	shape string
	typ   grid.Type
	value func(i int64) float64
}

func linear(a, b float64) func(int64) float64 {
	return func(i int64) float64 { return a + b*float64(i) }
}

func modulo(a, b, m int64) func(int64) float64 {
	return func(i int64) float64 { return float64((a + b*i) % m) }
}

// goodFixtures are described in testdata/files/README.md.
func goodFixtures() []fileFixture {
	u8, i8, i16 := linear(10, 7), linear(-100, 9), linear(-3000, 251)
	u16, u16flat, f32 := modulo(40000, 1001, 1<<16), linear(500, 1000), linear(-1.5, 0.75)
	// Float32 holds neither.
	large, tenths := linear(1<<53-40, 7), linear(-1, 0.1)
	return []fileFixture{
		{"u1_2d.npy", "5x3", grid.Uint8, u8},
		{"b1_2d.npy", "5x3", grid.Uint8, modulo(0, 1, 2)},
		{"i1_2d.npy", "5x3", grid.Int16, linear(-100, 13)},
		{"i2_be_3d.npy", "4x3x2", grid.Int16, i16},
		{"u2_fortran_3d.npy", "4x3x2", grid.Uint16, u16},
		{"f4_1d.npy", "6x1", grid.Float32, f32},
		{"f4_be_fortran_4d.npy", "4x3x2", grid.Float32, f32},
		{"u2_v2_2d.npy", "5x3", grid.Uint16, u16flat},
		{"u2_v3_2d.npy", "5x3", grid.Uint16, u16flat},
		{"i2_stored.npz", "4x3x2", grid.Int16, i16},
		{"f4_deflated.npz", "4x3x2", grid.Float32, f32},
		{"i2_be_3d.npy.gz", "4x3x2", grid.Int16, i16},
		{"f32_2d.mha.zst", "5x3", grid.Float32, f32},
		{"u8_strips_3d.tif.zst", "4x5x2", grid.Uint8, linear(10, 5)},
		{"u8_3d.mha.bz2", "4x3x2", grid.Uint8, u8},
		{"u8_3d.fits.gz", "4x3x2", grid.Uint8, u8},
		{"u8_3d.nii", "4x3x2", grid.Uint8, u8},
		{"i8_3d.nii", "4x3x2", grid.Int16, i8},
		{"i16_be_3d.nii", "4x3x2", grid.Int16, i16},
		{"u16_3d.nii.gz", "4x3x2", grid.Uint16, u16},
		{"f32_2d.nii.gz", "5x3", grid.Float32, f32},
		{"nifti2_3d.nii", "4x3x2", grid.Uint8, u8},
		{"nifti2_i16_3d.nii.gz", "4x3x2", grid.Int16, i16},
		{"u8_scaled_3d.nii", "4x3x2", grid.Float32, linear(-3, 3.5)},
		{"u8_raw_3d.nrrd", "4x3x2", grid.Uint8, u8},
		{"i16_be_raw_3d.nrrd", "4x3x2", grid.Int16, i16},
		{"f32_gzip_3d.nrrd", "4x3x2", grid.Float32, f32},
		{"u16_gzip_2d.nrrd", "5x3", grid.Uint16, u16flat},
		{"u8_bzip2_3d.nrrd", "4x3x2", grid.Uint8, u8},
		{"i16_ascii_3d.nrrd", "4x3x2", grid.Int16, i16},
		{"f64_ranked_ascii_3d.nrrd", "4x3x2", grid.Float32, tenths},
		{"f32_text_3d.mha", "4x3x2", grid.Float32, f32},
		{"u8_3d.mha", "4x3x2", grid.Uint8, u8},
		{"i16_zlib_3d.mha", "4x3x2", grid.Int16, i16},
		{"f32_2d.mha", "5x3", grid.Float32, f32},
		{"f64_ranked_3d.mha", "4x3x2", grid.Float32, tenths},
		{"i8_3d.mrc", "4x3x2", grid.Int16, i8},
		{"i16_3d.rec", "4x3x2", grid.Int16, i16},
		{"f32_3d.map", "4x3x2", grid.Float32, f32},
		{"f32_2d.mrc", "5x3", grid.Float32, f32},
		{"u16_be_3d.mrc", "4x3x2", grid.Uint16, u16},
		{"f16_3d.mrc", "4x3x2", grid.Float32, f32},
		{"i16_extended_3d.mrc", "4x3x2", grid.Int16, i16},
		{"u8_3d.fits", "4x3x2", grid.Uint8, u8},
		{"i16_3d.fits", "4x3x2", grid.Int16, i16},
		{"u16_3d.fits", "4x3x2", grid.Uint16, u16},
		{"i8_3d.fits", "4x3x2", grid.Int16, i8},
		{"u32_ranked_3d.fits", "4x3x2", grid.Float32, linear(1<<31, 7)},
		{"u64_ranked_3d.fits", "4x3x2", grid.Float32, large},
		{"i64_ranked_3d.fits", "4x3x2", grid.Float32, large},
		{"f64_ranked_3d.fits", "4x3x2", grid.Float32, tenths},
		{"f32_extension_2d.fits", "5x3", grid.Float32, f32},
		{"u8_scaled_3d.fits", "4x3x2", grid.Float32, linear(-3, 3.5)},
		{"u8_odd_2d.dcm", "5x3", grid.Uint8, u8},
		{"i16_implicit_3d.dcm", "4x3x2", grid.Int16, i16},
		{"u16_3d.dcm", "4x3x2", grid.Uint16, u16},
		{"u32_ranked_3d.dcm", "4x3x2", grid.Float32, linear(1<<31, 7)},
		{"u8_scaled_3d.dcm", "4x3x2", grid.Float32, linear(-3, 3.5)},
		{"i12_2d.dcm", "5x3", grid.Int16, linear(-100, 13)},
		{"rle_2d.dcm", "5x3", grid.Uint8, u8},
		{"rle_i16_3d.dcm", "4x3x2", grid.Int16, i16},
		{"u8_2d.png", "5x3", grid.Uint8, u8},
		{"u16_2d.png", "5x3", grid.Uint16, u16flat},
		{"bit_2d.png", "5x3", grid.Uint8, func(i int64) float64 { return 255 * float64(i%2) }},
		{"rgb_2d.png", "5x3", grid.Uint8, u8},
		{"rgba_2d.png", "5x3", grid.Uint8, u8},
		{"alpha_2d.png", "5x3", grid.Uint8, u8},
		{"rgb16_2d.png", "5x3", grid.Uint16, u16flat},
		{"rgba16_2d.png", "5x3", grid.Uint16, u16flat},
		{"rgb_2d.tif", "5x3", grid.Uint8, u8},
		{"alpha_2d.tif", "5x3", grid.Uint8, u8},
		{"rgb_be_tiles_predictor_2d.tif", "18x20", grid.Uint16, linear(0, 1)},
		{"rgba_tiles_2d.tif", "18x20", grid.Uint8, modulo(0, 1, 256)},
		{"rgb_predictor_3d.tif", "4x3x2", grid.Uint8, u8},
		{"u8_2d.tif", "5x3", grid.Uint8, u8},
		{"u8_strips_3d.tif", "4x5x2", grid.Uint8, linear(10, 5)},
		{"i8_packbits_3d.tif", "4x3x2", grid.Int16, i8},
		{"i16_be_deflate_3d.tif", "4x3x2", grid.Int16, i16},
		{"u16_lzw_3d.tif", "4x3x2", grid.Uint16, u16},
		{"f32_big_3d.tif", "4x3x2", grid.Float32, f32},
		{"f32_be_big_deflate_2d.tif", "5x3", grid.Float32, f32},
		{"u8_tiles_2d.tif", "18x20", grid.Uint8, modulo(0, 1, 256)},
		{"u16_tiles_predictor_2d.tif", "18x20", grid.Uint16, linear(0, 1)},
		{"u8_lzw_long_2d.tif", "60x40", grid.Uint8, func(i int64) float64 { return float64(i * i / 7 % 6) }},
		{"pillow_lzw_2d.tif", "5x3", grid.Uint8, u8},
		{"pillow_deflate_2d.tif", "5x3", grid.Uint16, u16flat},
		{"imagej_3d.tif", "5x3x4", grid.Uint8, linear(10, 3)},
		{"f8_2d.npy", "5x3", grid.Float32, linear(0, 1)},
		{"f64_3d.nii", "4x3x2", grid.Float32, linear(0, 1)},
		{"f2_3d.npy", "4x3x2", grid.Float32, f32},
		{"i4_3d.npy", "4x3x2", grid.Float32, i16},
		{"i32_3d.nii", "4x3x2", grid.Float32, i16},
		{"u32_3d.tif", "4x3x2", grid.Float32, u16flat},
		{"u4_ranked_be_3d.npy", "4x3x2", grid.Float32, linear(1<<31, 7)},
		{"i8_ranked_fortran_3d.npy", "4x3x2", grid.Float32, large},
		{"u8_ranked_3d.npy", "4x3x2", grid.Float32, large},
		{"i64_ranked_3d.nrrd", "4x3x2", grid.Float32, large},
		{"f8_ranked_3d.npy", "4x3x2", grid.Float32, tenths},
		{"f64_ranked_3d.nii.gz", "4x3x2", grid.Float32, tenths},
		{"f64_ranked_3d.nrrd", "4x3x2", grid.Float32, tenths},
		{"f64_ranked_3d.tif", "4x3x2", grid.Float32, tenths},
	}
}

func openFileBytes(name string, data []byte, o FileOptions) (grid.Source, error) {
	return openImage(name, fileInput{ReaderAt: bytes.NewReader(data), size: int64(len(data)), FileOptions: o})
}

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtureDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A fileT is what the checks below need of a *testing.T or a *rapid.T.
type fileT interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// fileShapeText is how a Shape prints whose axes are given slowest first.
func fileShapeText(axes []int64) string {
	if len(axes) == 1 {
		return fmt.Sprintf("%dx1", axes[0])
	}
	var text []string
	for _, n := range axes {
		text = append(text, fmt.Sprint(n))
	}
	if len(axes) == 3 && axes[0] == 1 {
		text = text[1:]
	}
	slices.Reverse(text)
	return strings.Join(text, "x")
}

// fileValues reads a source whole.
func fileValues(t fileT, s grid.Source) []float64 {
	t.Helper()
	buf := grid.NewBuffer(grid.TotalBytes(s))
	if err := s.ReadSlab(buf, 0, s.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	out := make([]float64, s.Shape().Voxels())
	for i := range out {
		switch s.Type() {
		case grid.Uint8:
			out[i] = float64(buf[i])
		case grid.Int16:
			out[i] = float64(grid.Values[int16](buf)[i])
		case grid.Uint16:
			out[i] = float64(grid.Values[uint16](buf)[i])
		case grid.Float32:
			out[i] = float64(grid.Values[float32](buf)[i])
		}
	}
	return out
}

func checkFileImage(t fileT, s grid.Source, shape string, typ grid.Type, value func(int64) float64) {
	t.Helper()
	if s.Shape().String() != shape || s.Type() != typ {
		t.Fatalf("image is %v %v, want %v %v", s.Shape(), s.Type(), shape, typ)
	}
	labels := grid.LabelsOf(s)
	for i, v := range fileValues(t, s) {
		if labels != nil {
			v = labels.Float64(float32(v))
		}
		if v != value(int64(i)) {
			t.Fatalf("voxel %d is %v, want %v", i, v, value(int64(i)))
		}
	}
}

func checkFileError(t testing.TB, what string, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error, want %q", what, want)
	case !strings.Contains(err.Error(), want):
		t.Errorf("%s: error %q, want %q", what, err, want)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("%s: error of several lines: %q", what, err)
	}
}

// checkRefusedCheaply reports whether bytes are refused with an error that
// holds want, and without memory.
func checkRefusedCheaply(t *testing.T, name string, data []byte, o FileOptions, want string) {
	t.Helper()
	before := allocated()
	_, err := openFileBytes(name, data, o)
	checkFileError(t, name, err, want)
	if n := allocated() - before; n > 8<<20 {
		t.Errorf("%s: refusing %d bytes took %d bytes of memory", name, len(data), n)
	}
}

func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// checkAnyFile opens arbitrary bytes. They may be refused in one line; an image
// that is accepted is no larger than its bytes can hold, and is the same whole,
// in slices and streamed.
func checkAnyFile(t fileT, name string, data []byte) {
	t.Helper()
	before := allocated()
	var o FileOptions
	whole, err := openFileBytes(name, data, o)
	if several := (volumeError{}); errors.As(err, &several) {
		volume := several.count / 2
		o.Volume = &volume
		whole, err = openFileBytes(name, data, o)
	}
	// 2600 bytes of LZW, four to a scaled uint8 of deflate, each held a few times.
	ratio := int64(4 * deflateRatio)
	for _, p := range wrappings {
		if bytes.Contains(data, []byte(p.magic)) {
			ratio = max(ratio, p.ratio)
		}
	}
	if n, most := allocated()-before, 16<<20+16*ratio*int64(len(data)); n > most {
		t.Fatalf("%d bytes of file took %d bytes of memory, more than %d", len(data), n, most)
	}
	o.Stream = true
	stream, serr := openFileBytes(name, data, o)
	for _, e := range []error{err, serr} {
		if e != nil && (strings.Contains(e.Error(), "\n") || e.Error() == "") {
			t.Fatalf("error is not one line: %q", e)
		}
	}
	if serr == nil && err != nil {
		t.Fatalf("streamed, but not read whole: %v", err)
	}
	if err != nil {
		return
	}
	want := whole.(*grid.Field).Data()
	if most := 64<<10 + ratio*int64(len(data)); int64(len(want)) > most {
		t.Fatalf("%d bytes of file became %d bytes of voxels", len(data), len(want))
	}
	sources := []grid.Source{whole}
	if serr == nil {
		sources = append(sources, stream)
		if whole.Shape() != stream.Shape() || whole.Type() != stream.Type() || whole.Ladder().Key() != stream.Ladder().Key() {
			t.Fatalf("whole: %v %v %v, streamed: %v %v %v", whole.Shape(), whole.Type(), whole.Ladder(), stream.Shape(), stream.Type(), stream.Ladder())
		}
	} else if !strings.HasPrefix(serr.Error(), "cannot be streamed because ") {
		t.Fatalf("read whole, but not streamed: %v", serr)
	}
	for _, s := range sources {
		if diff := slabsDiffer(s, want); diff != "" {
			t.Fatal(diff)
		}
	}
}

// slabsDiffer reads a source slice by slice, and says where it is not what is wanted.
func slabsDiffer(s grid.Source, want []byte) string {
	size := grid.SliceBytes(s)
	buf := grid.NewBuffer(size)
	for i := range s.Shape().Slices() {
		if err := s.ReadSlab(buf, i, i+1); err != nil {
			return fmt.Sprintf("slice %d: %v", i, err)
		}
		if !bytes.Equal(buf, want[i*size:(i+1)*size]) {
			return fmt.Sprintf("slice %d of a %T differs from the whole", i, s)
		}
	}
	return ""
}

// checkOnce reads a file once and in order where it can be, which shows the image that is
// read whole, on every float32, or fails where that does.
func checkOnce(t *testing.T, name string, data []byte) {
	t.Helper()
	once, err := openFileBytes(name, data, FileOptions{Stream: true, Once: true, Every: true})
	if err != nil {
		return
	}
	whole, err := openFileBytes(name, data, FileOptions{Every: true})
	if err != nil {
		if grid.TotalBytes(once) > 1<<24 {
			return // a header's word alone
		}
		buf := grid.NewBuffer(grid.TotalBytes(once))
		if err2 := once.ReadSlab(buf, 0, once.Shape().Slices()); err2 == nil {
			t.Fatalf("read in order, but not whole: %v", err)
		}
		return
	}
	if diff := slabsDiffer(once, whole.(*grid.Field).Data()); diff != "" {
		t.Fatal("in order: " + diff)
	}
}

// fuzzFile fuzzes the reader of an extension, from the fixtures that have it or another.
func fuzzFile(f *testing.F, ext string, others ...string) {
	for _, e := range append([]string{ext}, others...) {
		names, err := filepath.Glob(filepath.Join(fixtureDir, "*"+e+"*"))
		if err != nil || len(names) == 0 {
			f.Fatalf("no fixture: %v", err)
		}
		for _, name := range names {
			f.Add(readFixture(f, filepath.Base(name)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAnyFile(t, "image"+ext, data)
		checkOnce(t, "image"+ext, data)
	})
}
