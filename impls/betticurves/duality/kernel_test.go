package duality

import (
	"testing"

	"eccbench/impls/extrema"
)

// More groups than verify looks at.
func TestGroups(t *testing.T) { groupsAreScanned(t, 300) }

func TestChecks(t *testing.T) {
	for _, c := range (Implementation{Counter: extrema.Implementation{}}).Checks("") {
		t.Run(c.Name, func(t *testing.T) { c.Of(t) })
	}
}
