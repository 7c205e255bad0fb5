package ecc

import (
	"slices"
	"testing"

	"eccbench/internal/grid"
)

// What is inverted has the voxels of the plane that were not in it, and none beyond its rows.
func TestInvertedPlanes(t *testing.T) {
	for _, w := range []int64{1, 63, 64, 65, 128, 130} {
		const h = 3
		plane, other := make([]byte, h*w), make([]byte, h*w)
		for i := range plane {
			plane[i] = byte(i * i >> 1 & 1)
			other[i] = 1 - plane[i]
		}
		got, want := NewPlaneSet(h, w), NewPlaneSet(h, w)
		got.Fill(grid.Uint8, plane, 0)
		want.Fill(grid.Uint8, other, 0)
		got.Invert()
		for y := int64(-1); y <= h; y++ {
			if !slices.Equal(got.Row(y), want.Row(y)) {
				t.Errorf("%d voxels, row %d: %x, want %x", w, y, got.Row(y), want.Row(y))
			}
		}
	}
}

// What differs is told with the value of its level, from the lowest to the highest.
func TestLevelsOfDifferences(t *testing.T) {
	l, err := grid.Affine(5, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.NewField(grid.Shape{D: 1, H: 1, W: 1}, grid.Float32, grid.NewBuffer(4), l)
	if err != nil {
		t.Fatal(err)
	}
	for level, want := range map[int64]string{-1: "level -1", 0: "level 0 (value 5)", 2: "level 2 (value 9)", 3: "level 3"} {
		if d := atLevel(f, level, "%d", 1, 2); d.Where != want || d.Want != "1" || d.Got != "2" {
			t.Errorf("%+v, want %q", d, want)
		}
	}
}
