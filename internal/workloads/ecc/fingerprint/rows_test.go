package fingerprint

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/grid"
)

// Rows of every length around a group have the same weights with all instruction sets. The numbers
// have all bit patterns, both zeros, the least and the greatest. Rows are read in both directions,
// and with a mask.
func TestRowsOfEveryFloat32(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32}
	for len(values) < 400 {
		if v := math.Float32frombits(random.Uint32()); v-v == 0 { // finite
			values = append(values, v)
		}
	}
	ladder := grid.Identity(grid.Float32)
	unmasked := values
	for _, in := range []Convention{{}, {Vertices: true}, {Superlevel: true}, {Vertices: true, Superlevel: true}, {Masked: true}, {Vertices: true, Masked: true}} {
		values := slices.Clone(unmasked)
		for i := range values {
			if in.Masked && i%7 == 3 {
				values[i] = float32(math.Inf(1))
			}
		}
		w := Draw(1).WithConvention(in).weights(ladder.Len(), 0)
		row := func(isa string, values []float32) []uint64 {
			to := make([]uint64, len(values)+1)
			newLookup(grid.Float32, ladder, w, ladder.Len(), isa).row(to[:len(values)], grid.Bytes(values), nil, 0)
			return to // with a weight of 0 behind
		}
		for _, n := range []int{1, 7, 8, 63, 64, 65, 100, 127, 128, 129, 320, 383} {
			from := random.IntN(len(values) - n + 1)
			if n%2 > 0 {
				from = 0
			}
			want := row("portable", values[from:from+n])
			for _, isa := range available() {
				if got := row(isa, values[from:from+n]); !slices.Equal(got, want) {
					t.Errorf("%+v, %s: %d values from %d on have other weights", in, isa, n, from)
				}
			}
		}
	}
}
