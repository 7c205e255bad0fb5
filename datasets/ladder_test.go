package datasets

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"eccbench/internal/grid"
)

// openFloats writes values to a raw file and opens it, whole or streamed.
func openFloats(t *testing.T, values []float32, o FileOptions) (grid.Source, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Shape, o.Type = grid.Shape{D: 1, H: 1, W: int64(len(values))}, grid.Float32
	s, err := OpenFile(path, o)
	if stream, ok := s.(*fileStream); ok {
		t.Cleanup(func() { stream.Close() })
	}
	return s, err
}

func TestLadderTable(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for _, stream := range []bool{false, true} {
		s, err := openFloats(t, []float32{3, -2, negative, 0, 3, 1e-45, math.MaxFloat32, -math.MaxFloat32}, FileOptions{Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		want := []float32{-math.MaxFloat32, -2, 0, 1e-45, 3, math.MaxFloat32}
		checkLevels(t, s.Ladder(), want)
	}
}

// severalChunks is more values than are sorted at once.
const severalChunks = 1 << 19

// TestLadderChunks has several chunks, so that runs are merged and counts of NaN are summed.
func TestLadderChunks(t *testing.T) {
	n := 3*severalChunks + 17
	values := make([]float32, n)
	var want []float32
	for i := range values {
		// 7 and 40009 are coprime to the number of values below.
		values[i] = float32((int64(i)*40009)%300007)/8 - 9000
	}
	for k := range 300007 {
		want = append(want, float32(k)/8-9000)
	}
	for _, stream := range []bool{false, true} {
		s, err := openFloats(t, values, FileOptions{Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, s.Ladder(), want)
	}
	values[3], values[n-3] = -1<<20, 1<<20
	for _, stream := range []bool{false, true} {
		s, err := openFloats(t, values, FileOptions{Stream: stream, Levels: 3})
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, s.Ladder(), []float32{-1 << 20, 0, 1 << 20})
	}
	values[severalChunks+5] = float32(math.NaN())
	values[n-1] = float32(math.Inf(-1))
	values[n-2] = float32(math.NaN())
	for _, stream := range []bool{false, true} {
		_, err := openFloats(t, values, FileOptions{Stream: stream})
		var bad *grid.NotFiniteError
		if !errors.As(err, &bad) || bad.Count != 3 || bad.First != severalChunks+5 || bad.X != severalChunks+5 {
			t.Errorf("stream %v: %v, want 3 values from %d", stream, err, severalChunks+5)
		}
	}
}

func TestLadderReadError(t *testing.T) {
	want := errors.New("the disk is on fire")
	_, err := float32Ladder(grid.Shape{D: 1, H: 5, W: chunkVoxels}, 0, func() chunkReader {
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

func TestLadderLevels(t *testing.T) {
	for _, stream := range []bool{false, true} {
		o := FileOptions{Stream: stream, Levels: 5}
		s, err := openFloats(t, []float32{-1, 0, 0.3, 1}, o)
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, s.Ladder(), []float32{-1, -0.5, 0, 0.5, 1})
		s, err = openFloats(t, []float32{2, 2, 2}, o)
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, s.Ladder(), []float32{2})
		o.Levels = 1
		s, err = openFloats(t, []float32{-1, 0, 7}, o)
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, s.Ladder(), []float32{7})
		o.Levels = 1000
		_, err = openFloats(t, []float32{1, 1 + 1.0/(1<<20)}, o)
		checkFileError(t, "too many levels", err, "ask for fewer levels")
	}
}

func checkLevels(t *testing.T, l grid.Ladder, want []float32) {
	t.Helper()
	if l.Len() != int64(len(want)) {
		t.Fatalf("%d levels, want %d", l.Len(), len(want))
	}
	for k, v := range want {
		if l.Value(int64(k)) != v {
			t.Fatalf("level %d is %v, want %v", k, l.Value(int64(k)), v)
		}
	}
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
		_, err := float32Ladder(grid.Shape{D: 1, H: 1 << 12, W: 1 << 12}, 0, func() chunkReader {
			return func(lo, hi int64) ([]float32, error) { return values[lo:hi], nil }
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
