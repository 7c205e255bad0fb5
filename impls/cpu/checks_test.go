package cpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover the division of images among cores, the memory of jobs, and the parts of calls.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "shares of cores", Of: sharedOut},
		{Name: "slabs", Of: slabs},
		{Name: "memory", Of: memoryIsWhatIsAllocated, Allocates: true},
		{Name: "refusals", Of: refusals},
		{Name: "parts of a call", Of: partsOfACall},
		{Name: "images that are read in slabs", Of: slabsAddUp},
		{Name: "planted faults", Of: func(t *testing.T) {
			ecctest.FaultsAreWrong(t, drawn(t, grid.Shape{D: 13, H: 5, W: 7}), bench.Setting{Threads: 1}, Faulty, Faults()...)
		}},
		{Name: "images that end", Of: endsAreTold},
	}
}

func empty(t *testing.T, shape grid.Shape, typ grid.Type, ladder grid.Ladder) *grid.Field {
	return gridtest.Image(t, shape, typ, ladder, func(int64) float64 { return 0 })
}

// streamed hides that an image is in memory.
func streamed(f *grid.Field) grid.Source { return struct{ grid.Source }{f} }

// An image is shared out among all cores that it has slices for, a flat one in chunks of rows that
// are not too short.
func sharedOut(t *testing.T) {
	for _, c := range []struct {
		shape   grid.Shape
		threads int
		want    [2]int64 // cores and chunk
	}{
		{grid.Shape{D: 9, H: 2, W: 2}, 4, [2]int64{4, 1}}, {grid.Shape{D: 33, H: 2, W: 2}, 2, [2]int64{2, 5}}, {grid.Shape{D: 2, H: 2, W: 2}, 4, [2]int64{2, 1}},
		{grid.Shape{D: 32, H: 2, W: 2}, 2, [2]int64{2, 4}}, {grid.Shape{D: 96, H: 2, W: 2}, 1, [2]int64{1, 24}}, {grid.Shape{D: 97, H: 2, W: 2}, 1, [2]int64{1, 25}},
		{grid.Shape{D: 9, H: 2, W: 2}, 0, [2]int64{1, 3}}, {grid.Shape{D: 1, H: 1000, W: 2}, 4, [2]int64{4, 64}}, {grid.Shape{D: 1, H: 100, W: 2}, 4, [2]int64{4, 25}},
		{grid.Shape{D: 1, H: 101, W: 2}, 4, [2]int64{4, 26}}, {grid.Shape{D: 1, H: 4000, W: 2}, 4, [2]int64{4, 250}}, {grid.Shape{D: 1, H: 1, W: 1}, 2, [2]int64{1, 1}},
	} {
		if p := newPlan(empty(t, c.shape, grid.Uint8, grid.Identity(grid.Uint8)), c.threads); int64(p.threads) != c.want[0] || p.chunk != c.want[1] {
			t.Errorf("%v on %d cores: %d cores, chunks of %d slices, want %v", c.shape, c.threads, p.threads, p.chunk, c.want)
		}
	}
}

// A core reads its slices and one on either side at once, unless they are too large.
func slabs(t *testing.T) {
	for _, c := range []struct {
		shape   grid.Shape
		typ     grid.Type
		threads int
		want    int64
	}{
		{grid.Shape{D: 100, H: 9, W: 9}, grid.Uint8, 1, 27}, {grid.Shape{D: 100, H: 9, W: 9}, grid.Uint8, 5, 7}, {grid.Shape{D: 100, H: 1 << 11, W: 1 << 11}, grid.Uint8, 1, 8},
		{grid.Shape{D: 100, H: 1 << 11, W: 1 << 11}, grid.Uint16, 1, 4}, {grid.Shape{D: 100, H: 1 << 10, W: 1 << 11}, grid.Float32, 1, 4}, {grid.Shape{D: 9, H: 1 << 14, W: 1 << 14}, grid.Uint8, 1, 1},
	} {
		if p := newPlan(gridtest.VastOf(c.shape, c.typ), c.threads); p.slab != c.want {
			t.Errorf("%v of %v on %d cores: slabs of %d slices, want %d", c.shape, c.typ, c.threads, p.slab, c.want)
		}
	}
	if p := newPlan(empty(t, grid.Shape{D: 9, H: 2, W: 2}, grid.Uint8, grid.Identity(grid.Uint8)), 1); p.slab != 0 {
		t.Errorf("of an image in memory, slabs of %d slices", p.slab)
	}
}

// The count does not depend on how much of an image is read at a time, or on the number of levels
// in one table.
func slabsAddUp(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 13, H: 5, W: 7}, {D: 1, H: 31, W: 9}} {
		f := drawn(t, shape)
		want := ecc.Enumerate(f)
		for slab := range int64(6) {
			for _, threads := range []int{1, 2} {
				in := grid.Source(f)
				if slab > 0 {
					in = streamed(f)
				}
				p := newPlan(in, threads)
				p.slab, p.shared = slab, slab%2 == 0
				job := newJob(in, p, "")
				if err := job.Do(nil); err != nil {
					t.Error(err)
				}
				if got, err := job.Out(); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v by %d slices on %d cores: %d steps, want %d (%v)", shape, slab, threads, len(got), len(want), err)
				}
			}
		}
	}
}

func drawn(t *testing.T, shape grid.Shape) *grid.Field {
	return gridtest.Image(t, shape, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64(255 - (i*i+3)*7919%11%3) })
}

// A failed read is an error, and so is an image in memory that ends early.
func endsAreTold(t *testing.T) {
	f := drawn(t, grid.Shape{D: 7, H: 4, W: 5})
	for reads := int64(0); ; reads++ {
		in := gridtest.BreaksAfter(f, reads, nil)
		p := newPlan(in, 1)
		p.slab = 1
		err := newJob(in, p, "").Do(nil)
		if in.Left() >= 0 && err == nil && reads > 7 {
			break
		}
		if !errors.Is(err, gridtest.ErrUnread) {
			t.Fatalf("after %d reads: %v", reads, err)
		}
	}
	ctx, end := context.WithCancel(context.Background())
	in := grid.WithContext(ctx, f)
	end()
	if err := newJob(in, newPlan(in, 1), "").Do(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an image in memory that ended: %v", err)
	}
}

// The memory in a rejection is what the job allocates: with a table of changes for each core or one
// for all, in memory and streamed, whichever axis is the longest. Allocations are rounded up.
func memoryIsWhatIsAllocated(t *testing.T) {
	for _, c := range []struct {
		shape  grid.Shape
		levels int64
	}{
		{grid.Shape{D: 3, H: 30000, W: 1}, 256}, {grid.Shape{D: 3, H: 1, W: 30000}, 256}, {grid.Shape{D: 90, H: 50, W: 40}, 256}, {grid.Shape{D: 1, H: 3000, W: 40}, 256}, {grid.Shape{D: 1, H: 3, W: 40000}, 256},
		{grid.Shape{D: 4, H: 3, W: 2}, 65000}, {grid.Shape{D: 4, H: 3, W: 2}, sharedLevels}, {grid.Shape{D: 4, H: 3, W: 2}, sharedLevels + 1},
	} {
		ladder, err := grid.Affine(0, 1, c.levels)
		if err != nil {
			t.Fatal(err)
		}
		whole := empty(t, c.shape, grid.Float32, ladder)
		for _, in := range []grid.Source{whole, streamed(whole)} {
			for _, threads := range []int{1, 3} {
				if threads > 1 && c.levels >= sharedLevels {
					continue // which takes long
				}
				given := bench.Conditions{Setting: bench.Setting{Threads: threads}}
				p := newPlan(in, threads)
				if p.shared != (c.levels > sharedLevels) {
					t.Errorf("%d levels: one table for all cores is %v", c.levels, p.shared)
				}
				want := p.memory()
				got := int64(checktest.Allocated(func() {
					if _, err := (Implementation{}).Setup(in, given); err != nil {
						t.Fatal(err)
					}
				}))
				if apart, spare := got-want, want/100+int64(threads)<<15; apart > spare || apart < -spare {
					t.Errorf("%v on %d levels, in memory %v, %d cores: %d bytes allocated, %d expected", c.shape, c.levels, in == grid.Source(whole), threads, got, want)
				}
			}
		}
	}
}

// A job that needs more time or memory than allowed is rejected, and no other.
func refusals(t *testing.T) {
	shape := grid.Shape{D: 20, H: 30, W: 40}
	f := empty(t, shape, grid.Uint8, grid.Identity(grid.Uint8))
	for threads, cores := range map[int]int64{0: 1, 1: 1, 4: 4} {
		given := bench.Conditions{Setting: bench.Setting{Threads: threads}}
		if got, want := checktest.Least(func(n int64) bool {
			c := given
			c.Time = time.Duration(n)
			return Implementation{}.CanDo(f, c) == nil
		}), shape.Voxels()*nsPerVoxel/cores; got < want-1 || got > want+1 {
			t.Errorf("on %d cores %v is enough, want %v", threads, time.Duration(got), time.Duration(want))
		}
		if got, want := checktest.Least(func(n int64) bool {
			c := given
			c.Memory = n
			return Implementation{}.CanDo(f, c) == nil
		}), newPlan(f, threads).memory(); got != want {
			t.Errorf("on %d cores %d bytes are enough, want %d", threads, got, want)
		}
	}
	for _, c := range []struct {
		in    grid.Source
		given bench.Conditions
		want  string
	}{
		{f, bench.Conditions{Setting: bench.Setting{Threads: 1}, Memory: 1}, "(1 cores × 3 slices of 1200 voxels, 256 levels), the limit is 1 B"},
		{streamed(f), bench.Conditions{Setting: bench.Setting{Threads: 4}, Memory: 1}, "(4 cores × 7 slices of 1200 voxels, 256 levels), the limit is 1 B"},
		{f, bench.Conditions{Setting: bench.Setting{Threads: 4}, Time: 1}, "estimated 150 µs per answer (24000 voxels × 25 ns on 4 cores); the limit is 1.00 ns"},
	} {
		if err := (Implementation{}).CanDo(c.in, c.given); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if (Implementation{}).CanDo(empty(t, shape, grid.Float32, grid.Identity(grid.Float32)), bench.Conditions{}) == nil {
		t.Error("levels that no table can have are not refused")
	}
}

// A call names its parts.
func partsOfACall(t *testing.T) {
	f := empty(t, grid.Shape{D: 7, H: 6, W: 5}, grid.Uint8, grid.Identity(grid.Uint8))
	ecctest.CallHasParts(t, Implementation{}, f, "convert", "count", "reduce")
	ecctest.CallHasParts(t, Implementation{}, streamed(f), "convert", "count", "read", "reduce")
}
