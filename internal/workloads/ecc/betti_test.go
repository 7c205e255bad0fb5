package ecc_test

import (
	"slices"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// Components less holes is the Euler characteristic, which is counted from cells
// and shares nothing with union and find.
func TestBettiIsEulers(t *testing.T) {
	for _, name := range []string{
		"noise/shape=41x37/levels=16/type=uint8/seed=1", "noise/shape=64x3/levels=5/type=float32/seed=2", "noise/shape=1x33/levels=7/seed=2",
		"grf/shape=90x70/levels=64/smooth=2/seed=3", "checkerboard/shape=17x19/type=uint8", "constant/shape=5x4/type=uint8",
	} {
		s, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		components, holes, err := ecc.Betti(s)
		if err != nil {
			t.Fatal(err)
		}
		for k := range s.Ladder().Len() {
			chi, err := ecc.Characteristic(s, k)
			if err != nil {
				t.Fatal(err)
			}
			if components[k] < 0 || holes[k] < 0 || components[k]-holes[k] != chi {
				t.Fatalf("%s, level %d: %d components, %d holes, χ = %d", name, k, components[k], holes[k], chi)
			}
		}
		if last := len(components) - 1; components[last] != 1 || holes[last] != 0 {
			t.Errorf("%s: the whole image has %d components and %d holes", name, components[last], holes[last])
		}
	}
}

// Two rings that touch at a corner, one around a pixel that touches it.
func TestBettiByHand(t *testing.T) {
	picture := []string{
		"###....",
		"#.#....",
		"###....",
		"...####",
		"...#..#",
		"...#.##",
		"...###.",
	}
	var data []byte
	for _, line := range picture {
		for _, c := range line {
			data = append(data, map[rune]byte{'#': 0, '.': 1}[c])
		}
	}
	ladder, err := grid.Affine(0, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.NewField(grid.Shape{D: 1, H: 7, W: 7}, grid.Uint8, data, ladder)
	if err != nil {
		t.Fatal(err)
	}
	components, holes, err := ecc.Betti(f)
	if err != nil || !slices.Equal(components, []int64{1, 1}) || !slices.Equal(holes, []int64{2, 0}) {
		t.Errorf("%v components, %v holes, %v", components, holes, err)
	}
	cube, err := datasets.Open("noise/shape=4x4x4/levels=4")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ecc.Betti(cube); err == nil || !strings.Contains(err.Error(), "2D") {
		t.Error(err)
	}
}
