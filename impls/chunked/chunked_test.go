package chunked_test

import (
	"testing"

	"eccbench/impls/chunked"
	"eccbench/internal/ecc/ecctest"
)

func TestConformance(t *testing.T) {
	ecctest.Run(t, chunked.Implementation{Open: ecctest.Device(t)})
}

func FuzzConformance(f *testing.F) {
	ecctest.Fuzz(f, chunked.Implementation{Open: ecctest.Device(f)})
}
