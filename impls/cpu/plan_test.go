package cpu

import (
	"maps"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/ecctest"
)

// An image is shared out among all cores that it has slices for, a flat one in chunks of rows that
// are not too short.
func TestPlans(t *testing.T) {
	for _, c := range []struct {
		shape   grid.Shape
		threads int
		want    [2]int64 // cores and chunk
	}{
		{grid.Shape{D: 9, H: 2, W: 2}, 4, [2]int64{4, 1}}, {grid.Shape{D: 33, H: 2, W: 2}, 2, [2]int64{2, 5}}, {grid.Shape{D: 2, H: 2, W: 2}, 4, [2]int64{2, 1}},
		{grid.Shape{D: 9, H: 2, W: 2}, 0, [2]int64{1, 3}}, {grid.Shape{D: 1, H: 1000, W: 2}, 4, [2]int64{4, 64}}, {grid.Shape{D: 1, H: 100, W: 2}, 4, [2]int64{4, 25}},
		{grid.Shape{D: 1, H: 101, W: 2}, 4, [2]int64{4, 26}}, {grid.Shape{D: 1, H: 4000, W: 2}, 4, [2]int64{4, 250}},
	} {
		f := ecctest.Image(t, c.shape, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return 0 })
		if p := newPlan(f, c.threads); (int64(p.threads) != c.want[0]) || p.chunk != c.want[1] {
			t.Errorf("%v on %d cores: %d cores, chunks of %d slices, want %v", c.shape, c.threads, p.threads, p.chunk, c.want)
		}
	}
}

// A call names its parts.
func TestPartsOfACall(t *testing.T) {
	streamed, whole := ecctest.Open(t, "noise/shape=5x6x7/type=uint8/seed=1")
	for _, c := range []struct {
		in   grid.Source
		want []string
	}{{whole, []string{"convert", "count", "reduce"}}, {streamed, []string{"convert", "count", "read", "reduce"}}} {
		job, err := Implementation{}.Setup(c.in, bench.Conditions{Setting: bench.Setting{Threads: 2}})
		if err != nil {
			t.Fatal(err)
		}
		var trace bench.Trace
		if err := job.Do(&trace); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(trace.Spans())); !slices.Equal(got, c.want) {
			t.Errorf("parts %q, want %q", got, c.want)
		}
	}
}
