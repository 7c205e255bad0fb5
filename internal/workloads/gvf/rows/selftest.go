package rows

import (
	"math/rand/v2"
	"slices"

	"eccbench/internal/isa"
)

// SelfTest compares the vector instructions on rows of cells with the Go code, bit for bit, for
// numbers drawn from the seed.
func SelfTest(seed uint32) error {
	const n, lead = 3 * Lanes, 3
	rng := rand.New(rand.NewPCG(uint64(seed), 4))
	list := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = rng.Float32() - 0.5
		}
		return out
	}
	row := Row{
		U: list(lead + 5*n + lead), At: lead + 2*n, North: lead + n, South: lead + 3*n, Below: lead, Above: lead + 4*n, N: n,
		F: list(n), Diag: list(n), Link: list(n + 1), Width: list(n),
		Along: 0.3, LinkNorth: 0.7, LinkSouth: 0.1, LinkBelow: 0.9, LinkAbove: 1.3,
	}
	rest := Rest{B: list(n), V0: list(n), Over: list(n), Scale: 1 << 20}
	from, to := [4][]float32{list(n), list(n), list(n), list(n)}, list(n)
	type result struct {
		lists [][]float32
		sums  []float64
	}
	same := func(a, b result) bool {
		return slices.EqualFunc(a.lists, b.lists, slices.Equal[[]float32]) && slices.Equal(a.sums, b.sums)
	}
	return isa.Compare(Available(), same, func(name string) (result, error) {
		kit, err := ChooseKit(name)
		if err != nil {
			return result{}, err
		}
		remaining, mixed, turned, advanced := slices.Clone(to), slices.Clone(to), slices.Clone(to), slices.Clone(to)
		r := result{lists: [][]float32{remaining, mixed, turned, advanced}}
		for _, colour := range []int{0, 1} {
			for _, set := range []func(*Row, int){kit.Begin, kit.Relax} {
				row := row
				row.U = slices.Clone(row.U)
				set(&row, colour)
				r.lists = append(r.lists, row.U)
			}
		}
		kit.Remain(&row, remaining)
		rest := rest
		rest.To = slices.Clone(to)
		squares, product := kit.Rest(&row, &rest)
		kit.Blend(mixed, &from, &[4]float32{0.25, 0.75, 0.3, 1})
		kit.Turn(turned, from[0], 0.7)
		kit.Advance(advanced, from[0], 0.7)
		r.lists, r.sums = append(r.lists, rest.To), []float64{squares, product, kit.Dot(from[0], from[1], new(Sums))}
		return r, nil
	})
}
