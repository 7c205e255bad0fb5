package extrema_test

import (
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/ecc"
	"eccbench/internal/ecc/ecctest"
	"eccbench/internal/grid"
)

func TestConformanceOnDevice(t *testing.T) {
	ecctest.Run(t, extrema.OnDevice{Open: ecctest.Device(t)})
}

func TestSuiteCatchesFaultsPlantedInKernels(t *testing.T) {
	open := ecctest.Device(t)
	ecctest.CatchesPlanted(t, "ecc_extrema_float32", func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return extrema.OnDevice{Open: open, PTX: ptx}
	})
}

func FuzzConformanceOnDevice(f *testing.F) {
	ecctest.Fuzz(f, extrema.OnDevice{Open: ecctest.Device(f)})
}
