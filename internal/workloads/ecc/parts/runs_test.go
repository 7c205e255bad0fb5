package parts

import (
	"testing"

	"eccbench/internal/race"
)

// Many runs are merged to longer ones, and these again.
func TestManyRuns(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("minutes of the race detector, or more than a short test")
	}
	runsAddUp(t, 2*mostRuns+3+mostRuns*mostRuns)
}
