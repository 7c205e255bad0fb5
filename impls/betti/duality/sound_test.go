package duality

import (
	"testing"

	"eccbench/internal/sound/soundtest"
)

func TestChecks(t *testing.T) { soundtest.Run(t, Implementation{}.Checks("")...) }

// TestSlabs looks at more slabs than verify does.
func TestSlabs(t *testing.T) { slabsAdd(t, Implementation{}, 100) }
