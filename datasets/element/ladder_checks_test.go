package element

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/grid"
)

// The levels of an image of several chunks are the levels of all chunks, and all non-finite values are
// counted.
func laddersOfChunks(t *testing.T) {
	shape := grid.Shape{D: 1, H: 1, W: chunkVoxels + 17}
	values := make([]float32, shape.W)
	for i := range values {
		values[i] = float32((i*40009)%3001)/8 - 90
	}
	values[0], values[5], values[shape.W-1] = float32(math.Copysign(0, -1)), -1<<20, 1<<20
	of := func(levels int64) (grid.Ladder, error) {
		return Float32Ladder(shape, levels, func() Reader { return func(lo, hi int64) ([]float32, error) { return values[lo:hi], nil } })
	}
	l, err := of(0)
	if err != nil || l.Len() != 3003 {
		t.Fatalf("%v (%v), want 3003 levels", l, err)
	}
	for k := range l.Len() {
		if want := float32(k-1)/8 - 90; k > 0 && k < l.Len()-1 && l.Value(k) != want {
			t.Fatalf("level %d is %v, want %v", k, l.Value(k), want)
		}
	}
	if l.Value(0) != -1<<20 || l.Value(l.Len()-1) != 1<<20 {
		t.Errorf("levels from %v to %v", l.Value(0), l.Value(l.Len()-1))
	}
	if l, err := of(3); err != nil || l.Len() != 3 || l.Value(0) != -1<<20 || l.Value(1) != 0 || l.Value(2) != 1<<20 {
		t.Errorf("3 levels: %v (%v)", l, err)
	}
	// Non-finite values are reported to a survey in any order.
	bad := func(count, first int64) error {
		return fmt.Errorf("x: %w", &grid.NotFiniteError{Count: count, First: first})
	}
	for _, order := range [][]error{{bad(2, 7), bad(3, 5)}, {bad(3, 5), bad(2, 7)}, {bad(4, 5), bad(1, 6)}} {
		var s float32Survey
		if !s.fail(order[0]) || !s.fail(order[1]) || s.bad.Count != 5 || s.bad.First != 5 {
			t.Errorf("%v: %+v", order, s.bad)
		}
	}
	values[chunkVoxels+5], values[shape.W-2] = float32(math.NaN()), float32(math.Inf(1))
	var nan *grid.NotFiniteError
	if _, err := of(0); !errors.As(err, &nan) || nan.Count != 2 || nan.First != chunkVoxels+5 || nan.X != chunkVoxels+5 {
		t.Errorf("2 values from %d on: %v", chunkVoxels+5, err)
	}
	broken := errors.New("broken")
	var s float32Survey
	if s.fail(broken) || s.fail(errors.New("later")) || s.err != broken || s.next.Load() < 1<<60 {
		t.Errorf("a reading goes on after %v", s.err)
	}
	if _, err := Float32Ladder(shape, 0, func() Reader { return func(int64, int64) ([]float32, error) { return nil, broken } }); !errors.Is(err, broken) {
		t.Errorf("of what cannot be read: %v", err)
	}
	sorts(t)
	for _, c := range []struct {
		lo, hi float32
		n      int64
	}{{-1, 1e-30, 2}, {-1e30, 1e-10, 1000}, {-math.MaxFloat32, math.MaxFloat32, 3}, {0, 1e-45, 2}, {-1, 2, 7}, {0.1, 0.7, 11}, {3, 3, 5}, {3, 5, 1}} {
		l, err := RangeLadder(c.lo, c.hi, c.n)
		if n := l.Len(); err != nil || n != c.n && c.lo != c.hi || l.Value(0) != c.lo && n > 1 || l.Value(n-1) < c.hi || n > 1 && l.Value(n-2) >= c.hi {
			t.Errorf("%+v: %v (%v)", c, l, err)
		}
	}
}

// Values are sorted, and distinct ones merged, for all values and numbers of values.
func sorts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var sorter floatSorter
	for _, n := range []int{1, 2, 100, radixSize - 1, radixSize, radixSize + 1, 3 * radixSize} {
		values := make([]float32, n)
		for i := range values {
			for v := float32(math.NaN()); v != v || v-v != 0; {
				v = math.Float32frombits(rng.Uint32())
				values[i] = v + 0
			}
		}
		before := slices.Clone(values)
		want := slices.Sorted(slices.Values(values))
		if got := sorter.sort(values); !slices.Equal(got, want) || !slices.Equal(values, before) {
			t.Errorf("%d values are not sorted, or were changed", n)
		}
		runs := make([][]float32, 5)
		for i := range runs {
			runs[i] = slices.Compact(slices.Sorted(slices.Values(values[n*i/9 : n*(i+4)/9])))
		}
		if got, want := mergeAll(slices.Clone(runs)), slices.Compact(slices.Sorted(slices.Values(slices.Concat(runs...)))); !slices.Equal(got, want) {
			t.Errorf("runs of %d values are merged to %d, want %d", n, len(got), len(want))
		}
	}
	if mergeAll[int](nil) != nil {
		t.Error("no runs have values")
	}
}
