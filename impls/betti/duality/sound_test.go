package duality

import (
	"testing"
)

// TestSlabs looks at more slabs than verify does.
func TestSlabs(t *testing.T) { slabsAdd(t, Implementation{}, 100) }
