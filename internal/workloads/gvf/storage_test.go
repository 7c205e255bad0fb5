package gvf

import (
	"encoding/binary"
	"math"
	"testing"
)

// Each number of 16 bits is what rounds to it, and what lies half way between two rounds to
// the even one.
func TestStorage(t *testing.T) {
	for _, s := range []Storage{Float16, Snorm16} {
		decode := func(bits uint16) float32 {
			return s.Decode([]float32{0}, binary.NativeEndian.AppendUint16(nil, bits))[0]
		}
		largest := uint16(0x7bff)
		if s == Snorm16 {
			largest = 32767
		}
		for bits := range largest {
			v, next := decode(bits), decode(bits+1)
			if v < 0 || next <= v {
				t.Fatalf("%v: %#x is %v, and the next %v", s, bits, v, next)
			}
			even := v
			if bits&1 == 1 {
				even = next
			}
			between := float32((float64(v) + float64(next)) / 2)
			cases := map[float32]float32{v: v, next: next, math.Nextafter32(between, 0): v, math.Nextafter32(between, 9e9): next, between: even}
			if s == Snorm16 {
				delete(cases, between) // which float32 does not hold
			}
			for from, want := range cases {
				if got := s.Round(from); got != want {
					t.Fatalf("%v rounds to %v in %v, want %v", from, got, s, want)
				}
				if got := s.Round(-from); got != -want {
					t.Fatalf("%v rounds to %v in %v, want %v", -from, got, s, -want)
				}
			}
		}
	}
	if v := Float16.Round(70000); !math.IsInf(float64(v), 1) || Float16.Decode([]float32{0}, []byte{0, 0xfc})[0] != float32(math.Inf(-1)) {
		t.Errorf("70000 is %v", v)
	}
	if v := Snorm16.Round(-1e-6); v != 0 || math.Signbit(float64(v)) {
		t.Errorf("-1e-6 is %v", v)
	}
	if Snorm16.Round(1.5) != 1 || Snorm16.Round(-3) != -1 || Float32.Round(0.1) != 0.1 {
		t.Error("what is beyond the ends, or in float32, is not kept as it should be")
	}
}
