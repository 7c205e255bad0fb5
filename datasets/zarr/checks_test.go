package zarr

import (
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks returns the checks of the parts of Zarr arrays.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "fill values", Of: fillValues},
		{Name: "blocks of Blosc", Of: blocksOfBlosc},
	}
}
