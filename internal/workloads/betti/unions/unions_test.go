package unions

import (
	"testing"

	"eccbench/internal/sound/soundtest"
)

// More images than verify looks at.
func TestBoxes(t *testing.T) { boxesAreJoined(t, 100) }

func TestChecks(t *testing.T) { soundtest.Run(t, Checks()...) }
