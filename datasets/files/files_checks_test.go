package files

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"eccbench/internal/grid"

	"pgregory.net/rapid"
)

// A fileFixture is a file by other software, with its contents.
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
	// Float32 represents neither.
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
		{"axes_3d.mrc", "2x3x4", grid.Int16, func(i int64) float64 { return i16(i%2*12 + i/2%3*4 + i/6) }},
		{"blank_2d.fits", "5x3", grid.Int16, linear(0, 1)},
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
		{"i64_ranked_3d.tif", "4x3x2", grid.Float32, large},
		{"u64_be_predictor_3d.tif", "4x3x2", grid.Float32, large},
		{"predictor3_2d.tif", "5x3", grid.Float32, f32},
		{"f64_be_tiles_predictor3_2d.tif", "18x20", grid.Float32, tenths},
		{"f16_predictor3_3d.tif", "4x3x2", grid.Float32, f32},
	}
}

// fileValues reads a source whole.
func fileValues(t rapid.TB, s grid.Source) []float64 {
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

func checkFileImage(t rapid.TB, s grid.Source, shape string, typ grid.Type, value func(int64) float64) {
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

func checkFileError(t *testing.T, what string, err error, want string) {
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

// slabsDiffer reads a source slice by slice and returns the first difference.
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

// without replaces the values of the first slices by fill.
func without(value func(int64) float64, fill float64, voxels int64) func(int64) float64 {
	return func(i int64) float64 {
		if i < voxels {
			return fill
		}
		return value(i)
	}
}

func plus(value func(int64) float64, by int64) func(int64) float64 {
	return func(i int64) float64 { return value(i + by) }
}

type zarrFixture struct {
	fileFixture
	options string // of its input string
}

func zarrFixtures() []zarrFixture {
	u8, u16, f32 := modulo(10, 7, 256), modulo(40000, 1001, 1<<16), linear(-1.5, 0.75)
	hundreds, odd, grey := linear(500, 100), modulo(0, 1, 2), linear(0, 13)
	wrapped := func(i int64) float64 { return float64(int16(-3000 + 251*i)) }
	const shape = "7x6x5"
	list := []zarrFixture{
		{fileFixture{"u8_raw_v2", shape, grid.Uint8, u8}, ""},
		{fileFixture{"i16_zlib_be_v2", shape, grid.Int16, wrapped}, ""},
		{fileFixture{"u16_gzip_slash_v2", shape, grid.Uint16, u16}, ""},
		{fileFixture{"f32_zstd_fortran_v2", shape, grid.Float32, f32}, ""},
		{fileFixture{"f32_bz2_v2", shape, grid.Float32, f32}, ""},
		{fileFixture{"i16_lz4_v2", shape, grid.Int16, wrapped}, ""},
		{fileFixture{"u32_blosc_lz4_long_v2", "43x41x40", grid.Float32, func(i int64) float64 { return float64(i / 97) }}, ""},
		{fileFixture{"u32_blosc_zstd_long_v2", "43x41x40", grid.Float32, func(i int64) float64 { return float64(i / 97) }}, ""},
		{fileFixture{"u16_missing_v2", shape, grid.Uint16, without(hundreds, 77, 84)}, ""},
		{fileFixture{"f32_missing_be_v2", shape, grid.Float32, without(f32, 2.5, 84)}, ""},
		{fileFixture{"b1_v2", shape, grid.Uint8, odd}, ""},
		{fileFixture{"f8_ranked_v2", shape, grid.Float32, linear(-1, 0.1)}, ""},
		{fileFixture{"i8_2d_v2", "7x6", grid.Int16, linear(-100, 5)}, ""},
		{fileFixture{"u8_v3", shape, grid.Uint8, u8}, ""},
		{fileFixture{"i16_be_gzip_v3", shape, grid.Int16, wrapped}, ""},
		{fileFixture{"u16_zstd_crc_v3", shape, grid.Uint16, u16}, ""},
		{fileFixture{"f32_blosc_v3", shape, grid.Float32, f32}, ""},
		{fileFixture{"f32_transpose_v3", shape, grid.Float32, f32}, ""},
		{fileFixture{"u16_dot_v3", shape, grid.Uint16, u16}, ""},
		{fileFixture{"u16_v2keys_v3", shape, grid.Uint16, u16}, ""},
		{fileFixture{"u16_shards_v3", shape, grid.Uint16, u16}, ""},
		{fileFixture{"u16_shards_missing_v3", shape, grid.Uint16, without(hundreds, 77, 84)}, ""},
		{fileFixture{"i16_shards_start_v3", shape, grid.Int16, wrapped}, ""},
		{fileFixture{"f32_missing_v3", shape, grid.Float32, without(f32, 2.5, 84)}, ""},
		{fileFixture{"u64_ranked_v3", shape, grid.Float32, linear(1<<53-40, 7)}, ""},
		{fileFixture{"f16_v3", shape, grid.Float32, f32}, ""},
		{fileFixture{"bool_v3", shape, grid.Uint8, odd}, ""},
		{fileFixture{"u8_volumes_v3", "4x3x2", grid.Uint8, plus(linear(0, 3), 24)}, "/volume=1"},
		{fileFixture{"channels_04", shape, grid.Uint16, plus(grey, 5*210)}, "/volume=2/channel=GFP"},
		{fileFixture{"channels_04", shape, grid.Uint16, plus(grey, 210)}, "/volume=0/channel=1"},
		{fileFixture{"channels_04", shape, grid.Uint16, plus(grey, 210)}, "/volume=1"},
		{fileFixture{"channels_04", "4x3x3", grid.Uint16, plus(linear(7, 13), 2*36)}, "/volume=1/array=1/channel=DAPI"},
		{fileFixture{"channels_05", shape, grid.Uint16, plus(grey, 5*210)}, "/volume=2/channel=GFP"},
		{fileFixture{"channels_05", "4x3x3", grid.Uint16, plus(linear(7, 13), 3*36)}, "/volume=1/array=half/channel=GFP"},
		{fileFixture{"channels_05", shape, grid.Uint8, u8}, "/array=labels%2Fcells"},
		{fileFixture{"channels_05", shape, grid.Uint8, u8}, "/array=labels%2Fnuclei%2F0"},
		{fileFixture{"channels_05", shape, grid.Uint8, u8}, "/array=labels%2Fnuclei"},
		{fileFixture{"xarray", shape, grid.Uint16, plus(grey, 210)}, "/channel=1"},
		{fileFixture{"xarray", shape, grid.Uint16, plus(grey, 210)}, "/array=signal/channel=1"},
		{fileFixture{"flat_05", "7x6", grid.Uint16, plus(grey, 42)}, "/channel=GFP"},
		{fileFixture{"volume_05", shape, grid.Uint8, u8}, ""},
		{fileFixture{"volume_05", "4x3x3", grid.Uint8, linear(1, 1)}, "/array=1"},
		{fileFixture{"series_04", shape, grid.Uint8, u8}, ""},
		{fileFixture{"series_04", shape, grid.Uint8, u8}, "/array=0"},
		{fileFixture{"two_arrays", shape, grid.Uint8, u8}, "/array=second"},
	}
	for _, codec := range []string{"lz4", "lz4hc", "zstd", "zlib"} {
		for _, shuffle := range []string{"plain", "shuffle", "bits"} {
			list = append(list, zarrFixture{fileFixture{"u16_blosc_" + codec + "_" + shuffle + "_v2", shape, grid.Uint16, u16}, ""})
		}
	}
	return list
}

// A pairFixture is an image with a header and separate files of voxels.
type pairFixture struct {
	fileFixture
	data []string
}

func pairFixtures() []pairFixture {
	u8, i16, u16, f32 := linear(10, 7), linear(-3000, 251), modulo(40000, 1001, 1<<16), linear(-1.5, 0.75)
	parts := []string{"i16_part_1.raw", "i16_part_2.raw"}
	return []pairFixture{
		{fileFixture{"i16_pair_3d.hdr", "4x3x2", grid.Int16, i16}, []string{"i16_pair_3d.img"}},
		{fileFixture{"f32_pair_3d.hdr.gz", "4x3x2", grid.Float32, f32}, []string{"f32_pair_3d.img.gz"}},
		{fileFixture{"nifti2_pair_3d.hdr", "4x3x2", grid.Uint8, u8}, []string{"nifti2_pair_3d.img"}},
		{fileFixture{"f32_detached_3d.nhdr", "4x3x2", grid.Float32, f32}, []string{"f32_detached_3d.raw"}},
		{fileFixture{"i16_detached_gzip_3d.nhdr", "4x3x2", grid.Int16, i16}, []string{"i16_detached_gzip_3d.raw.gz"}},
		{fileFixture{"i16_detached_bzip2_3d.nhdr", "4x3x2", grid.Int16, i16}, []string{"i16_detached_bzip2_3d.raw.bz2"}},
		{fileFixture{"u16_detached_3d.mhd", "4x3x2", grid.Uint16, u16}, []string{"u16_detached_3d.raw"}},
		{fileFixture{"f32_detached_zlib_3d.mhd", "4x3x2", grid.Float32, f32}, []string{"f32_detached_zlib_3d.zraw"}},
		{fileFixture{"i16_list_3d.nhdr", "4x3x2", grid.Int16, i16}, parts},
		{fileFixture{"i16_pattern_3d.nhdr", "4x3x2", grid.Int16, i16}, parts},
		{fileFixture{"i16_lines_3d.nhdr", "4x3", grid.Int16, i16}, parts[:1]},
		{fileFixture{"i16_end_3d.nhdr", "4x3", grid.Int16, i16}, parts[:1]},
		{fileFixture{"i16_list_3d.mhd", "4x3x2", grid.Int16, i16}, parts},
		{fileFixture{"i16_pattern_3d.mhd", "4x3x2", grid.Int16, i16}, parts},
		{fileFixture{"i16_end_3d.mhd", "4x3", grid.Int16, i16}, parts[:1]},
	}
}

// A volumeFixture is a file of several images; value takes the volume too.
type volumeFixture struct {
	name, shape string
	count       int64
	typ         grid.Type
	value       func(volume, i int64) float64
}

func volumeFixtures() []volumeFixture {
	// The voxels of volume v follow the previous volume, or alternate with it.
	after := func(n int64, a, b float64) func(v, i int64) float64 {
		return func(v, i int64) float64 { return a + b*float64(v*n+i) }
	}
	beside := func(count int64, a, b float64) func(v, i int64) float64 {
		return func(v, i int64) float64 { return a + b*float64(i*count+v) }
	}
	return []volumeFixture{
		{"i2_volumes_4d.npy", "4x3x2", 3, grid.Int16, after(24, -3000, 51)},
		{"u2_volumes_fortran_5d.npy", "4x3x2", 6, grid.Uint16, after(24, 100, 7)},
		{"i16_volumes_4d.nii", "4x3x2", 3, grid.Int16, after(24, -3000, 51)},
		{"f32_volumes_4d.nii.gz", "4x3x2", 3, grid.Float32, after(24, -1.5, 0.75)},
		{"i16_volumes_4d.nrrd", "4x3x2", 3, grid.Int16, after(24, -3000, 51)},
		{"u8_list_4d.nrrd", "4x3x2", 3, grid.Uint8, beside(3, 0, 3)},
		{"u8_vector_gzip_3d.nrrd", "4x3", 3, grid.Uint8, beside(3, 0, 3)},
		{"i16_volumes_4d.mha", "4x3x2", 3, grid.Int16, after(24, -3000, 51)},
		{"i16_volumes_4d.mrc", "4x3x2", 3, grid.Int16, after(24, -3000, 51)},
		{"i16_volumes_4d.fits", "4x3x2", 3, grid.Int16, after(24, -3000, 51)},
		{"volumes.npz", "4x3x2", 3, grid.Int16, after(24, -3000, 51)},
		{"u8_channels_3d.mha", "4x3x2", 3, grid.Uint8, beside(3, 0, 3)},
	}
}

// refusedFixtures maps invalid files to their errors.
var refusedFixtures = map[string]string{
	"struct_1d.npy":      "structured",
	"palette_2d.png":     "palette",
	"complex_2d.mrc":     "MRC mode 4",
	"table.fits":         "no image",
	"compressed_2d.fits": "funpack",
	"rgb_colour_2d.png":  "row 2: an image in colour: red, green and blue differ first at pixel 4 of a row",
	"rgba_clear_2d.png":  "row 1: an image with transparency, which is first not opaque at pixel 2 of a row",
	"rgb_colour_2d.tif":  "page 1: row 2 from column 0: an image in colour",
	"rgba_clear_2d.tif":  "page 1: row 1 from column 0: an image with transparency",
	"rgb_planes_2d.tif":  "3 samples in planes of their own",
	"whiteiszero_2d.tif": "white is zero",
}

// refusedZarr lists Zarr arrays and groups without an image or with several, and their errors.
var refusedZarr = []struct{ name, options, want string }{
	{"c8_v3", "", "data type \"complex64\""},
	{"delta_filter_v2", "", "its filter \"delta\" is not read"},
	{"u16_blosc_blosclz_v2", "", "blosclz, which is not read; choose lz4 or zstd; write it again"},
	{"f32_nan_v3", "", "NaN"},
	{"u8_volumes_v3", "", "3 volumes of 4x3x2; choose one of 0..2"},
	{"u8_volumes_v3", "/volume=3", "no volume 3 of 3"},
	{"u8_volumes_v3", "/channel=0/volume=1", "no axis of channels"},
	{"channels_04", "", "2 channels; choose one: --channel of the command, or the input file/channel=NAME/path=FILE: \"DAPI\", \"GFP\""},
	{"channels_04", "/channel=GFP", "3 volumes of each channel; choose one of 0..2"},
	{"channels_05", "/channel=GFP/volume=3", "there is no volume 3 of the 3 of each channel"},
	{"channels_05", "/channel=2/volume=0", "there is no channel \"2\"; want 0..1, or one of \"DAPI\", \"GFP\""},
	{"channels_05", "/array=quarter", "there is no array \"quarter\"; want one of \"full\", \"half\", \"labels\""},
	{"channels_05", "/array=..%2Fu8_v3.zarr", "want a path within the group"},
	{"last_05", "", "its axis \"c\" comes after those of space"},
	{"two_arrays", "", "choose an array: --array of the command, or the input file/array=NAME/path=FILE: \"first\", \"second\""},
	{"u8_v3", "/array=0", "it is an array, and no group"},
	{"u8_v3", "/shape=7x6x5/type=uint8", "has its own shape and type"},
	{"u8_v3", "/levels=3", "a number of levels is for float32"},
	{"none", "", "no such file or directory; check the path"},
}
