package files

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// openFloats writes values to a raw file and opens it, whole or streamed.
func openFloats(t *testing.T, values []float32, o format.Options) (grid.Source, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, grid.Bytes(values), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Shape, o.Type = grid.Shape{D: 1, H: 1, W: int64(len(values))}, grid.Float32
	s, err := Open(path, o)
	if stream, ok := s.(*format.Stream); ok {
		t.Cleanup(func() { stream.Close() })
	}
	return s, err
}

func TestLadderTable(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for _, stream := range []bool{false, true} {
		s, err := openFloats(t, []float32{3, -2, negative, 0, 3, 1e-45, math.MaxFloat32, -math.MaxFloat32}, format.Options{Stream: stream})
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
		s, err := openFloats(t, values, format.Options{Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, s.Ladder(), want)
	}
	values[3], values[n-3] = -1<<20, 1<<20
	for _, stream := range []bool{false, true} {
		s, err := openFloats(t, values, format.Options{Stream: stream, Levels: 3})
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, s.Ladder(), []float32{-1 << 20, 0, 1 << 20})
	}
	values[severalChunks+5] = float32(math.NaN())
	values[n-1] = float32(math.Inf(-1))
	values[n-2] = float32(math.NaN())
	for _, stream := range []bool{false, true} {
		_, err := openFloats(t, values, format.Options{Stream: stream})
		var bad *grid.NotFiniteError
		if !errors.As(err, &bad) || bad.Count != 3 || bad.First != severalChunks+5 || bad.X != severalChunks+5 {
			t.Errorf("stream %v: %v, want 3 values from %d", stream, err, severalChunks+5)
		}
	}
}

func TestLadderLevels(t *testing.T) {
	for _, stream := range []bool{false, true} {
		o := format.Options{Stream: stream, Levels: 5}
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
