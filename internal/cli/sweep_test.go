package cli

import (
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

func TestParseSizes(t *testing.T) {
	cube := func(n int64) grid.Shape { return grid.Shape{D: n, H: n, W: n} }
	for text, want := range map[string][]grid.Shape{
		"8": {cube(8)}, "8..32": {cube(8), cube(16), cube(32)}, "8..31": {cube(8), cube(16)}, "2..18*3": {cube(2), cube(6), cube(18)},
		"5..9+2": {cube(5), cube(7), cube(9)}, "3x4x5, 6": {{D: 5, H: 4, W: 3}, cube(6)},
	} {
		if got, err := parseSizes(text, 0); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := parseSizes("8,3x4", 2); err != nil || !slices.Equal(got, []grid.Shape{{D: 1, H: 8, W: 8}, {D: 1, H: 4, W: 3}}) {
		t.Errorf("in 2D: %v, %v", got, err)
	}
}

// Any text of sizes gives shapes that a generator accepts, or an error of one line.
func FuzzParseSizes(f *testing.F) {
	for _, s := range []string{"8", "8..32", "8..32*4", "8..32+8", "3x4x5", "3x4,8..16", "..", "8..", "1..1048576+1", "1..1048576", "8..9*9223372036854775807"} {
		f.Add(s, 0)
	}
	f.Fuzz(func(t *testing.T, text string, dim int) {
		if strings.Contains(text, "+") || len(text) > 40 {
			return // many small steps are many shapes
		}
		shapes, err := parseSizes(text, dim&3)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(text, "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		for _, s := range shapes {
			if s.Check() != nil {
				t.Errorf("%q: %v: %v", text, s, s.Check())
			}
		}
	})
}
