package duality

import (
	"testing"
)

func TestGroups(t *testing.T) { groupsAreScanned(t, 300) }
