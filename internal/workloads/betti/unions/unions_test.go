package unions

import (
	"testing"
)

// More images than verify looks at.
func TestBoxes(t *testing.T) { boxesAreJoined(t, 100) }
