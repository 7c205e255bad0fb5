package unions

import "testing"

// More images than verify looks at.
func TestBoxes(t *testing.T) { boxesAreJoined(t, 100) }

func TestChecks(t *testing.T) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) { c.Of(t) })
	}
}
