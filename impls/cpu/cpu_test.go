package cpu_test

import (
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/ecc/ecctest"
)

func TestConformance(t *testing.T) { ecctest.Run(t, cpu.Implementation{}) }

func FuzzConformance(f *testing.F) { ecctest.Fuzz(f, cpu.Implementation{}) }

// A suite that does not catch the faults that are known is no suite.
func TestSuiteCatchesPlantedFaults(t *testing.T) {
	for _, fault := range cpu.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			failing := ecctest.Failures(t, cpu.Faulty(fault))
			if len(failing) == 0 {
				t.Fatal("no case of the suite fails")
			}
			t.Logf("%d cases fail, such as %s", len(failing), failing[0])
		})
	}
}
