package tiled_test

import (
	"testing"

	"eccbench/impls/tiled"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/source"
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

func TestKernelsOnHost(t *testing.T) {
	ecctest.RunOnHost(t, "ecc_tiled", source.Faults("ecc_tiled"), func(open resident.Opener) bench.Implementation[grid.Source, ecc.VCEC] {
		return tiled.Implementation{Open: open}
	})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, tiled.Implementation{Open: ecctest.Device(f)})
}
