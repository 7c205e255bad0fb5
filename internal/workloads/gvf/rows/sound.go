package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/sound"
)

// Checks are of the instruction sets of this machine: each has the bits of what is written in Go.
func Checks() []sound.Check {
	return []sound.Check{
		{Name: "rows of steps", Of: rowsHaveBits},
		{Name: "rows of cells", Of: kitHasBits},
		{Name: "lengths of rows", Of: rowsArePadded},
	}
}

// Every instruction set has the bits of the kernel in Go, for rows of all lengths, values of all
// sizes, and sets nothing beside the rows.
func rowsHaveBits(t sound.T) {
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

// Every instruction set has the bits of the kit in Go, and sets nothing beside a row.
func kitHasBits(t sound.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	list := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(math.Ldexp(rng.Float64()-0.5, -rng.IntN(30)))
		}
		return out
	}
	for _, isa := range Available() {
		kit, err := ChooseKit(isa)
		if err != nil {
			t.Fatal(err)
		}
		for n := Lanes; n <= 5*Lanes; n += Lanes {
			const lead = 3
			r := Row{U: list(lead + 5*n + 5), At: lead + 2*n, North: lead + n, South: lead + 3*n, Below: lead, Above: lead + 4*n, N: n,
				F: list(n), Inv: list(n), Diag: list(n), Link: list(n + 1), Width: list(n), Along: 0.3, LinkNorth: 0.7, LinkSouth: 0.1, LinkBelow: 0.9, LinkAbove: 1.3}
			of := Rest{B: list(n), V0: list(n), Over: list(n), Scale: 1 << 20, To: list(n + 3)}
			from := [4][]float32{list(n), list(n), list(n), list(n)}
			to := list(n + 3)
			// What each of them sets, and the sums it gives.
			run := func(k *Kit) (set [][]float32, sums []float64) {
				// After another colour: a mask may be left of the call before.
				for _, f := range []func(*Row, int){k.Begin, k.Relax} {
					for colour := range 2 {
						r := r
						r.U = slices.Clone(r.U)
						f(&r, colour)
						set = append(set, r.U)
					}
				}
				remaining := slices.Clone(to)
				k.Remain(&r, remaining)
				of := of
				of.To = slices.Clone(of.To)
				squares, product := k.Rest(&r, &of)
				mixed, turned, advanced := slices.Clone(to), slices.Clone(to), slices.Clone(to)
				k.Blend(mixed[:n], &from, &[4]float32{0.25, 0.75, 0.3, 1})
				k.Turn(turned[:n], from[0], 0.7)
				k.Advance(advanced[:n], from[0], 0.7)
				return append(set, remaining, of.To, mixed, turned, advanced), []float64{squares, product, k.Dot(from[0], from[1], new(Sums))}
			}
			want, sums := run(&portable)
			got, others := run(kit)
			bits := func(list []float32) string {
				s := ""
				for _, v := range list {
					s += fmt.Sprintf("%08x ", math.Float32bits(v))
				}
				return s
			}
			for i := range want {
				if bits(want[i]) != bits(got[i]) {
					t.Errorf("%s: %d cells: list %d is %v, want %v", isa, n, i, got[i], want[i])
				}
			}
			if !slices.Equal(sums, others) {
				t.Errorf("%s: %d cells: sums %v, want %v", isa, n, others, sums)
			}
			if slices.Equal(want[0], want[2]) || slices.Equal(want[2], want[3]) || sums[0] == 0 || sums[1] == 0 {
				t.Error("nothing is done")
			}
		}
	}
	if _, err := ChooseKit("sse"); err == nil {
		t.Error("an unknown instruction set is taken")
	}
}

// A row has a 0 behind its last cell, and is no longer than whole vectors need.
func rowsArePadded(t sound.T) {
	for n := range 5 * Lanes {
		if long := Padded(n); long <= n || long > n+Lanes || long%Lanes != 0 {
			t.Errorf("%d cells have a row of %d", n, long)
		}
	}
}
