package grids

import "testing"

func TestChecks(t *testing.T) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) { c.Of(t) })
	}
}

// TestLevelsOfLongTables looks at longer tables than verify does.
func TestLevelsOfLongTables(t *testing.T) { levelsOfTables(t, 200_000, 300_000) }

func TestRelabelOfMany(t *testing.T) { relabelOfMany(t) }
