// Package rankstest computes ranks and invariant factors of small integer matrices from their
// minors, by definition.
package rankstest

import (
	"math/big"
	"math/rand/v2"
)

// Divisors returns the greatest common divisors of all minors of one row, of two, and so on, until
// all are 0. Their number is the rank. The number of divisors without the factor p is the rank over
// the field of p elements.
func Divisors(m [][]int64) (list []*big.Int) {
	for k := 1; len(m) > 0 && k <= min(len(m), len(m[0])); k++ {
		all := new(big.Int)
		subsets(len(m), k, func(rows []int) {
			subsets(len(m[0]), k, func(columns []int) { all.GCD(nil, nil, all, det(m, rows, columns)) })
		})
		if all.Sign() == 0 {
			break
		}
		list = append(list, all)
	}
	return list
}

// Factors returns the invariant factors. Each divides the next.
func Factors(m [][]int64) (list []*big.Int) {
	last := big.NewInt(1)
	for _, d := range Divisors(m) {
		list, last = append(list, new(big.Int).Quo(d, last)), d
	}
	return list
}

// Rank returns the rank over the field of p elements, or over the rationals if p is 0.
func Rank(m [][]int64, p int64) (rank int64) {
	for _, d := range Divisors(m) {
		if p == 0 || new(big.Int).Mod(d, big.NewInt(p)).Sign() != 0 {
			rank++
		}
	}
	return rank
}

// subsets calls f with each k of n numbers.
func subsets(n, k int, f func([]int)) {
	var some []int
	var from func(at int)
	from = func(at int) {
		if len(some) == k {
			f(some)
			return
		}
		for ; at < n; at++ {
			some = append(some, at)
			from(at + 1)
			some = some[:len(some)-1]
		}
	}
	from(0)
}

// det is the determinant of some rows and columns, as many of each, along the first row.
func det(m [][]int64, rows, columns []int) *big.Int {
	sum := new(big.Int)
	if len(rows) == 0 {
		return sum.SetInt64(1)
	}
	for k, c := range columns {
		rest := append(append([]int(nil), columns[:k]...), columns[k+1:]...)
		term := new(big.Int).Mul(big.NewInt(m[rows[0]][c]), det(m, rows[1:], rest))
		if k%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}

// Random returns a matrix of one to four rows and columns. Each third entry is 0, the others are
// from −most to most.
func Random(rng *rand.Rand, most int64) [][]int64 {
	m := make([][]int64, 1+rng.IntN(4))
	columns := 1 + rng.IntN(4)
	for i := range m {
		m[i] = make([]int64, columns)
		for k := range m[i] {
			if rng.IntN(3) > 0 {
				m[i][k] = rng.Int64N(2*most+1) - most
			}
		}
	}
	return m
}
