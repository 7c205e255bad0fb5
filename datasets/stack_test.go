package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"eccbench/internal/grid"
)

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
