package runs

import (
	"errors"
	"math/rand/v2"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/workloads/assess"
)

// The estimated memory of a comparison is close to its allocations, and a larger one is rejected.
func TestNeed(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates, too")
	}
	rng, pairs := rand.New(rand.NewPCG(3, 4)), map[string]*assess.Pair{}
	for name, filled := range map[string]float64{"few voxels": 0.02, "half": 0.5, "most": 0.98} {
		p := random(t, rng, grid.Shape{D: 20, H: 30, W: 500}, 1, filled)
		p.Sets = p.Sets[len(p.Sets)-1:]
		pairs[name] = p
	}
	s := grid.Shape{D: 20, H: 3000, W: 70}
	pairs["one voxel"] = pairOfVoxels(t, s, map[[3]int64]uint8{{1, 1500, 3}: 1})
	apart := map[[3]int64]uint8{{1, 0, 3}: 1, {1, 2999, 60}: 1, {1, 8, 8}: 2}
	small := map[[3]int64]uint8{{1, 2999, 8}: 2}
	for i := range int64(4000) {
		small[[3]int64{i % 20, i / 20, i % 7 * 9}] = 1
	}
	for name, voxels := range map[string]map[[3]int64]uint8{"far apart": apart, "small place": small} {
		pairs[name] = pairOfVoxels(t, s, voxels)
		pairs[name].Sets = pairs[name].Sets[:2]
	}
	for name, p := range pairs {
		c := bench.Conditions{Setting: bench.Setting{Threads: 1}}
		takes := int64(checktest.Allocated(func() { answer(t, Implementation{}, p) }))
		most := need(p, 1)
		if most < takes/2 || most > 4*takes {
			t.Errorf("%s: said to take %d bytes, and allocates %d", name, most, takes)
		}
		for memory, want := range map[int64]bool{0: true, most: true, most - 1: false} {
			c.Memory = memory
			err := Implementation{}.CanDo(p, c)
			if (err == nil) != want || err != nil && !errors.As(err, new(bench.TooMuch)) {
				t.Errorf("%s: of %d bytes in %d: %v", name, most, memory, err)
			}
		}
	}
}

// pairOfVoxels makes a pair of equal images with some labelled voxels, by z, y and x.
func pairOfVoxels(t *testing.T, s grid.Shape, labels map[[3]int64]uint8) *assess.Pair {
	data := grid.NewBuffer(s.Voxels())
	for at, label := range labels {
		data[(at[0]*s.H+at[1])*s.W+at[2]] = label
	}
	f, err := grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	p, err := assess.NewPair(f, f, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
