package ecc_test

import (
	"testing"

	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// What follows from a name is said of solids, not of seeded, rolled or repeated images, but of those
// that are the same wherever one looks.
func TestKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"ball/shape=9x9x9/type=uint8": true, "ball/shape=9x9x9/type=uint8/roll=2": false, "torus/shape=20x20x20/type=uint8": true,
		"noise/shape=9x9x9/type=uint8/seed=1": false, "constant/shape=9x9/type=uint8/roll=1": true, "no name": false,
	} {
		if _, got := ecc.Known(name, &grid.Field{}); got != want {
			in, err := fields.Inputs{}.Open(name)
			t.Errorf("%s (%v, %v): known %v, want %v", name, in, err, got, want)
		}
	}
}
