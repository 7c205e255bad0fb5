package lanczos

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestPolicyConfirms(t *testing.T) {
	eigentest.Faults(t, eigenmap.BySteps, Implementation{}, nil)
}

// The recurrence of the steps alone accepts right answers. Planted faults (make faults) must fail this test.
func TestRecurrenceConfirms(t *testing.T) {
	eigentest.Faults(t, eigentest.WithLaw(eigenmap.BySteps, "recurrence"), Implementation{}, nil)
}

func BenchmarkSteps(b *testing.B) {
	eigentest.Benchmark(b, Implementation{}, eigenmap.BySteps, "eigenmap-lanczos/steps=250/alpha=40/beta=5/side=4/start=1/of=tubes/shape=784x480/levels=256/type=uint8/seed=1")
}

func TestRefusals(t *testing.T) {
	eigentest.Refusals(t, Implementation{}, eigenmap.BySteps, "eigenmap-lanczos/steps=12/alpha=40/beta=5/side=4/start=1/of=noise/shape=40x32/type=uint8/seed=5",
		map[string]bench.Conditions{"80² patches": {Time: 1}, "a matrix of 80 × 80 numbers, and 12 vectors": {Memory: 1000}})
}
