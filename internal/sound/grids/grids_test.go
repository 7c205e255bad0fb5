package grids

import (
	"testing"

	"eccbench/internal/sound/soundtest"
)

func TestChecks(t *testing.T) { soundtest.Run(t, Checks()...) }

// TestLevelsOfLongTables looks at longer tables than verify does.
func TestLevelsOfLongTables(t *testing.T) { levelsOfTables(t, 200_000, 300_000) }

func TestRelabelOfMany(t *testing.T) { relabelOfMany(t) }
