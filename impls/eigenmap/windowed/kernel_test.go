package windowed

import (
	"math/rand/v2"
	"testing"
)

// Vector instructions find the distances that Go finds, of the largest features, too.
func TestKernel(t *testing.T) {
	if !vectors() {
		t.Skip("no vector instructions here")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := make([]int16, 16), make([]int16, 16*103)
	for i := range b {
		b[i] = int16(255 * rng.IntN(2))
		if i > 300 {
			b[i] = int16(rng.IntN(256))
		}
	}
	for i := range a {
		a[i] = int16(255 * (i & 1))
	}
	got := make([]int32, 103)
	n := unlikeVector(got, a, b)
	if n != 100 || got[100] != 0 {
		t.Fatalf("%d distances, and behind them %d", n, got[100])
	}
	for k, d := range got[:n] {
		if want := unlike(a, b[16*k:][:16]); d != want {
			t.Errorf("patch %d: %d, not %d", k, d, want)
		}
	}
}
