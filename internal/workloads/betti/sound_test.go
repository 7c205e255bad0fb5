package betti

import (
	"slices"
	"testing"

	"eccbench/internal/sound/soundtest"
)

func TestChecks(t *testing.T) { soundtest.Run(t, slices.Concat(Checks(), CurvesChecks())...) }
