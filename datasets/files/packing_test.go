package files

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func zstdOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The name or the first bytes of a whole file determine its compression.
func TestWrapped(t *testing.T) {
	raw := readFixture(t, "u16_3d.raw.zst")
	o := format.Options{Shape: grid.Shape{D: 2, H: 3, W: 4}, Type: grid.Uint16}
	for _, name := range []string{"u16_3d.raw.zst", "u16_3d.zst", "u16_3d"} {
		s, err := openFileBytes(name, raw, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkFileImage(t, s, "4x3x2", grid.Uint16, modulo(40000, 1001, 1<<16))
	}
	// Raw voxels may start with any bytes.
	for _, p := range wrappings {
		data := append([]byte(p.Magic), 1, 2, 3, 4, 5, 6)
		s, err := openFileBytes("image", data, format.Options{Shape: grid.Shape{D: 1, H: 1, W: int64(len(data))}, Type: grid.Uint8})
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, s, grid.Shape{D: 1, H: 1, W: int64(len(data))}.String(), grid.Uint8, func(i int64) float64 { return float64(data[i]) })
	}
	npy := readFixture(t, "i2_be_3d.npy")
	packed := zstdOf(t, npy)
	checkFileImage(t, mustOpen(t, "a.npy.ZST", packed), "4x3x2", grid.Int16, linear(-3000, 251))
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.npy.zst", packed[:len(packed)-1], "truncated: the data by zstd end too early"},
		{"a.npy.zst", append(bytes.Clone(packed), 1, 2, 3, 4, 5), "decompressing"},
		{"a.npy.gz", npy, "decompressing"},
		{"a.npy.bz2", npy, "decompressing"},
		{"a.npy.gz", nil, "the file is empty"},
		{"a.npy.gz", zipped(nil), "the file is empty"},
		{"a.npy.gz", zipped(zipped(npy)), "not an npy file"},
		{"a.gz", zipped(zipped(npy)), "neither the name nor the first bytes"},
		{"a.gz", zipped([]byte("some text")), "neither the name nor the first bytes"},
		{"a.npy.gz", zipped(npy)[:60], "truncated: the data by gzip end too early"},
	} {
		checkRefusedCheaply(t, c.name, c.data, format.Options{}, c.want)
	}
	checkRefusedCheaply(t, "a.npy.zst", packed, format.Options{Stream: true}, "cannot be streamed because it is compressed by zstd")
	for _, name := range []string{"a.png.zst", "a.fits.gz", "a.npy.gz.zst"} {
		checkRefusedCheaply(t, name, packed, format.Options{Stream: true, Once: true}, "cannot be streamed because it is compressed by ")
	}
	if !IsImage("a/scan.nrrd.zst") || IsImage("scan.raw.gz") || IsImage("scan.img.gz") || !IsImage("scan.nii.gz") || IsImage("notes.gz") {
		t.Error("what is an image by its name")
	}
}

// The data after a header are decompressed on demand, for any length, and to their end.
func TestWrappedInOrder(t *testing.T) {
	voxels := make([]byte, 2*3*format.PassHead)
	for i := range voxels {
		voxels[i] = byte(i * i >> 3)
	}
	npy := writeNpy(npyHeaderText(">i2", "False", "(64, 3, 1024)"), voxels)
	nrrd := append([]byte("NRRD0004\ntype: uint8\ndimension: 3\nsizes: 1024 6 64\nencoding: raw\n\n"), voxels...)
	raw := format.Options{Shape: grid.Shape{D: 64, H: 6, W: 1024}, Type: grid.Uint8}
	for _, c := range []struct {
		name string
		data []byte
		o    format.Options
	}{{"a.npy", npy, format.Options{}}, {"a.nrrd", nrrd, format.Options{}}, {"a.raw", voxels, raw}} {
		whole, err := openFileBytes(c.name, c.data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		c.o.Stream, c.o.Once = true, true
		for ending, pack := range map[string]func([]byte) []byte{".gz": zipped, ".zst": func(b []byte) []byte { return zstdOf(t, b) }} {
			packed, name := pack(c.data), c.name+ending
			once, err := openFileBytes(name, packed, c.o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := slabsDiffer(once, whole.(*grid.Field).Data()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			for what, data := range map[string][]byte{
				"truncated": packed[:len(packed)-3], "trailing data": pack(append(bytes.Clone(c.data), 0)), "more compressed data": append(bytes.Clone(packed), packed...),
			} {
				once, err := openFileBytes(name, data, c.o)
				if err != nil {
					t.Fatalf("%s, %s: %v", name, what, err)
				}
				if err := once.ReadSlab(grid.NewBuffer(grid.TotalBytes(once)), 0, once.Shape().Slices()); err == nil {
					t.Errorf("%s is read to its end, with %s", name, what)
				}
			}
		}
	}
}

// The first bytes of a compressed file are checked before all of it is decompressed: a bomb with
// another name is rejected.
func TestWrappedIsLookedAt(t *testing.T) {
	bomb := zipped(make([]byte, 1<<24))
	for _, name := range []string{"a.tif.gz", "a.dcm.gz", "a.png.gz", "a.nrrd.gz", "a.npy.gz", "a.fits.gz", "a.gz"} {
		checkRefusedCheaply(t, name, bomb, format.Options{}, "first bytes")
	}
}

// A window in a header is not allocated if the file cannot fill it.
func TestZstdWindow(t *testing.T) {
	claim := []byte("\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00") // a window of 128 MiB, and an empty block
	checkRefusedCheaply(t, "claim.npy.zst", claim, format.Options{}, "")
}

func TestNpz(t *testing.T) {
	path := filepath.Join(fixtureDir, "two_arrays.npz")
	_, err := Open(path, format.Options{})
	checkFileError(t, "two arrays", err, `2 arrays; choose one: --array of the command, or the input file/array=NAME/path=FILE: "first", "second"`)
	_, err = Open(path, format.Options{Array: "third"})
	checkFileError(t, "no array", err, `there is no array "third"; want one of "first", "second"`)
	_, err = Open(filepath.Join(fixtureDir, "u8_3d.nii"), format.Options{Array: "first"})
	checkFileError(t, "NIfTI", err, "a NIfTI file has no arrays with names")
	for array, f := range map[string]fileFixture{
		"first": {"", "4x3x2", grid.Uint8, linear(10, 7)}, "second": {"", "5x3", grid.Float32, linear(-1.5, 0.75)},
	} {
		s, err := Named.Open("file/array=" + array + "/path=" + path)
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, s, f.shape, f.typ, f.value)
	}
	// An uncompressed array is streamed.
	s, err := Open(filepath.Join(fixtureDir, "i2_stored.npz"), format.Options{Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(s)
	checkFileImage(t, s, "4x3x2", grid.Int16, linear(-3000, 251))

	archive := func(method uint16, names ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			w.Write(readFixture(t, "i2_be_3d.npy"))
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		checkFileImage(t, mustOpen(t, "image.npz", archive(method, "a.npy", "b.txt")), "4x3x2", grid.Int16, linear(-3000, 251))
	}
	for array, wrong := range map[string]string{"a": "", "a.npy": "", "b.npy": "", "b.npy.npy": "", "c": "no array"} {
		_, err := openFileBytes("image.npz", archive(zip.Store, "b.npy.npy", "a.npy"), format.Options{Array: array})
		if wrong != "" {
			checkFileError(t, array, err, wrong)
		} else if err != nil {
			t.Errorf("%s: %v", array, err)
		}
	}
	good := archive(zip.Deflate, "a.npy")
	for _, c := range []struct {
		what string
		data []byte
		want string
	}{
		{"none", archive(zip.Store, "b.txt"), "no .npy array"},
		{"twice", archive(zip.Store, "a.npy", "a.npy"), `two arrays are named "a"`},
		{"empty", archive(zip.Store), "no .npy array"},
		{"text", []byte("PK\x03\x04 and some text"), "not an npz archive"},
		{"many", archive(zip.Store, strings.Fields("a.npy b.npy c.npy d.npy e.npy f.npy g.npy h.npy i.npy j.npy k.npy l.npy m.npy")...), `"l", …`},
		{"trailing", append(bytes.Clone(good), 0), "trailing data"},
		{"method", bytes.ReplaceAll(good, []byte("\x08\x00\x08\x00"), []byte("\x08\x00\x0c\x00")), "unsupported compression algorithm"},
		{"locked", bytes.Replace(good, []byte("PK\x01\x02\x14\x03\x14\x00\x08"), []byte("PK\x01\x02\x14\x03\x14\x00\x09"), 1), ""},
	} {
		if c.want != "" {
			checkRefusedCheaply(t, c.what+".npz", c.data, format.Options{}, c.want)
		}
		checkAnyFile(t, c.what+".npz", c.data)
	}
}

// The survey of one array is not used for another.
func TestNpzSurveys(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, last := range map[string]float32{"a": 3, "b": 7} {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		w.Write(writeNpy(npyHeaderText("<f4", "False", "(2, 2)"), grid.Bytes([]float32{0, 1, 2, last})))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var surveys format.Surveys
	for name, want := range map[string]float32{"a": 3, "b": 7} {
		s, err := Named.OpenWith(&surveys, "file/array="+name+"/path="+path)
		if err != nil {
			t.Fatal(err)
		}
		if l := s.Ladder(); l.Value(l.Len()-1) != want {
			t.Errorf("array %s: the last level is %v, want %v", name, l.Value(l.Len()-1), want)
		}
		grid.Close(s)
	}
}

func FuzzNpz(f *testing.F) { fuzzFile(f, ".npz") }

func FuzzWrapped(f *testing.F) {
	names, err := filepath.Glob(filepath.Join(fixtureDir, "*.*.*"))
	if err != nil || len(names) < 5 {
		f.Fatalf("%d fixtures: %v", len(names), err)
	}
	for _, name := range names {
		f.Add(readFixture(f, filepath.Base(name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAnyFile(t, "image", data)
		checkOnce(t, "image", data)
	})
}
