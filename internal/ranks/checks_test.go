package ranks

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover ranks over small fields and the greatest.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "inverses", Of: inverses},
		{Name: "ranks of columns and their sums", Of: sumsAddNothing},
		{Name: "fields", Of: fieldsDiffer},
	}
}

var fields = []int64{2, 3, MostPrime}

// The inverse of a unit times it is 1, also in a field so large that squares need 62 bits.
func inverses(t *testing.T) {
	for _, p := range fields {
		for _, v := range []int64{1, 2, 3, 1 << 16, 65537, 1<<31 - 3, 1<<31 - 2} {
			if v = v % p; v == 0 {
				continue
			}
			if inverse := power(v, p-2, p); v*inverse%p != 1 {
				t.Errorf("%d · %d is %d modulo %d", v, inverse, v*inverse%p, p)
			}
		}
	}
}

// of returns the rank of a full matrix by its columns.
func of(columns [][]int64, p int64) int64 {
	return Rank(int64(len(columns[0])), int64(len(columns)), p, func(i int64, list []Term) []Term {
		for row, v := range columns[i] {
			if v != 0 {
				list = append(list, Term{uint32(row), v})
			}
		}
		return list
	})
}

// Columns that are sums of independent ones do not change the rank. Independent columns have a
// triangle of ones.
func sumsAddNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		rows, independent, more := 4+rng.IntN(8), 1+rng.IntN(4), rng.IntN(5)
		var columns [][]int64
		for k := range independent {
			column := make([]int64, rows)
			column[k] = 1
			for i := k + 1; i < rows; i++ {
				column[i] = rng.Int64N(9) - 4
			}
			columns = append(columns, column)
		}
		for range more {
			column := make([]int64, rows)
			for _, base := range columns[:independent] {
				times := rng.Int64N(9) - 4
				for i, v := range base {
					column[i] += times * v
				}
			}
			columns = append(columns, column)
		}
		rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		for _, p := range fields {
			if rank := of(columns, p); rank != int64(independent) {
				t.Fatalf("rank %d of %v over the field of %d, want %d", rank, columns, p, independent)
			}
		}
	}
}

// A column that is twice another over the integers vanishes over two elements.
func fieldsDiffer(t *testing.T) {
	columns := [][]int64{{2, 0}, {0, 1}, {0, 3}}
	for p, want := range map[int64]int64{2: 1, 3: 2, MostPrime: 2} {
		if got := of(columns, p); got != want {
			t.Errorf("rank %d over %d, want %d", got, p, want)
		}
	}
}
