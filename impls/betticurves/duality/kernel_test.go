package duality

import (
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/sound/soundtest"
)

// More groups than verify looks at.
func TestGroups(t *testing.T) { groupsAreScanned(t, 300) }

func TestChecks(t *testing.T) {
	soundtest.Run(t, Implementation{Counter: extrema.Implementation{}}.Checks("")...)
}
