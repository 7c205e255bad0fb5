package element

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"eccbench/internal/grid"
)

func TestLadderReadError(t *testing.T) {
	want := errors.New("the disk is on fire")
	_, err := Float32Ladder(grid.Shape{D: 1, H: 5, W: chunkVoxels}, 0, func() Reader {
		return func(lo, hi int64) ([]float32, error) { return nil, want }
	})
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want %v", err, want)
	}
}

func TestLadderSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Around the length at which the sorter changes to radix.
		n := rapid.SampledFrom([]int{1, 2, 100, radixSize - 1, radixSize, 3 * radixSize}).Draw(t, "n")
		kinds := rapid.SliceOfN(rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32), 1, 50).Draw(t, "values")
		seed := rapid.Uint32().Draw(t, "seed")
		values := make([]float32, n)
		for i := range values {
			seed = seed*1664525 + 1013904223
			values[i] = kinds[int(seed>>8)%len(kinds)] * float32(1+seed>>30)
			if math.IsInf(float64(values[i]), 0) || values[i] == 0 {
				values[i] = 0
			}
		}
		before := slices.Clone(values)
		var s floatSorter
		s.sort([]float32{1, 2, 3}) // the buffers are reused
		got := s.sort(values)
		want := slices.Sorted(slices.Values(values))
		if !slices.Equal(got, want) {
			t.Fatalf("%d values are not sorted", n)
		}
		if !slices.Equal(values, before) {
			t.Fatal("the sorter changed its input")
		}
	})
}

func TestLadderMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := rapid.Custom(func(t *rapid.T) []float32 {
			v := rapid.SliceOf(rapid.Float32Range(-3, 3)).Draw(t, "run")
			slices.Sort(v)
			return slices.Compact(v)
		})
		runs := rapid.SliceOfN(run, 1, 9).Draw(t, "runs")
		want := slices.Concat(runs...)
		slices.Sort(want)
		want = slices.Compact(want)
		if got := mergeAll(slices.Clone(runs)); !slices.Equal(got, want) {
			t.Fatalf("merged to %v, want %v", got, want)
		}
	})
}

func TestLadderRange(t *testing.T) {
	check := func(t rapid.TB, lo, hi float32, n int64) {
		l, err := RangeLadder(lo, hi, n)
		if err != nil {
			return // two levels are one float32
		}
		if l.Len() != n || l.Value(0) != lo || !(l.Value(n-1) >= hi) || n > 1 && !(l.Value(n-2) < hi) {
			t.Fatalf("%d levels of %v..%v run from %v to %v, the last but one is %v", n, lo, hi, l.Value(0), l.Value(n-1), l.Value(max(0, n-2)))
		}
	}
	check(t, -1, 1e-30, 2)
	check(t, -1e30, 1e-10, 1000)
	check(t, -math.MaxFloat32, math.MaxFloat32, 3)
	check(t, 0, 1e-45, 2)
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32)
		a, b := v.Draw(t, "a"), v.Draw(t, "b")
		if a != b {
			check(t, min(a, b), max(a, b), rapid.Int64Range(2, 3000).Draw(t, "n"))
		}
	})
}

func BenchmarkLadderTable(b *testing.B) {
	values := make([]float32, 1<<24)
	x := uint32(1)
	for i := range values {
		x = x*1664525 + 1013904223
		values[i] = float32(int32(x))
	}
	b.SetBytes(int64(4 * len(values)))
	for b.Loop() {
		_, err := Float32Ladder(grid.Shape{D: 1, H: 1 << 12, W: 1 << 12}, 0, func() Reader {
			return func(lo, hi int64) ([]float32, error) { return values[lo:hi], nil }
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
