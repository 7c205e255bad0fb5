package ecc_test

import (
	"slices"
	"testing"

	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// The name determines the curve of solids, and of images that are equal everywhere, but not of
// seeded, rolled or repeated images.
func TestKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"ball/shape=9x9x9/type=uint8": true, "ball/shape=9x9x9/type=uint8/roll=2": false, "torus/shape=20x20x20/type=uint8": true,
		"noise/shape=9x9x9/type=uint8/seed=1": false, "constant/shape=9x9/type=uint8/roll=1": true, "no name": false,
	} {
		if _, got := ecc.KnownCurve(name, &grid.Field{}); got != want {
			in, err := fields.Inputs{}.Open(name)
			t.Errorf("%s (%v, %v): known %v, want %v", name, in, err, got, want)
		}
	}
}

// The name of a solid determines its curve, in 2D and 3D.
func TestKnownSolids(t *testing.T) {
	for _, name := range []string{
		"drills/shape=16x15x14/type=uint8/count=9", "drills/shape=33x31/type=uint8/count=7", "cavities/shape=16x15x14/type=uint8/count=11", "cavities/shape=33x31/type=uint8/count=12",
		"shell/shape=24x24x24/type=uint8", "shell/shape=31x31/type=uint8", "dots/shape=9x8x7/type=uint8", "checkerboard/shape=6x7x8/type=uint8", "serpent/shape=15x14x9/type=uint8",
	} {
		f := image(t, name)
		if got, ok := ecc.KnownCurve(name, f); !ok || !slices.Equal(got, ecc.Enumerate(f)) {
			t.Errorf("%s: %v, want %v", name, got, ecc.Enumerate(f))
		}
	}
}
