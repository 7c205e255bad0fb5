package files

import (
	"archive/zip"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/datasets/zarr"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks returns the checks of image sources: files of every format by other software, and
// generators, whose images are the same on every machine.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "files", Of: readsFiles},
		{Name: "files of several parts", Of: readsPairs},
		{Name: "files of several images", Of: readsVolumes},
		{Name: "stacks of slices", Of: readsStacks},
		{Name: "stacks of slices that are streamed", Of: streamsStacks},
		{Name: "voxels in memory", Of: voxelsAreThoseOfAFile},
		{Name: "raw files that are refused", Of: refusesRaw},
		{Name: "raw files", Of: readsRaw},
		{Name: "files that are refused", Of: refusesFiles},
		{Name: "files that are streamed", Of: streamsWhereItCan},
		{Name: "files that shrink", Of: filesThatShrink},
		{Name: "files that change", Of: filesThatChange},
		{Name: "surveys of files", Of: surveysOnce},
		{Name: "files that are read once", Of: readsOnce},
		{Name: "memory of files", Of: roomOfFiles},
		{Name: "values that are ranked", Of: ranksValues},
		{Name: "values that float32 holds", Of: narrowsExactly},
		{Name: "values that are no numbers", Of: narrowRefusesNaN},
		{Name: "stacks that are ranked", Of: ranksStacks},
		{Name: "stacks that are refused", Of: refusesStacks},
		{Name: "surveys of stacks", Of: surveysStacks},
		{Name: "pairs by either name", Of: opensPairs},
		{Name: "files that fail", Of: failingFiles},
		{Name: "series", Of: ordersSeries},
		{Name: "edited files", Of: editsShowTheSame},
		{Name: "input strings", Of: namesSayTheSame},
		{Name: "Zarr", Of: readsZarr},
		{Name: "objects on servers", Of: readsObjects},
		{Name: "Zarr on servers", Of: readsRemoteZarr},
		{Name: "paths", Of: statsPaths},
		{Name: "folders", Of: readsFolders},
		{Name: "damaged DICOM files", Of: refusesDicom},
		{Name: "numbered slices", Of: ordersSlices},
		{Name: "damaged FITS files", Of: refusesFits},
		{Name: "names with numbers", Of: comparesNaturally},
		{Name: "distinct values", Of: distinctValuesOfSpans},
		{Name: "files that leave the caches", Of: coolsFiles},
	}
}

//go:embed testdata/files testdata/edits.txt
var fixtures embed.FS

// fixtureDir is the folder of the fixtures.
const fixtureDir = "testdata/files"

// fixture returns the bytes of a fixture.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fixtures.ReadFile(fixtureDir + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// unpacked returns a folder with some fixtures.
func unpacked(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), fixture(t, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readsFiles reads files whole, streamed in any order, and in order once, always with the same
// image. Invalid files are refused with the reason.
func readsFiles(t *testing.T) {
	for _, f := range goodFixtures() {
		data := fixture(t, f.name)
		whole, err := openFileBytes(f.name, data, format.Options{})
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		checkFileImage(t, whole, f.shape, f.typ, f.value)
		if diff := slabsDiffer(whole, whole.(*grid.Field).Data()); diff != "" {
			t.Fatalf("%s: %s", f.name, diff)
		}
		for _, o := range []format.Options{{Stream: true}, {Stream: true, Once: true, Every: true}} {
			s, err := openFileBytes(f.name, data, o)
			if err != nil {
				if !strings.Contains(err.Error(), "cannot be streamed because ") && !o.Once {
					t.Fatalf("%s streamed: %v", f.name, err)
				}
				continue
			}
			if s.Shape() != whole.Shape() || s.Type() != whole.Type() {
				t.Fatalf("%s streamed: %v %v", f.name, s.Shape(), s.Type())
			}
			if diff := slabsDiffer(s, whole.(*grid.Field).Data()); diff != "" && grid.LabelsOf(whole) == nil {
				t.Fatalf("%s streamed: %s", f.name, diff)
			}
			if err := grid.Close(s); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
		}
		// The padding of a FITS file, and unreferenced bytes of a TIFF file, may be missing.
		padded := strings.HasSuffix(f.name, ".fits") || strings.HasSuffix(f.name, ".tif")
		if _, err := openFileBytes(f.name, data[:len(data)/2], format.Options{}); err == nil && !padded {
			t.Fatalf("half of %s is accepted", f.name)
		}
	}
	for name, want := range refusedFixtures {
		_, err := openFileBytes(name, fixture(t, name), format.Options{})
		checkFileError(t, name, err, want)
	}
}

func openFileBytes(name string, data []byte, o format.Options) (grid.Source, error) {
	return openImage(name, format.Input{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Options: o})
}

// readsPairs reads images with separate files of voxels, whole and streamed.
func readsPairs(t *testing.T) {
	for _, f := range pairFixtures() {
		header := filepath.Join(unpacked(t, append([]string{f.name}, f.data...)...), f.name)
		for _, o := range []format.Options{{}, {Stream: true}} {
			s, err := Open(header, o)
			if err != nil {
				if !o.Stream || !strings.Contains(err.Error(), "cannot be streamed because ") {
					t.Fatal(err)
				}
				continue
			}
			checkFileImage(t, s, f.shape, f.typ, f.value)
			if err := grid.Close(s); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// readsVolumes reads each image of files with several images.
func readsVolumes(t *testing.T) {
	for _, f := range volumeFixtures() {
		data := fixture(t, f.name)
		for v := range f.count {
			s, err := openFileBytes(f.name, data, format.Options{Volume: &v})
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			checkFileImage(t, s, f.shape, f.typ, func(i int64) float64 { return f.value(v, i) })
		}
		_, err := openFileBytes(f.name, data, format.Options{})
		checkFileError(t, f.name, err, fmt.Sprintf("%d volumes of %s; choose one of 0..%d", f.count, f.shape, f.count-1))
	}
}

// readsZarr reads Zarr arrays and groups. Of each three, one is read whole, one streamed in any
// order, and one in order once, because they have many files.
func readsZarr(t *testing.T) {
	// A file system on a disk may take a second to make and remove a thousand files.
	dir, err := os.MkdirTemp("/dev/shm", "eccbench-test-")
	if err == nil {
		defer os.RemoveAll(dir)
	} else {
		dir = t.TempDir()
	}
	if err := os.CopyFS(dir, zarrFixtureFiles(t)); err != nil {
		t.Fatal(err)
	}
	for i, f := range zarrFixtures() {
		stream := []string{"", "/stream=once", "/stream=false"}[i%3]
		s, err := Named.Open("file" + f.options + stream + "/path=" + filepath.Join(dir, f.name+".zarr"))
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, s, f.shape, f.typ, f.value)
		if _, whole := s.(*grid.Field); whole {
			continue
		}
		want := grid.NewBuffer(grid.TotalBytes(s))
		if err := s.ReadSlab(want, 0, s.Shape().Slices()); err != nil {
			t.Fatal(err)
		}
		if s.Shape().Slices() <= 5 {
			if diff := slabsDiffer(s, want); diff != "" {
				t.Fatalf("%s%s%s: %s", f.name, f.options, stream, diff)
			}
		}
		if err := grid.Close(s); err != nil {
			t.Fatal(err)
		}
		if err := s.ReadSlab(want, 0, s.Shape().Slices()); !errors.Is(err, fs.ErrClosed) {
			t.Fatalf("%s: reading after it was closed: %v", f.name, err)
		}
	}
	for _, c := range refusedZarr {
		_, err := Named.Open("file" + c.options + "/stream=false/path=" + filepath.Join(dir, c.name+".zarr"))
		checkFileError(t, c.name+c.options, err, c.want)
	}
	checkEdits(t, dir, true)
	// Two rows of 6 chunks of 24 bytes, and twice the chunks that are read in parallel.
	need := 2*144 + 2*min(int64(runtime.GOMAXPROCS(0))*24, 144)
	for _, less := range []int64{0, 1} {
		if _, err := describeZarr(zarr.Folder(filepath.Join(dir, "u8_v3.zarr")), format.Options{Stream: true, Memory: need - less}); (err != nil) != (less > 0) {
			t.Errorf("rows of chunks in %d bytes: %v", need-less, err)
		}
	}
	// Metadata with additional or different fields for the same chunks.
	for _, c := range []struct{ name, old, new, want string }{
		{"u8_v3", `"attributes"`, `"dimension_names": ["z", "y", "x"], "attributes"`, ""},
		{"u16_shards_v3", "4,\n        4,\n        8", "1024, 512, 1024", "want at most 16777216 in each"},
	} {
		path := filepath.Join(dir, c.name+".zarr", "zarr.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(text, []byte(c.old), []byte(c.new), 1), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err = Named.Open("file/path=" + filepath.Dir(path)); c.want != "" {
			checkFileError(t, c.name+" with "+c.new, err, c.want)
		} else if err != nil {
			t.Errorf("%s with %s: %v", c.name, c.new, err)
		}
	}
}

// zarrFixtureFiles returns the Zarr hierarchies.
func zarrFixtureFiles(t *testing.T) fs.FS {
	packed := fixture(t, "zarr.zip")
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// openImage opens an image from a file with a name.
func openImage(name string, in format.Input) (grid.Source, error) {
	body, err := describe(name, in)
	if err != nil {
		return nil, err
	}
	return body.Source()
}
