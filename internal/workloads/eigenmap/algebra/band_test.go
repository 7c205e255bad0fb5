package algebra

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A factored band solves its equations and counts the eigenvalues below a shift, for any width. The
// rounding of a single number is three units.
func TestBandsSolve(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for n := 1; n < 12; n++ {
		for width := range n + 2 {
			b, dense := NewBand(n, width), mat.NewSymDense(n, nil)
			for i := range n {
				for j := max(0, i-width); j <= i; j++ {
					v := random.Float64() - 0.5
					if i == j {
						v += 0.5
					}
					dense.SetSym(i, j, v)
					if i%2 == 0 { // from either side, and in parts
						b.Add(i, j, v/2)
						b.Add(j, i, v/2)
					} else {
						b.Add(i, j, v)
					}
				}
			}
			var e mat.EigenSym
			if !e.Factorize(dense, false) {
				t.Fatal("no eigenvalues")
			}
			const shift = 0.3
			want := 0
			for _, v := range e.Values(nil) {
				if v < shift {
					want++
				}
			}
			got, _, err := b.Factor(shift)
			if err != nil || got != want {
				t.Fatalf("%d numbers, width %d: %d below %v, want %d, %v", n, width, got, shift, want, err)
			}
			x := make([]float64, n)
			for i := range x {
				x[i] = random.Float64() - 0.5
			}
			right := slices.Clone(x)
			b.Solve(x)
			for i := range n {
				sum := -shift * x[i]
				for j := range n {
					sum += dense.At(i, j) * x[j]
				}
				if math.Abs(sum-right[i]) > 1e-9*(1+Norm(x)) {
					t.Fatalf("%d numbers, width %d: equation %d is off by %g", n, width, i, sum-right[i])
				}
			}
		}
	}
	one := NewBand(1, 5)
	one.Add(0, 0, 2)
	if n, bound, err := one.Factor(4); n != 1 || bound != 3*2./(1<<53) || err != nil {
		t.Errorf("%d below, rounding %g, %v", n, bound, err)
	}
	zero := NewBand(2, 1)
	zero.Add(1, 0, 1)
	if _, _, err := zero.Factor(0); err == nil {
		t.Error("a pivot of 0 is taken")
	}
}
