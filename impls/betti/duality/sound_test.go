package duality

import "testing"

func TestChecks(t *testing.T) {
	for _, c := range (Implementation{}).Checks("") {
		t.Run(c.Name, func(t *testing.T) { c.Of(t) })
	}
}

// TestSlabs looks at more slabs than verify does.
func TestSlabs(t *testing.T) { slabsAdd(t, Implementation{}, 100) }
