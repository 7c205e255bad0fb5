package chunked_test

import (
	"testing"

	"eccbench/impls/chunked"
	"eccbench/internal/bench"
	"eccbench/internal/ecc"
	"eccbench/internal/ecc/ecctest"
	"eccbench/internal/grid"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, chunked.Implementation{Open: ecctest.Device(t)})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, chunked.Implementation{Open: ecctest.Device(f)})
}

func TestSuiteCatchesPlantedFaults(t *testing.T) {
	open := ecctest.Device(t)
	ecctest.CatchesPlanted(t, "ecc_chunked", func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return chunked.Implementation{Open: open, PTX: ptx}
	})
}
