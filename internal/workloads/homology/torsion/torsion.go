// Package torsion computes the rank of a sparse matrix over the integers, and the orders of the
// torsion of its cokernel, for the witness of homology. It shares nothing with implementations.
// Columns that start with 1 or −1 are pivots. The small rest is diagonalised modulo twice one of
// its greatest minors (Iliopoulos 1989); each order divides that minor, so no prime has to be
// known.
package torsion

import (
	"math/big"
	"slices"

	"eccbench/internal/verify"
)

// A Term is an entry of a column.
type Term struct {
	Row   uint32
	Times int64
}

// Bounds of the work: entries up to mostEntry, so that products fit 64 bits, mostSteps steps in
// all, and mostFull products in full matrices.
const (
	mostEntry = 1 << 30
	mostSteps = 4e9
	mostFull  = 1e8
)

// A matrix is eliminated from left to right.
type matrix struct {
	first [][]Term // for each row: the column that begins with it, with coefficient 1
	aside [][]Term // columns that begin with another number
	steps float64
}

// Compute returns the rank of a matrix, and its invariant factors above 1. column appends the entries of
// column i to a list, each row once.
func Compute(
	rows, columns int64, column func(i int64, list []Term) []Term,
) (rank int64, orders []*big.Int, err error) {
	m := &matrix{first: make([][]Term, rows)}
	var list []Term
	for i := range columns {
		list = column(i, list[:0])
		slices.SortFunc(list, func(a, b Term) int { return int(int64(b.Row) - int64(a.Row)) })
		now := list
		for len(now) > 0 && m.first[now[0].Row] != nil {
			if now, err = m.reduceColumn(now); err != nil {
				return 0, nil, err
			}
		}
		if len(now) == 0 {
			continue
		}
		now = slices.Clone(now)
		if v := now[0].Times; v != 1 && v != -1 {
			m.aside = append(m.aside, now)
			continue
		} else if v < 0 {
			for k := range now {
				now[k].Times = -now[k].Times
			}
		}
		m.first[now[0].Row] = now
		rank++
	}
	full, err := m.rest()
	if err != nil {
		return 0, nil, err
	}
	more, orders := smith(full)
	return rank + more, orders, nil
}

// reduceColumn subtracts the kept column that begins with the same row, so that the row becomes 0.
func (m *matrix) reduceColumn(now []Term) ([]Term, error) {
	other, times := m.first[now[0].Row][1:], now[0].Times
	now = now[1:]
	sum := make([]Term, 0, len(now)+len(other))
	for len(now) > 0 || len(other) > 0 {
		switch {
		case len(other) == 0 || len(now) > 0 && now[0].Row > other[0].Row:
			sum, now = append(sum, now[0]), now[1:]
		case len(now) == 0 || other[0].Row > now[0].Row:
			sum, other = append(sum, Term{other[0].Row, -times * other[0].Times}), other[1:]
		default:
			if v := now[0].Times - times*other[0].Times; v != 0 {
				sum = append(sum, Term{now[0].Row, v})
			}
			now, other = now[1:], other[1:]
		}
		if n := len(sum); n > 0 && (sum[n-1].Times > mostEntry || sum[n-1].Times < -mostEntry) {
			return nil, verify.Undecided("an entry of a boundary matrix grows beyond %d under elimination", mostEntry)
		}
	}
	if m.steps += float64(len(sum) + 1); m.steps > mostSteps {
		return nil, verify.Undecided("elimination over the integers takes more than %.0e steps", mostSteps)
	}
	return sum, nil
}

// rest is the full matrix of the columns aside, without the rows that kept columns begin with.
func (m *matrix) rest() ([][]*big.Int, error) {
	var columns [][]Term
	number := map[uint32]int{}
	for _, now := range m.aside {
		var left []Term
		var err error
		for len(now) > 0 {
			if m.first[now[0].Row] == nil {
				left, now = append(left, now[0]), now[1:]
			} else if now, err = m.reduceColumn(now); err != nil {
				return nil, err
			}
		}
		if len(left) == 0 {
			continue
		}
		for _, t := range left {
			if _, ok := number[t.Row]; !ok {
				number[t.Row] = len(number)
			}
		}
		columns = append(columns, left)
	}
	if n, k := float64(len(columns)), float64(len(number)); n*k*min(n, k) > mostFull {
		return nil, verify.Undecided("a full matrix of %d × %d integers is left to diagonalise", len(columns), len(number))
	}
	full := make([][]*big.Int, len(columns))
	for i, column := range columns {
		full[i] = make([]*big.Int, len(number))
		for k := range full[i] {
			full[i][k] = new(big.Int)
		}
		for _, t := range column {
			full[i][number[t.Row]].SetInt64(t.Times)
		}
	}
	return full, nil
}

// smith returns the rank of a full matrix over the integers, and its invariant factors above 1.
// Each divides the next.
func smith(full [][]*big.Int) (rank int64, orders []*big.Int) {
	rank, minor := minorOf(full)
	if rank == 0 {
		return 0, nil
	}
	m := new(big.Int).Lsh(minor.Abs(minor), 1)
	for _, v := range residues(full, m) {
		orders = append(orders, v.GCD(nil, nil, v, m))
	}
	// A residue of 0 has no pivot: a factor is at most half of the modulus.
	return rank, slices.DeleteFunc(Chain(orders), func(v *big.Int) bool { return v.Cmp(m) == 0 })
}

// minorOf returns the rank of a matrix, and a minor of as many rows that is not 0 (Bareiss 1968).
func minorOf(full [][]*big.Int) (rank int64, minor *big.Int) {
	a := make([][]*big.Int, len(full))
	for i, row := range full {
		for _, v := range row {
			a[i] = append(a[i], new(big.Int).Set(v))
		}
	}
	minor = big.NewInt(1)
	t := new(big.Int)
	for column := 0; len(a) > 0 && column < len(a[0]) && int(rank) < len(a); column++ {
		r := int(rank)
		at := slices.IndexFunc(a[r:], func(row []*big.Int) bool { return row[column].Sign() != 0 })
		if at < 0 {
			continue
		}
		a[r], a[r+at] = a[r+at], a[r]
		pivot := a[r][column]
		for i := r + 1; i < len(a); i++ {
			for c := len(a[i]) - 1; c > column; c-- {
				a[i][c].Mul(a[i][c], pivot)
				a[i][c].Sub(a[i][c], t.Mul(a[i][column], a[r][c]))
				a[i][c].Quo(a[i][c], minor) // without a remainder
			}
			a[i][column].SetInt64(0)
		}
		minor = pivot
		rank++
	}
	return rank, new(big.Int).Set(minor)
}

// residues returns the diagonal of a matrix modulo m, by greatest common divisors of two rows or columns at a
// time.
func residues(full [][]*big.Int, m *big.Int) (diagonal []*big.Int) {
	a := make([][]*big.Int, len(full))
	for i, row := range full {
		for _, v := range row {
			a[i] = append(a[i], new(big.Int).Mod(v, m))
		}
	}
	n := min(len(a), len(a[0]))
	for k := range n {
		for clean := false; !clean; {
			clean = true
			for i := k + 1; i < len(a); i++ {
				if a[i][k].Sign() != 0 {
					meet(m, len(a[0]), k, func(c int) **big.Int { return &a[k][c] }, func(c int) **big.Int { return &a[i][c] })
				}
			}
			for c := k + 1; c < len(a[0]); c++ {
				if a[k][c].Sign() != 0 {
					meet(m, len(a), k, func(i int) **big.Int { return &a[i][k] }, func(i int) **big.Int { return &a[i][c] })
				}
			}
			for i := k + 1; i < len(a); i++ {
				clean = clean && a[i][k].Sign() == 0
			}
		}
		diagonal = append(diagonal, a[k][k])
	}
	return diagonal
}

// meet combines two lines of n numbers. Number k of the first becomes their greatest common
// divisor, and number k of the second 0.
func meet(m *big.Int, n, k int, first, second func(int) **big.Int) {
	a, b := *first(k), *second(k)
	var x, y big.Int
	g := new(big.Int)
	if a.Sign() != 0 && new(big.Int).Rem(b, a).Sign() == 0 { // so that a pivot that divides all stays
		x.SetInt64(1)
		g.Set(a)
	} else {
		g.GCD(&x, &y, a, b)
	}
	u, v := new(big.Int).Quo(a, g), new(big.Int).Quo(b, g)
	for c := range n {
		p, q := *first(c), *second(c)
		one := new(big.Int).Add(new(big.Int).Mul(&x, p), new(big.Int).Mul(&y, q))
		two := new(big.Int).Sub(new(big.Int).Mul(u, q), new(big.Int).Mul(v, p))
		*first(c), *second(c) = one.Mod(one, m), two.Mod(two, m)
	}
}

// Chain returns the invariant factors above 1 of a sum of cyclic groups. Each divides the next.
func Chain(orders []*big.Int) (list []*big.Int) {
	for _, v := range orders {
		list = append(list, new(big.Int).Set(v))
	}
	for more := true; more; {
		more = false
		for i := 1; i < len(list); i++ {
			g := new(big.Int).GCD(nil, nil, list[i-1], list[i])
			if g.Cmp(list[i-1]) == 0 {
				continue
			}
			list[i].Mul(list[i], new(big.Int).Quo(list[i-1], g))
			list[i-1], more = g, true
		}
	}
	return slices.DeleteFunc(list, func(v *big.Int) bool { return v.IsUint64() && v.Uint64() == 1 })
}
