package ecc

import (
	"testing"

	"eccbench/internal/grid"
)

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
