package unions

import (
	"testing"
)

// TestBoxes checks more images than TestChecks does.
func TestBoxes(t *testing.T) { boxesAreJoined(t, 100) }
