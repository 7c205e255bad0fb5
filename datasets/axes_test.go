package datasets

import (
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
		if axes, err := Axes(path, FileOptions{}); err != nil || axes != want {
			t.Errorf("%s has %d axes, %v, want %d", shape, axes, err, want)
		}
	}
	if _, err := Axes(path+".nii", FileOptions{}); err == nil {
		t.Error("a file that is not there has axes")
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
