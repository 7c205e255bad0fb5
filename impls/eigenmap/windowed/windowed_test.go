package windowed

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestPolicyConfirms(t *testing.T) {
	eigentest.Faults(t, eigenmap.OnPatches, Implementation{}, nil)
}

// Residuals alone and a search alone accept right answers, also for graphs small enough for a proof. Planted faults
// (make faults) must fail this test.
func TestSearchConfirms(t *testing.T) {
	searched := func(impls ...eigentest.Implementation) bench.Workload[*eigenmap.Problem, eigenmap.Map] {
		w := eigentest.WithLaw(eigenmap.OnPatches, "search")(impls...)
		w.Adversarial = w.Adversarial[1:] // two pairs of two patches: nothing can be missed
		return w
	}
	eigentest.Faults(t, searched, Implementation{}, nil)
}

// Groups reduce the number of products: without them these images need more than 100 each. Noise
// has similar rows of W, so there is little to group.
func TestGroupsSaveProducts(t *testing.T) {
	few := map[string]int{
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=grf/shape=304x200/type=uint8/levels=256/smooth=3/seed=1": 25,
		"eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=noise/shape=304x200/type=uint8/levels=256/seed=1":        25,
	}
	if !race.Enabled { // they use the same goroutines
		few["eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=tubes/shape=304x200/type=uint8/levels=256/seed=1"] = 30
		few["eigenmap-patch/k=4/tol=8/alpha=40/beta=2/side=4/of=grf/shape=64x48x40/type=uint8/levels=256/smooth=4/seed=1"] = 60
	}
	bitsAndProducts(t, few, 2)
}

func BenchmarkPatches(b *testing.B) {
	const of = "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of="
	eigentest.Benchmark(b, Implementation{}, eigenmap.OnPatches, of+"grf/shape=784x480/levels=256/type=uint8/smooth=3/seed=1", of+"tubes/shape=784x480/levels=256/type=uint8/seed=1")
}

func TestRefusals(t *testing.T) {
	eigentest.Refusals(t, Implementation{}, eigenmap.OnPatches, "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=noise/shape=40x32/type=uint8/seed=5",
		map[string]bench.Conditions{"pairs of patches × 300 ns": {Time: 1}, "weights, and 300 vectors of 80 numbers": {Memory: 1000}})
}
