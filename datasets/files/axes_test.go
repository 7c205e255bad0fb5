package files

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// A file has the number of axes of its image: 3 for a volume of one slice, 2 for a row.
func TestAxes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.npy")
	for shape, want := range map[string]int{"(6,)": 2, "(2, 3)": 2, "(1, 2, 3)": 3, "(1, 1, 6)": 3, "(3, 2, 1)": 3, "(1, 1, 2, 3)": 3} {
		if err := os.WriteFile(path, writeNpy(npyHeaderText("|u1", "False", shape), make([]byte, 6)), 0o666); err != nil {
			t.Fatal(err)
		}
		hasAxes(t, "file/path="+path, want)
		hasAxes(t, "file/stream=false/path="+path, want)
	}
}

// hasAxes checks the number of axes of an image, as it is opened and in memory.
func hasAxes(t *testing.T, name string, want int) {
	t.Helper()
	s, err := Named.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(s)
	whole, err := grid.Load(s)
	if err != nil || grid.Dim(s) != want || whole.Dim() != want {
		t.Errorf("%s has %d axes, and in memory %d, %v, want %d", name, grid.Dim(s), whole.Dim(), err, want)
	}
}

// A raw file and a stack of one slice are volumes.
func TestAxesOfOneSlice(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.raw", make([]byte, 6), 0o666); err != nil {
		t.Fatal(err)
	}
	for shape, want := range map[string]int{"3x2": 2, "3x2x1": 3, "1x2x3": 3, "6x1x1": 3} {
		name := "file/shape=" + shape + "/type=uint8/path=a.raw"
		hasAxes(t, name, want)
		if canonical, err := Named.Canonical(name); err != nil || canonical != name {
			t.Errorf("%s becomes %s, %v", name, canonical, err)
		}
	}
	hasAxes(t, "stack/shape=3x2/type=uint8/path=a.raw", 3)
	hasAxes(t, "stack/shape=3x2x1/type=uint8/stream=once/path=a.raw", 3)
}

// One of several volumes, even with one slice, has 3 axes. An image of a stack, and a TIFF page,
// have 2.
func TestAxesOfOneOfSeveral(t *testing.T) {
	stack := readFixture(t, "i16_3d.rec") // 4x3x2
	copy(stack[36:], "\x01")
	copy(stack[88:], "\x00")
	one := bytes.Clone(stack[:1024+24])
	copy(one[8:], "\x01")
	thin := bytes.Clone(stack)
	copy(thin, "\x01")
	copy(thin[4:], "\x0c")
	volume := bytes.Clone(one)
	copy(volume[88:], "\x01")
	kinds := "type: uchar\ndimension: 3\nsizes: 3 2 2\nencoding: raw\nkinds: domain domain list\n"
	for _, c := range []struct {
		name string
		data []byte
		want int
	}{
		{"volume=1/path=a.npy", writeNpy(npyHeaderText("|u1", "False", "(2, 1, 2, 3)"), make([]byte, 12)), 3},
		{"volume=1/path=a.nrrd", writeNrrd(kinds, make([]byte, 12)), 2},
		{"volume=1/path=a.mrc", stack, 2}, {"path=a.mrc", one, 2}, {"path=a.mrc", volume, 3},
		{"volume=1/path=a.mrc", thin, 2}, {"path=a.tif", readFixture(t, "alpha_2d.tif"), 2},
	} {
		t.Chdir(t.TempDir())
		_, path, _ := strings.Cut(c.name, "path=")
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		hasAxes(t, "file/"+c.name, c.want)
	}
}

// A slice that differs from the first one is an error of its file, even if slices are read on
// demand.
func TestUnlikeSlices(t *testing.T) {
	folder := t.TempDir()
	for name, shape := range map[string]string{"0.npy": "(2, 2)", "1.npy": "(1, 4)"} {
		if err := os.WriteFile(filepath.Join(folder, name), writeNpy(npyHeaderText("|u1", "False", shape), make([]byte, 4)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Named.Open("stack/stream=once/path=" + folder)
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(s)
	var read *format.ReadError
	if err = s.ReadSlab(grid.NewBuffer(8), 0, 2); !errors.As(err, &read) || !strings.Contains(err.Error(), "want slices of one shape and type") {
		t.Errorf("%v is no error of a file", err)
	}
}
