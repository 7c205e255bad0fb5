package reductions

import (
	"slices"
	"testing"

	"eccbench/internal/sound/soundtest"
)

func TestChecks(t *testing.T) {
	soundtest.Run(t, slices.Concat(Implementation{}.Checks(""), Partitions{}.Checks(""), Race{}.Checks(""))...)
}
