package tiled_test

import (
	"testing"

	"eccbench/impls/tiled"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, tiled.Implementation{Open: ecctest.Device(t)})
}

func TestSuiteCatchesPlantedFaults(t *testing.T) {
	open := ecctest.Device(t)
	ecctest.CatchesPlanted(t, "ecc_tiled", func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return tiled.Implementation{Open: open, PTX: ptx}
	})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, tiled.Implementation{Open: ecctest.Device(f)})
}
