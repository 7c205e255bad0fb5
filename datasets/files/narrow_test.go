package files

import (
	"fmt"
	"slices"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// Values are ranked, not rounded, if scaling would merge them in float32.
func TestScaledWithoutMerging(t *testing.T) {
	text := niftiOf(element.Uint8, false, []byte{1, 2, 3, 200, 201, 1}, 3, 2)
	text.slope, text.inter = 1, 1e9
	s, err := openFileBytes("image.nii", writeNifti(text), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	labels := grid.LabelsOf(s)
	if labels == nil {
		t.Fatal("values were merged")
	}
	var got []string
	for _, v := range s.(*grid.Field).Floats() {
		got = append(got, fmt.Sprintf("%.0f", labels.Float64(v)))
	}
	if want := []string{"1000000001", "1000000002", "1000000003", "1000000200", "1000000201", "1000000001"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestRankedInParts has more values than one sort.
func TestRankedInParts(t *testing.T) { ranked(t, severalChunks+30_000) }
