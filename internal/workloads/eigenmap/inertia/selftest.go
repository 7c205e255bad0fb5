package inertia

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// SelfTest compares products of any size and rows of L with those of plain loops, on numbers drawn from the seed.
func SelfTest(seed uint32) error {
	random := rand.New(rand.NewPCG(uint64(seed), 2))
	list := func(n int) []float64 {
		l := make([]float64, n)
		for i := range l {
			l[i] = float64(random.IntN(64)) - 32 // sums are exact
		}
		return l
	}
	for n := range 40 {
		rows, columns, k := 1+random.IntN(21), 1+random.IntN(block), lanes*random.IntN(1+10*n/lanes)
		if n%10 == 0 {
			k += 2 * deep
		}
		lda, ldb, ldc := k+random.IntN(5), k+random.IntN(5), columns+random.IntN(5)
		a, b, got := list(rows*lda), list(block*ldb), list(rows*ldc)
		want := slices.Clone(got)
		for i := range rows {
			for j := range columns {
				for t := range k {
					want[i*ldc+j] -= a[i*lda+t] * b[j*ldb+t]
				}
			}
		}
		if subtractProducts(got, ldc, a, lda, rows, b, ldb, columns, k); !slices.Equal(got, want) {
			return fmt.Errorf("%d × %d products of %d numbers with seed %d: vector instructions of this processor give another "+
				"result than Go code does", rows, columns, k, seed)
		}
	}
	return testRows(random)
}

// testRows substitutes some rows of a block, of integers and powers of two: all numbers are exact.
func testRows(random *rand.Rand) error {
	for width := 1; width <= block; width++ {
		rows, before := 1+random.IntN(9), random.IntN(3)
		p := before + width
		f := &front{pivots: p, panel: make([]float64, rows*p+lanes-1), d: make([]float64, p)}
		for i := range f.panel {
			f.panel[i] = float64(random.IntN(64)) - 32
		}
		var transposed [block * block]float64
		for c := range width {
			f.d[before+c] = math.Ldexp(1-2*float64(random.IntN(2)), random.IntN(9)-4)
			for r := c + 1; r < width; r++ {
				transposed[c*block+r] = float64(random.IntN(3) - 1)
			}
		}
		want := &front{pivots: p, panel: slices.Clone(f.panel), d: f.d}
		for i := range rows {
			want.substitute(want.panel[i*p+before:][:width], &transposed, before)
		}
		if f.substituteRows(0, rows, before, width, &transposed); !slices.Equal(f.panel, want.panel) {
			return fmt.Errorf("%d rows of L of %d numbers: vector instructions of this processor give another result than "+
				"Go code does", rows, width)
		}
	}
	return nil
}
