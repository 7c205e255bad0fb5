package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks compare every instruction set of this machine with the Go code, bit for bit.
func checks() []checktest.Check {
	return append(argumentChecks(), []checktest.Check{
		{Name: "rows of steps", Of: rowsHaveBits},
		{Name: "rows of cells", Of: kitHasBits},
		{Name: "lengths of rows", Of: rowsArePadded},
		{Name: "lists that are too short", Of: shortListsAreRefused},
	}...)
}

// Every instruction set has the bits of the kernel in Go, for rows of all lengths and values of all
// sizes. It writes nothing outside the rows.
func rowsHaveBits(t *testing.T) {
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

// Every instruction set has the bits of the kit in Go, and writes nothing outside a row.
func kitHasBits(t *testing.T) {
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
				F: list(n), Diag: list(n), Link: list(n + 1), Width: list(n), Along: 0.3, LinkNorth: 0.7, LinkSouth: 0.1, LinkBelow: 0.9, LinkAbove: 1.3}
			of := Rest{B: list(n), V0: list(n), Over: list(n), Scale: 1 << 20, To: list(n + 3)}
			from := [4][]float32{list(n), list(n), list(n), list(n)}
			to := list(n + 3)
			// run returns the lists that a kit sets, and its sums.
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
				before := Sums{1: 2, partial: 3} // of another row
				of.Sums = before
				squares, product := k.Rest(&r, &of)
				mixed, turned, advanced := slices.Clone(to), slices.Clone(to), slices.Clone(to)
				k.Blend(mixed[:n], &from, &[4]float32{0.25, 0.75, 0.3, 1})
				k.Turn(turned[:n], from[0], 0.7)
				k.Advance(advanced[:n], from[0], 0.7)
				return append(set, remaining, of.To, mixed, turned, advanced), []float64{squares, product, k.Dot(from[0], from[1], &before)}
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
func rowsArePadded(t *testing.T) {
	for n := range 5 * Lanes {
		if long := Padded(n); long <= n || long > n+Lanes || long%Lanes != 0 {
			t.Errorf("%d cells have a row of %d", n, long)
		}
	}
}

// Each instruction set rejects a list that is too short, before it reads or writes beyond one.
func shortListsAreRefused(t *testing.T) {
	shorter := func(list *[]float32) func() {
		was := *list
		*list = was[: len(was)-1 : len(was)-1]
		return func() { *list = was }
	}
	const n, count = 2 * Lanes, 3
	list := func(n int) []float32 { return make([]float32, n) }
	for _, isa := range Available() {
		kernel, err := Choose(isa)
		if err != nil {
			t.Fatal(err)
		}
		s := Step{N: n, Count: count, Stride: n + 2, FieldStride: n + 1, DstStride: n + 3}
		behind := func(stride int) []float32 { return list((count-1)*stride + n) }
		s.V, s.North, s.South, s.V0, s.B, s.Dst = append(behind(s.Stride), 0, 0), behind(s.Stride), behind(s.Stride), behind(s.FieldStride), behind(s.FieldStride), behind(s.DstStride)
		flat := []*[]float32{&s.V, &s.North, &s.South, &s.V0, &s.B, &s.Dst}
		for _, lists := range [][]*[]float32{flat, append(flat, &s.Below, &s.Above)} {
			if len(lists) > len(flat) {
				s.Below, s.Above = behind(s.Stride), behind(s.Stride)
			}
			kernel(&s)
			for k, l := range lists {
				whole := shorter(l)
				checktest.Panics(t, fmt.Sprintf("%s: list %d of %d of a step, a value too short", isa, k, len(lists)), func() { kernel(&s) })
				whole()
			}
		}
		kit, err := ChooseKit(isa)
		if err != nil {
			t.Fatal(err)
		}
		if kit != &portable {
			checktest.Panics(t, isa+": rows that are no whole number of vectors", func() { kit.Turn(list(n+1), list(n+1), 1) })
		}
		r := Row{U: list(n + 2), At: 1, North: 1, South: 1, Below: 1, Above: 1, N: n, F: list(n), Diag: list(n), Link: list(n + 1), Width: list(n)}
		of := Rest{B: list(n), V0: list(n), Over: list(n), To: list(n)}
		from, to := [4][]float32{list(n), list(n), list(n), list(n)}, list(n)
		for what, c := range map[string]struct {
			do    func()
			lists []*[]float32
		}{
			"Begin":   {func() { kit.Begin(&r, 0); kit.Begin(&r, 1) }, []*[]float32{&r.F, &r.Diag}},
			"Relax":   {func() { kit.Relax(&r, 0); kit.Relax(&r, 1) }, []*[]float32{&r.U, &r.F, &r.Diag, &r.Link, &r.Width}},
			"Remain":  {func() { kit.Remain(&r, to) }, []*[]float32{&r.U, &r.F, &r.Diag, &r.Link, &r.Width, &to}},
			"Rest":    {func() { kit.Rest(&r, &of) }, []*[]float32{&r.U, &r.Link, &r.Width, &of.B, &of.V0, &of.Over, &of.To}},
			"Blend":   {func() { kit.Blend(to, &from, new([4]float32)) }, []*[]float32{&from[0], &from[1], &from[2], &from[3]}},
			"Turn":    {func() { kit.Turn(to, from[0], 1) }, []*[]float32{&from[0]}},
			"Advance": {func() { kit.Advance(to, from[0], 1) }, []*[]float32{&from[0]}},
			"Dot":     {func() { kit.Dot(to, from[0], new(Sums)) }, []*[]float32{&from[0]}},
		} {
			for i := range r.Width {
				r.Width[i] = 1
			}
			c.do()
			for k, l := range c.lists {
				whole := shorter(l)
				checktest.Panics(t, fmt.Sprintf("%s: list %d of %s, a value too short", isa, k, what), c.do)
				whole()
			}
			if slices.Contains(c.lists, &r.U) {
				r.At = 0
				checktest.Panics(t, fmt.Sprintf("%s: %s of a row with nothing before it", isa, what), c.do)
				r.At = 1
			}
		}
	}
}
