package simplicial

import (
	"testing"

	"eccbench/internal/sound/soundtest"
)

func TestChecks(t *testing.T) { soundtest.Run(t, Checks()...) }
