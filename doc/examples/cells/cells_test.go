package cells_test

import (
	"testing"

	"eccbench/doc/examples/cells"
	"eccbench/internal/workloads/ecc/ecctest"
)

func TestConformance(t *testing.T) { ecctest.Run(t, cells.Implementation{}) }

func FuzzConformance(f *testing.F) { ecctest.Fuzz(f, cells.Implementation{}) }
