package ecc

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// Cells are as many in every instruction set, in rows that end within a vector and beyond one.
func TestCellsBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, name := range isa.Available(assembled) {
		for range 300 {
			h, w := 1+rng.Int64N(4), 1+rng.Int64N(1200)
			if rng.IntN(40) == 0 { // more words than a byte counts
				w += 256 * 64
			}
			below, above := NewPlaneSet(h, w), NewPlaneSet(h, w)
			for _, s := range []*PlaneSet{below, above} {
				plane, limit := make([]byte, h*w), rng.Uint32()
				for i := range plane {
					plane[i] = byte(rng.Uint32())
				}
				s.Fill(grid.Uint8, plane, float32(limit%256))
			}
			if got, want := planesOf(name).cells(below, above), cellsBetween(below, above); got != want {
				t.Fatalf("%s: %d of two planes of %d × %d, want %d", name, got, w, h, want)
			}
		}
	}
}
