package lanczos

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test calls, answers, and the end of steps.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		eigentest.Calls(i, eigenmap.Lanczos, "lanczos", "laplacian", "pairweight", "patches", "vectors"),
		eigentest.Answers(i, nil,
			"eigenmap-lanczos/steps=8/alpha=40/beta=5/side=4/start=1/of=noise/shape=24x24/type=uint8/seed=5",
			"eigenmap-lanczos/steps=20/alpha=60/beta=2/side=2/start=3/of=noise/shape=6x5x9/type=int16/levels=1000/seed=1",
			"eigenmap-lanczos/steps=12/alpha=100/beta=2/side=1/start=2/of=noise/shape=12x1/type=uint8/seed=2",
			"eigenmap-lanczos/steps=5/alpha=1/beta=5/side=1/start=2/of=ramp/shape=12x1/type=float32",
			// A product leaves little more than the first two vectors.
			"eigenmap-lanczos/steps=3/alpha=40/beta=10000/side=1/start=1/of=constant/shape=3x3/type=uint8"),
		// 80 patches of 1,280 voxels: 20 ns per pair, and 1 per step.
		eigentest.CheckEstimates(i, map[string]eigentest.Estimate{
			"eigenmap-lanczos/steps=12/alpha=40/beta=5/side=4/start=1/of=noise/shape=40x32/type=uint8/seed=5": {NS: 80 * 80 * (20 + 12), Bytes: 8*80*(80+12) + 24*1280},
		}),
		{Name: "steps that end", Of: stepsEnd},
	}
}

// Patches that are all equally near have two values of L, so steps end after two.
func stepsEnd(t *testing.T) {
	flat := gridtest.OfBytes(t, grid.Shape{D: 1, H: 3, W: 3}, make([]byte, 9)...)
	for steps := 2; steps <= 9; steps++ {
		_, err := bench.Answer[*eigenmap.Problem, eigenmap.Map](Implementation{}, eigenmap.OfSteps(flat, 2, steps, 1, 40, 1e9, 1), bench.Conditions{})
		if (err == nil) != (steps == 2) || err != nil && !strings.Contains(err.Error(), "after 2 steps") {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
}
