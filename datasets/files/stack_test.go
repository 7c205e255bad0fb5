package files

import (
	"os"
	"path/filepath"
	"testing"

	"eccbench/datasets/element"
	"eccbench/internal/grid"
)

// Each slice has its own slope.
func TestStackScaled(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, slope float32) {
		text := niftiOf(element.Uint8, false, []byte{1, 2, 3, 4, 5, 6}, 3, 2)
		text.slope = slope
		if err := os.WriteFile(filepath.Join(dir, name), writeNifti(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("1.nii", 0.5)
	write("2.nii", 0.5)
	for _, second := range []float64{0.5, 0.25, 1} {
		write("2.nii", float32(second))
		for _, stream := range []string{"", "/stream=true"} {
			s, err := Named.Open("stack" + stream + "/path=" + dir)
			if err != nil {
				t.Fatal(err)
			}
			checkFileImage(t, s, "3x2x2", grid.Float32, func(i int64) float64 { return float64(i%6+1) * []float64{0.5, second}[i/6] })
		}
	}
}
