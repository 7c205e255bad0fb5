package ecc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// Bytes are in a set, eight at a time, where single values are: at every threshold, in rows that
// end within eight and within a word.
func TestBytesOfASet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, w := range []int64{1, 7, 8, 63, 64, 65, 72, 131, 256} {
		const h = 2
		plane := make([]byte, h*w)
		for i := range plane {
			plane[i] = byte(rng.Uint32())
		}
		for i := range min(w, 256) { // each value beside its neighbours
			plane[i] = byte(i)
		}
		thresholds := []float32{float32(math.Inf(-1)), -1, -0.5, 254.5, 255.5, 300, float32(math.Inf(1))}
		for v := range 256 {
			thresholds = append(thresholds, float32(v), float32(v)+0.5)
		}
		for _, threshold := range thresholds {
			want := NewPlaneSet(h, w)
			fillSet(want, plane, threshold)
			for _, name := range isa.Available(assembled) {
				got := NewPlaneSet(h, w)
				for y := range int64(h) { // what was there before
					for i := range got.Row(y) {
						got.Row(y)[i] = math.MaxUint64
					}
				}
				planesOf(name).fillBytes(got, plane, threshold)
				if !slices.Equal(got.rows, want.rows) {
					t.Errorf("%s: %d wide at %v: %x, want %x", name, w, threshold, got.rows, want.rows)
				}
			}
		}
	}
}

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
