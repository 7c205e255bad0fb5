package duality

import (
	"math"
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
)

// Bits are what comparing each value says, of every type, at thresholds within its range, at
// its ends, beyond them, and between values.
func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	thresholds := []float32{float32(math.Inf(-1)), -1e30, -40000, -32769, -32768, -32767.5, -1, -0.5, 0, 0.5, 1, 63, 64, 126.5, 127, 128, 129, 254, 254.5, 255, 256, 32767, 40000, 65534.5, 65535, 65536, 1e30, float32(math.Inf(1))}
	for _, w := range []int64{1, 7, 63, 64, 65, 128, 200} {
		const rows = 7
		bytes, shorts, words, floats := make([]uint8, rows*w), make([]int16, rows*w), make([]uint16, rows*w), make([]float32, rows*w)
		for i := range bytes {
			r := rng.Uint32()
			bytes[i], shorts[i], words[i] = uint8(r), int16(r), uint16(r)
			floats[i] = thresholds[1+r%26] + float32(r>>8%3) - 1
			if r>>10%4 == 0 { // at the ends
				bytes[i], shorts[i], words[i] = uint8(-(r & 1)), math.MinInt16+int16(-(r&1)), uint16(-(r & 1))
			}
		}
		for _, at := range thresholds {
			for _, name := range available() {
				check(t, w, bytes, at, kernelOf(name).packBytes)
			}
			check(t, w, shorts, at, packValues[int16])
			check(t, w, words, at, packValues[uint16])
			check(t, w, floats, at, packValues[float32])
		}
	}
}

func check[T grid.Element](t *testing.T, w int64, values []T, at float32, pack func([]uint64, []T, int64, int64, int64, float32)) {
	t.Helper()
	rows := int64(len(values)) / w
	const more = 2 // words between rows
	stride := words(w) + more
	to := make([]uint64, rows*stride)
	for i := range to {
		to[i] = math.MaxUint64 // that was there before
	}
	pack(to, values, w, stride, rows, at)
	for y := range rows {
		for i := words(w); i < stride; i++ {
			if to[y*stride+i] != math.MaxUint64 {
				t.Fatalf("%T of %d columns: more than a row was written", values, w)
			}
		}
		for x := range 64 * words(w) {
			got := to[y*stride+x/64]>>(x%64)&1 == 1
			if want := x < w && float32(values[y*w+x]) <= at; got != want {
				t.Fatalf("%T %v at %v, column %d of %d: %v", values, values[y*w+min(x, w-1)], at, x, w, got)
			}
		}
	}
}
