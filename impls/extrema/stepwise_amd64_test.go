//go:build amd64 && !noasm

package extrema

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"eccbench/internal/grid"
)

// Whatever number of values a function turns into levels before it stops, the others are
// turned too, in their rows.
func TestStepwiseFinishesWhatStopsEarly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v := newLevels[uint8](grid.Uint8, grid.Identity(grid.Uint8))
	for range 2000 {
		n, rows, least := 1+rng.IntN(70), 1+rng.IntN(6), 1+rng.IntN(33)
		stride := n + rng.IntN(9)
		src := make([]byte, n*rows)
		for i := range src {
			src[i] = byte(rng.Uint32())
		}
		got, want := make([]uint8, stride*rows), make([]uint8, stride*rows)
		early := func(dst, src *byte, n, rows, stride int) int {
			if n < least {
				t.Fatalf("rows of %d values, at least %d", n, least)
			}
			done := rng.IntN(n*rows + 1)
			if rng.IntN(3) == 0 {
				done = 0
			}
			from, to := unsafe.Slice(src, n*rows), unsafe.Slice(dst, (rows-1)*stride+n)
			for i := range done {
				to[i/n*stride+i%n] = from[i]
			}
			return done
		}
		v.stepwise(least, early)(got, src, n, rows, stride, nil)
		v.rows(want, src, n, rows, stride, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("%d rows of %d values, %d apart: %v, want %v", rows, n, stride, got, want)
		}
	}
}

// looked is what a watcher was shown.
type looked struct {
	watched bool
	values  []float32
}

func (l *looked) Watch()             { l.watched = true }
func (l *looked) Look(values []byte) { l.values = append(l.values, grid.Values[float32](values)...) }
func (l *looked) Err() error         { return nil }

// Whoever watches is shown every value that stands on no level, wherever it is in a row, and none
// where all stand on levels; the levels are those that nobody watches.
func TestWatchedRows(t *testing.T) {
	for _, isa := range available() {
		watchedRows(t, isa, kernels8(isa).rows, 200)
		watchedRows(t, isa, kernels16(isa).rows, 1000)
		watchedRows(t, isa, kernels32(isa).rows, 70000)
	}
}

func watchedRows[L lane](t *testing.T, isa string, rows func(*levels[L]) rowsFunc[L], n int64) {
	t.Helper()
	if rows == nil {
		return // the portable way shows all
	}
	const width, height, stride = 77, 3, 80
	for _, step := range []float64{0.5, 0.1} { // of which float32 has one exactly
		ladder, err := grid.Affine(-3, step, n)
		if err != nil {
			t.Fatal(err)
		}
		w := &looked{}
		v := newLevels[L](grid.Float32, ladder)
		plain := rows(v)
		v.watcher = w
		watched := rows(v)
		if !w.watched {
			t.Errorf("%s: nobody watches", isa)
		}
		values := make([]float32, width*height)
		for i := range values {
			values[i] = ladder.Value(int64(i) * 37 % n)
		}
		got, want, scratch := make([]L, stride*height), make([]L, stride*height), make([]int32, width)
		turn := func() {
			w.values = nil
			plain(want, grid.Bytes(values), width, height, stride, scratch)
			watched(got, grid.Bytes(values), width, height, stride, scratch)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %d levels %v apart: other levels than without a watcher", isa, n, step)
			}
		}
		if turn(); w.values != nil {
			t.Errorf("%s, %d levels %v apart: %d values shown, and all are on levels", isa, n, step, len(w.values))
		}
		for at := range values {
			for _, x := range []float32{-3.25, -1e9, ladder.Value(5) + 0.03, ladder.Value(n-1) + 0.03, 1e9} {
				kept := values[at]
				values[at] = x
				if turn(); !slices.Contains(w.values, x) {
					t.Fatalf("%s, %d levels %v apart, %v at %d: not shown", isa, n, step, x, at)
				}
				values[at] = kept
			}
		}
	}
}
