package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every instruction set has the bits of the kernel in Go, for rows of all lengths, values of all
// sizes, and sets nothing beside the rows.
func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	list := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(math.Ldexp(rng.Float64()-0.5, -rng.IntN(145)))
		}
		return out
	}
	for _, isa := range Available() {
		kernel, err := Choose(isa)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 70 {
			for _, volume := range []bool{false, true} {
				stride, field, to := n+2+rng.IntN(5), n+rng.IntN(5), n+rng.IntN(5)
				s := Step{N: n, Count: rng.IntN(4), Stride: stride, FieldStride: field, DstStride: to, Mu: rng.Float32() / 6,
					V: list(4*stride + 2), North: list(4 * stride), South: list(4 * stride), V0: list(4 * field), B: list(4 * field), Dst: list(4*to + 20)}
				if volume {
					s.Below, s.Above = list(4*stride), list(4*stride)
				}
				want := s
				want.Dst = slices.Clone(s.Dst)
				Portable(&want)
				kernel(&s)
				for i, v := range want.Dst {
					if math.Float32bits(v) != math.Float32bits(s.Dst[i]) {
						t.Fatalf("%s: %d rows of %d, volume %v: value %d is %g, want %g", isa, s.Count, n, volume, i, s.Dst[i], v)
					}
				}
			}
		}
	}
	if _, err := Choose("sse"); err == nil {
		t.Error("an unknown instruction set is taken")
	}
}
