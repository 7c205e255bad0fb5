package windowed

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	faulty := map[string]eigentest.Implementation{}
	for _, f := range Faults() {
		faulty[string(f)] = Faulty(f)
	}
	eigentest.Faults(t, eigenmap.OnPatches, Implementation{}, faulty)
}

func BenchmarkPatches(b *testing.B) {
	const of = "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of="
	eigentest.Benchmark(b, Implementation{}, eigenmap.OnPatches, of+"grf/shape=784x480/levels=256/type=uint8/smooth=3/seed=1", of+"tubes/shape=784x480/levels=256/type=uint8/seed=1")
}

func TestRefusals(t *testing.T) {
	eigentest.Refusals(t, Implementation{}, eigenmap.OnPatches, "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=noise/shape=40x32/type=uint8/seed=5",
		map[string]bench.Conditions{"pairs of patches × 300 ns": {Time: 1}, "weights, and 300 vectors of 80 numbers": {Memory: 1000}})
}
