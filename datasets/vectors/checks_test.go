package vectors

import (
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks returns the checks of vector functions.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "least and greatest values", Of: extremesOfValues},
	}
}
