package arrays

import (
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/headers"
)

// TestNiftiUnits reads the same header in three units.
func TestNiftiUnits(t *testing.T) {
	want := format.Geometry{Affine: [3][4]float64{{2, 0, 0, 10}, {0, 4, 0, -20}, {0, 0, 8, 30}}}
	header, err := headers.Nifti{Kind: "u1", Shape: []int64{2, 2, 2}, Place: &headers.Place{Affine: want.Affine}}.Header()
	if err != nil {
		t.Fatal(err)
	}
	for unit, millimetres := range map[byte]float64{0: 1, 1: 1e3, 2: 1, 3: 1e-3} {
		header[123] = unit
		g := niftiGeometry(header)
		if g == nil || g.Affine[2] != [4]float64{0, 0, 8 * millimetres, 30 * millimetres} {
			t.Errorf("unit %d: got %+v", unit, g)
		}
	}
}
