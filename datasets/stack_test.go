package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eccbench/internal/grid"
)

// Values that float32 does not hold are ranked among those of all slices.
func TestStackRanked(t *testing.T) {
	dir := t.TempDir()
	whole := readFixture(t, "f8_ranked_3d.npy")
	data := whole[len(whole)-24*8:]
	for z := range 2 {
		slice := writeNpy(npyHeaderText("<f8", "False", "(3, 4)"), data[z*96:][:96])
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.npy", 2-z)), slice, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open("stack/path=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, s, "4x3x2", grid.Float32, func(i int64) float64 { return -1 + 0.1*float64((i+12)%24) })
}

func TestStackErrors(t *testing.T) {
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
		writeSlices(t, dir, ".npy", "|u1", storedUint8, 7, fileSequence(storedUint8))
		for _, name := range []string{"s4.npy", "s6.npy"} { // the first is told
			if err := os.WriteFile(filepath.Join(dir, name), []byte(c.fourth), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			_, err := Open("stack/path=" + dir)
			checkFileError(t, c.what, err, "stack: "+dir+": "+strings.Replace(c.want, "DIR", dir, 1))
		}
	}
	writeSlices(t, base, ".npy", "|u1", storedUint8, 2, fileSequence(storedUint8))
	if err := os.WriteFile(filepath.Join(base, "s1.npy"), readFixture(t, "u2_fortran_3d.npy"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(base, "none"):  "no slices",
		filepath.Join(base, "*.png"): "no slices",
		filepath.Join(base, "[.npy"): "syntax error in pattern; want a folder",
		t.TempDir():                  "no slices",
		base:                         "in Fortran order",
		fixtureDir + "/u8_3d.nii":    "a volume of 4x3x2; want images of two axes",
	} {
		_, err := Open("stack/path=" + path)
		checkFileError(t, path, err, want)
	}
	if _, err := Canonical("stack/shape=3x2"); err == nil {
		t.Error("a stack without a path is accepted")
	}
	if _, err := Open("stack/type=uint8/shape=3x2/path=" + fixtureDir + "/u8_2d.png"); err == nil {
		t.Error("the shape of a PNG file is accepted")
	}
}

// Slices that are scaled alike are scaled, and others are refused.
func TestStackScaled(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, slope float32) {
		text := niftiOf(storedUint8, false, []byte{1, 2, 3, 4, 5, 6}, 3, 2)
		text.slope = slope
		if err := os.WriteFile(filepath.Join(dir, name), writeNifti(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("1.nii", 0.5)
	write("2.nii", 0.5)
	s, err := Open("stack/path=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, s, "3x2x2", grid.Float32, func(i int64) float64 { return float64(i%6+1) / 2 })
	write("2.nii", 0.25)
	_, err = Open("stack/path=" + dir)
	checkFileError(t, "other scale", err, "2.nii: its values are scaled by 0.25 and 0, those of the first slice by 0.5 and 0")
}

func TestStackSurveys(t *testing.T) {
	dir := t.TempDir()
	writeSlices(t, dir, ".npy", "<f4", storedFloat32, 3, linear(0, 1))
	var surveys Surveys
	look := func() int64 {
		t.Helper()
		names, err := surveys.Variants("stack/path="+dir, 3)
		if err != nil || len(names) != 3 {
			t.Fatal(names, err)
		}
		s, err := surveys.Open(names[2])
		if err != nil {
			t.Fatal(err)
		}
		return s.Ladder().Len()
	}
	if n := look(); n != 18 || len(surveys.list) != 1 {
		t.Errorf("%d levels by %d surveys, want 18 by 1", n, len(surveys.list))
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
