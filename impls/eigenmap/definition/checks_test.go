package definition

import (
	"math"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test calls, and values that rounding could hide.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		eigentest.Calls(i, eigenmap.Grid),
		eigentest.Answers(i, nil,
			"eigenmap/k=3/tol=9/sigma=300/floor=1000/corners=1/plain=1/of=noise/shape=4x3/type=uint8/seed=1",
			"eigenmap/k=25/tol=9/sigma=300/floor=1000/corners=0/plain=0/of=constant/shape=5x5/type=uint8", // equal values
			"eigenmap-patch/k=12/tol=9/alpha=100/beta=2/side=1/of=noise/shape=4x3/type=uint8/seed=1"),
		// 132 nodes: their cube, and three matrices.
		eigentest.CheckEstimates(i, map[string]eigentest.Estimate{
			"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=12x11/type=uint8/seed=1": {NS: 132 * 132 * 132 * 12, Bytes: 3 * 8 * 132 * 132, OneCore: true},
			"eigenmap-patch/k=2/tol=6/alpha=40/beta=5/side=2/of=noise/shape=24x22/type=uint8/seed=1":           {NS: 132 * 132 * 132 * 12, Bytes: 3 * 8 * 132 * 132, OneCore: true},
		}),
		{Name: "the largest graph", Of: func(t *testing.T) {
			for n, want := range map[int64]bool{1 << 15: true, 1<<15 + 1: false} {
				p := eigenmap.OfVoxels(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: n}, make([]byte, n)...), 2, 1e-6, 1, 0, false, false)
				if err := i.CanDo(p, bench.Conditions{}); (err == nil) != want {
					t.Errorf("%d nodes: %v", n, err)
				}
			}
		}},
		{Name: "values near 0", Of: smallValues},
	}
}

// Four voxels in a row have halves connected by a negligible weight w. The second value is 2w/(1 +
// w + √(1 + w²)) to all digits.
func smallValues(t *testing.T) {
	const sigma = 0.17
	p := eigenmap.OfVoxels(gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 4}, 0, 0, 9, 9), 4, 1e-6, sigma, 0, false, true)
	m, err := bench.Answer[*eigenmap.Problem, eigenmap.Map](Implementation{}, p, bench.Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	w := math.Exp(-1 / (sigma * sigma))
	for k, want := range []float64{0, 2 * w / (1 + w + math.Sqrt(1+w*w)), 2, 1 + w + math.Sqrt(1+w*w)} {
		if e := math.Abs(m.Values[k] - want); e > 1e-9*want+1e-30 {
			t.Errorf("value %d is %v, want %v", k+1, m.Values[k], want)
		}
	}
}
