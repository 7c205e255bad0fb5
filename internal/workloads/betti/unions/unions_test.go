package unions

import (
	"testing"
)

// More images than TestChecks looks at.
func TestBoxes(t *testing.T) { boxesAreJoined(t, 100) }
