package datasets

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// A file says how many axes its image has, of a volume of one slice 3.
func TestAxes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.npy")
	for shape, want := range map[string]int{"(6,)": 1, "(2, 3)": 2, "(1, 2, 3)": 3, "(1, 1, 6)": 3, "(3, 2, 1)": 3, "(1, 1, 2, 3)": 3} {
		if err := os.WriteFile(path, writeNpy(npyHeaderText("|u1", "False", shape), make([]byte, 6)), 0o666); err != nil {
			t.Fatal(err)
		}
		if axes, err := Axes("file/path=" + path); err != nil || axes != want {
			t.Errorf("%s has %d axes, %v, want %d", shape, axes, err, want)
		}
	}
	if _, err := Axes("file/path=" + path + ".nii"); err == nil {
		t.Error("a file that is not there has axes")
	}
}

// A volume of several, also of one slice, has 3 axes; an image of a stack, and a TIFF page, have 2.
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
		if axes, err := Axes("file/" + c.name); err != nil || axes != c.want {
			t.Errorf("%s has %d axes, %v, want %d", c.name, axes, err, c.want)
		}
	}
}

// A slice that is unlike the first one is an error of its file, also where slices are read as they are
// asked for.
func TestUnlikeSlices(t *testing.T) {
	folder := t.TempDir()
	for name, shape := range map[string]string{"0.npy": "(2, 2)", "1.npy": "(1, 4)"} {
		if err := os.WriteFile(filepath.Join(folder, name), writeNpy(npyHeaderText("|u1", "False", shape), make([]byte, 4)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open("stack/stream=once/path=" + folder)
	if err != nil {
		t.Fatal(err)
	}
	defer grid.Close(s)
	var read *ReadError
	if err = s.ReadSlab(grid.NewBuffer(8), 0, 2); !errors.As(err, &read) || !strings.Contains(err.Error(), "want slices of one shape and type") {
		t.Errorf("%v is no error of a file", err)
	}
}
