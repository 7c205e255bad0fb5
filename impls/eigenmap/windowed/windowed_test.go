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
	p, err := eigenmap.OnPatches().Inputs.Open("eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=grf/shape=784x480/levels=256/type=uint8/smooth=3/seed=1")
	if err != nil {
		b.Fatal(err)
	}
	j, err := Implementation{}.Setup(p, bench.Conditions{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := j.Do(nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(j.(*job).steps), "steps")
	b.ReportMetric(float64(j.(*job).corrections), "corrections")
}

func TestRefusals(t *testing.T) {
	eigentest.Refusals(t, Implementation{}, eigenmap.OnPatches, "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=noise/shape=40x32/type=uint8/seed=5",
		map[string]bench.Conditions{"pairs of patches × 300 ns": {Time: 1}, "weights, and 300 vectors of 80 numbers": {Memory: 1000}})
}
