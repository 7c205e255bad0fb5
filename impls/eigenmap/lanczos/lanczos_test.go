package lanczos

import (
	"testing"

	"eccbench/internal/bench"

	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func faults() map[string]eigentest.Implementation {
	faulty := map[string]eigentest.Implementation{}
	for _, f := range Faults() {
		faulty[string(f)] = Faulty(f)
	}
	return faulty
}

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	eigentest.Faults(t, eigenmap.BySteps, Implementation{}, faults())
}

// The recurrence of the steps alone detects each fault, and accepts right answers.
func TestOneLawCatchesPlantedFaults(t *testing.T) {
	eigentest.Faults(t, eigentest.WithLaw(eigenmap.BySteps, "recurrence"), Implementation{}, faults())
}

func BenchmarkSteps(b *testing.B) {
	eigentest.Benchmark(b, Implementation{}, eigenmap.BySteps, "eigenmap-lanczos/steps=250/alpha=40/beta=5/side=4/start=1/of=tubes/shape=784x480/levels=256/type=uint8/seed=1")
}

func TestRefusals(t *testing.T) {
	eigentest.Refusals(t, Implementation{}, eigenmap.BySteps, "eigenmap-lanczos/steps=12/alpha=40/beta=5/side=4/start=1/of=noise/shape=40x32/type=uint8/seed=5",
		map[string]bench.Conditions{"80² patches": {Time: 1}, "a matrix of 80 × 80 numbers, and 12 vectors": {Memory: 1000}})
}
