package runs

import (
	"errors"
	"math/rand/v2"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/race"
)

// The estimated memory of a comparison is close to its allocations, and a larger one is rejected.
func TestNeed(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates, too")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, filled := range []float64{0.02, 0.5, 0.98} {
		p := random(t, rng, grid.Shape{D: 20, H: 30, W: 500}, 1, filled)
		p.Sets = p.Sets[len(p.Sets)-1:]
		c := bench.Conditions{Setting: bench.Setting{Threads: 1}}
		takes := int64(checktest.Allocated(func() { answer(t, Implementation{}, p) }))
		most := need(p, 1)
		if most < takes/2 || most > 4*takes {
			t.Errorf("filled %v: said to take %d bytes, and allocates %d", filled, most, takes)
		}
		for memory, want := range map[int64]bool{0: true, most: true, most - 1: false} {
			c.Memory = memory
			err := Implementation{}.CanDo(p, c)
			if (err == nil) != want || err != nil && !errors.As(err, new(bench.TooMuch)) {
				t.Errorf("filled %v: of %d bytes in %d: %v", filled, most, memory, err)
			}
		}
	}
}
