package duality

import (
	"testing"
)

// More groups than verify looks at.
func TestGroups(t *testing.T) { groupsAreScanned(t, 300) }
