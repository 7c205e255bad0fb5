package element

import (
	"math"
	"testing"
)

// Every float16 is compared with the sum of its parts.
func readsHalves(t *testing.T) {
	for h := range 1 << 16 {
		exponent, fraction := h>>10&31, h&1023
		want := math.Ldexp(float64(1024+fraction), exponent-25)
		switch {
		case exponent == 0:
			want = math.Ldexp(float64(fraction), -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		if h>>15 == 1 {
			want = -want
		}
		if got := float64(Half(uint16(h))); got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != math.Signbit(want) && want == want {
			t.Errorf("%#04x is %v, want %v", h, got, want)
		}
	}
}
