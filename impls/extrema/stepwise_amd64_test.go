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
