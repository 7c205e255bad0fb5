package definition

import (
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/sound"
	"eccbench/internal/sound/grids"
	"eccbench/internal/workloads/eigenmap"
)

// Checks are of calls, and of values that rounding could swallow.
func (i Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		eigenmap.Calls(i, eigenmap.Grid),
		{Name: "values near 0", Of: smallValues},
	}
}

// Of four voxels in a row the halves of which hang together by a weight w that is as good as nothing, the
// second value is 2w/(1 + w + √(1 + w²)): to all its digits.
func smallValues(t sound.T) {
	const sigma = 0.17
	p := eigenmap.OfVoxels(grids.OfBytes(t, grid.Shape{D: 1, H: 1, W: 4}, 0, 0, 9, 9), 4, 1e-6, sigma, 0, false, true)
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
