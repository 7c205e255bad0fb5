package lanczos

import (
	"testing"

	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	faulty := map[string]eigentest.Implementation{}
	for _, f := range Faults() {
		faulty[string(f)] = Faulty(f)
	}
	eigentest.Faults(t, eigenmap.BySteps, Implementation{}, faulty)
}
