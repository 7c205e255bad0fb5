package chains_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/pairs"
)

// drawn returns a small image of few or many levels, with absent voxels if it is masked.
func drawn(t testing.TB, rng *rand.Rand) image {
	side := func(most int) int64 { return 1 + int64(rng.IntN(most)) }
	s := grid.Shape{D: 1, H: side(7), W: side(7)}
	if rng.IntN(4) > 0 {
		s = grid.Shape{D: 1 + side(3), H: side(4), W: side(4)}
	}
	c := fingerprint.Convention{Vertices: rng.IntN(2) == 0, Superlevel: rng.IntN(2) == 0, Masked: rng.IntN(3) == 0}
	levels := 1 + rng.IntN(3)
	if rng.IntN(2) == 0 {
		levels = 200
	}
	absent := func() bool { return c.Masked && rng.IntN(4) == 0 }
	if rng.IntN(8) == 0 { // every float32 is a level
		values := make([]float32, s.Voxels())
		for i := range values {
			if values[i] = float32(rng.IntN(levels)-100) * 1e36; absent() {
				values[i] = float32(math.Inf(1))
			}
		}
		return image{trusted(t, s, grid.Float32, grid.Bytes(values), grid.Identity(grid.Float32)), c}
	}
	ladder, err := grid.Affine(0, 1, int64(levels))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]uint8, s.Voxels())
	for i := range values {
		if values[i] = uint8(rng.IntN(levels)); absent() {
			values[i] = uint8(levels + rng.IntN(2))
		}
	}
	return image{trusted(t, s, grid.Uint8, values, ladder), c}
}

func trusted(t testing.TB, s grid.Shape, typ grid.Type, data []byte, l grid.Ladder) *grid.Field {
	t.Helper()
	f, err := grid.Trusted(s, typ, data, l)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// answered returns the answer by plain reduction.
func answered(m image, dual bool, rng *rand.Rand) pairs.Answer {
	out := pairs.Answer{Pairs: plainPairs(m)}
	if m.Shape().Dim() == 3 {
		out.Chains = newPlainBox(m).chains(dual, rng, [...]float64{0, 0.7, 1}[rng.IntN(3)])
	}
	return out
}

// Pairs and chains by plain reduction of all cells are accepted, in every convention.
func TestPlainReductionsAreConfirmed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	counts := map[string]int{}
	for i := range 3000 {
		m := drawn(t, rng)
		out := answered(m, i%2 == 0, rng)
		if d, err := pairs.Check(m, m.Convention, out); d != nil || err != nil {
			t.Fatalf("image %d: %v %+v %v: %v %v", i, m.Shape(), m.Convention, m.Data(), d, err)
		}
		for _, p := range out.Pairs {
			counts[fmt.Sprint(m.Shape().Dim(), m.Vertices, m.Masked, p.Dim, p.Death < 0)]++
		}
	}
	for _, some := range []string{"3 true true 1 false", "3 false true 2 true", "3 false true 1 true", "3 false false 1 false", "2 false true 1 true"} {
		if counts[some] == 0 {
			t.Errorf("no pair: %s", some)
		}
	}
	t.Log(counts)
}
