package element

import (
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks returns the checks of voxels in memory, of their types and ladders.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "voxels on even levels", Of: voxelsOnEvenLevels},
		{Name: "voxels that are refused", Of: voxelsRefused},
		{Name: "voxels that nobody waits for", Of: voxelsUntil},
		{Name: "guesses", Of: guesses},
		{Name: "levels of images of several chunks", Of: laddersOfChunks},
		{Name: "halves", Of: readsHalves},
		{Name: "values of every type that are scaled", Of: rescalesEveryType},
		{Name: "ranks of few and of many values", Of: ranksAscend},
		{Name: "ranks among thresholds", Of: ranksAmongThresholds},
	}
}
