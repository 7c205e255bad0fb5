package fullsweep_test

import (
	"testing"

	"eccbench/impls/fullsweep"
	"eccbench/internal/bench"
	"eccbench/internal/ecc"
	"eccbench/internal/ecc/ecctest"
	"eccbench/internal/grid"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, fullsweep.Implementation{Open: ecctest.Device(t)})
}

func TestSuiteCatchesPlantedFaults(t *testing.T) {
	open := ecctest.Device(t)
	ecctest.CatchesPlanted(t, "ecc_fullsweep", func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return fullsweep.Implementation{Open: open, PTX: ptx}
	})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, fullsweep.Implementation{Open: ecctest.Device(f)})
}
