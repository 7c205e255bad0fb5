package grid

import (
	"testing"
)

// A loop over axes can stop early.
func TestAxesStop(t *testing.T) {
	for most := 1; most <= 3; most++ {
		seen := 0
		for range (Axes{true, true, true}).Each() {
			if seen++; seen == most {
				break
			}
		}
		if seen != most {
			t.Errorf("%d axes, want %d", seen, most)
		}
	}
}
