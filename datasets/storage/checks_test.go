package storage

import (
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks returns the checks of files.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "parts of files", Of: readsPartsOfFiles},
	}
}
