package fullsweep_test

import (
	"testing"

	"eccbench/impls/fullsweep"
	"eccbench/internal/ecc/ecctest"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, fullsweep.Implementation{Open: ecctest.Device(t)})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, fullsweep.Implementation{Open: ecctest.Device(f)})
}
