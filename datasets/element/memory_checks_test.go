package element

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// Levels are evenly spaced from the least value to the greatest.
func voxelsOnEvenLevels(t *testing.T) {
	values := []float32{3, float32(math.Copysign(0, -1)), -2, 8}
	f, err := Voxels(context.Background(), 2, grid.Shape{D: 1, H: 2, W: 2}, "float32", grid.Bytes(values), 11)
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Ladder(); l.Len() != 11 || l.Value(0) != -2 || l.Value(5) != 3 || l.Value(10) != 8 {
		t.Errorf("ladder %v", l)
	}
}

// Invalid images are refused with the reason.
func voxelsRefused(t *testing.T) {
	for want, ask := range map[string]func() (*grid.Field, error){
		`element type "int8": want`: func() (*grid.Field, error) {
			return Voxels(context.Background(), 2, grid.Shape{D: 1, H: 1, W: 1}, "int8", make([]byte, 1), 0)
		},
		"every axis": func() (*grid.Field, error) {
			return Voxels(context.Background(), 2, grid.Shape{D: 1, H: 0, W: 1}, "uint8", nil, 0)
		},
		"5 bytes, want 4": func() (*grid.Field, error) {
			return Voxels(context.Background(), 2, grid.Shape{D: 1, H: 2, W: 2}, "uint8", make([]byte, 5), 0)
		},
		"leave it out": func() (*grid.Field, error) {
			return Voxels(context.Background(), 2, grid.Shape{D: 1, H: 2, W: 2}, "uint8", make([]byte, 4), 9)
		},
		"ask for fewer levels": func() (*grid.Field, error) {
			return Voxels(context.Background(), 2, grid.Shape{D: 1, H: 1, W: 2}, "float32", grid.Bytes([]float32{1, math.Nextafter32(1, 2)}), 9)
		},
	} {
		if _, err := ask(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Conversion and ranking stop with the context.
func voxelsUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for typ, size := range map[string]int{"float16": 2, "float32": 4, "uint32": 4, "float64": 8, "int64": 8} {
		if _, err := Voxels(ctx, 2, grid.Shape{D: 1, H: 4, W: 4}, typ, grid.NewBuffer(int64(16*size)), 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// A guess has the ladder of the whole image. It is confirmed after all values were checked, and not
// if a value is beyond it or nothing was checked.
func guesses(t *testing.T) {
	shape := grid.Shape{D: 64, H: 128, W: 128}
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float32, shape.Voxels())
	for i := range values {
		values[i] = float32(rng.IntN(50)) / 4
	}
	data := grid.Bytes(values)
	whole, err := Voxels(context.Background(), 2, shape, "float32", data, 50)
	if err != nil {
		t.Fatal(err)
	}
	guess := func() *Guess {
		g := Guessed(shape, "float32", data, 50)
		if g == nil || g.Ladder().Key() != whole.Ladder().Key() {
			t.Fatalf("a guess %v, want one on %v", g, whole.Ladder())
		}
		return g
	}
	g := guess()
	if g.Look(data[:400]); g.Confirmed() {
		t.Error("confirmed by nobody")
	}
	if g.Watch(); !g.Confirmed() || grid.Ended(g.Field) != nil {
		t.Error("not confirmed")
	}
	for _, beyond := range []float32{-0.25, 12.5, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		g := guess()
		g.Watch()
		g.Look(grid.Bytes([]float32{1, 2, 3}))
		if g.Look(grid.Bytes([]float32{1, beyond, 3})); g.Confirmed() || grid.Ended(g.Field) == nil {
			t.Errorf("%v is in the range", beyond)
		}
	}
	if g := Guessed(shape, "float32", data, 0); g == nil || g.Ladder().Key() != whole.Ladder().Key() {
		t.Errorf("without a number of levels a guess %v", g)
	} else {
		g.Watch()
		g.Look(grid.Bytes([]float32{0, float32(math.Copysign(0, -1)), 0.25, 12.25}))
		if !g.Confirmed() {
			t.Error("values on levels are wrong")
		}
		if g.Look(grid.Bytes([]float32{0, 0.125})); g.Confirmed() {
			t.Error("a value between levels is right")
		}
	}
	// Samples rarely contain the ends of these.
	for i := range values {
		values[i] = 3 - float32(rng.IntN(10)+rng.IntN(10)+rng.IntN(10)+rng.IntN(10)+rng.IntN(10)+rng.IntN(10))/8
	}
	if g := Guessed(shape, "float32", data, 0); g == nil || !g.Ladder().Indexed() || g.Ladder().Len() < 60 || g.Ladder().Level(-3.75) == g.Ladder().Len() {
		t.Errorf("ends that are seen seldom: a guess %v", g)
	} else if g.Watch(); !onLevels(g.Ladder(), values) {
		t.Errorf("values on levels are not on those of the guess")
	}
	values[len(values)/2] = 100 // at most one sample has it
	if g := Guessed(shape, "float32", data, 50); g != nil && g.Ladder().Value(49) == 100 {
		t.Error("one value is guessed to be the greatest")
	}
	for i := range values {
		values[i] = rng.Float32()
	}
	if g := Guessed(shape, "float32", data, 0); g == nil || g.Ladder().Indexed() {
		t.Error("no guess on every float32")
	}
	for name, g := range map[string]*Guess{
		"values that differ": Guessed(shape, "float32", data, 50), "a few": Guessed(grid.Shape{D: 1, H: 2, W: 2}, "float32", data[:16], 0),
		"whole numbers": Guessed(shape, "int32", data, 0), "another shape": Guessed(grid.Shape{D: 65, H: 128, W: 128}, "float32", data, 0),
	} {
		if g != nil {
			t.Errorf("%s: a guess", name)
		}
	}
}
