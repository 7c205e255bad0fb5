package ecc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
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
			got, want := NewPlaneSet(h, w), NewPlaneSet(h, w)
			fillBytes(got, plane, threshold)
			fillSet(want, plane, threshold)
			if !slices.Equal(got.rows, want.rows) {
				t.Errorf("%d wide at %v: %x, want %x", w, threshold, got.rows, want.rows)
			}
		}
	}
}
