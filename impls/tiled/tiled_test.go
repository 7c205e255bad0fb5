package tiled_test

import (
	"testing"

	"eccbench/impls/tiled"
	"eccbench/internal/ecc/ecctest"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, tiled.Implementation{Open: ecctest.Device(t)})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, tiled.Implementation{Open: ecctest.Device(f)})
}
