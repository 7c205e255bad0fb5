// Package smith diagonalises dense matrices over the integers for implementations of homology.
// Witnesses of their answers use another method.
package smith

import (
	"errors"
	"math/big"
	"math/bits"
	"slices"
)

// Form returns the rank of the boundary matrix of n simplices and m faces over the integers. It
// also returns the entries above 1 of a diagonal form, which need not divide each other. The matrix
// is dense. If an entry has more than 64 bits, the error is ErrLong and the rank is still right.
func Form(n, m int64, faces func(simplex int64) []uint32) (rank int64, torsion []uint64, err error) {
	rows := make([][]*big.Int, n)
	for i := range rows {
		rows[i] = make([]*big.Int, m)
		for c := range rows[i] {
			rows[i][c] = new(big.Int)
		}
		for k, face := range faces(int64(i)) {
			rows[i][face].SetInt64(int64(1 - 2*(k%2)))
		}
	}
	return diagonal(rows)
}

// ErrLong reports an order of more than 64 bits.
var ErrLong = errors.New("a torsion coefficient has more than 64 bits; use a field, such as Q")

// diagonal returns the rank of a dense matrix over the integers, and the entries above 1 of a
// diagonal form, or ErrLong. It changes the matrix.
func diagonal(rows [][]*big.Int) (rank int64, torsion []uint64, err error) {
	if len(rows) == 0 {
		return 0, nil, nil
	}
	n, m := int64(len(rows)), int64(len(rows[0]))
	q, t := new(big.Int), new(big.Int)
	for rank < min(n, m) {
		// Make the smallest remaining entry the only one of its row and column.
		row, column := least(rows, rank)
		if row < 0 {
			break
		}
		rows[rank], rows[row] = rows[row], rows[rank]
		for i := range rows {
			rows[i][rank], rows[i][column] = rows[i][column], rows[i][rank]
		}
		pivot, alone := rows[rank][rank], true
		for i := rank + 1; i < n; i++ {
			if q.Quo(rows[i][rank], pivot).Sign() != 0 {
				for c := rank; c < m; c++ {
					rows[i][c].Sub(rows[i][c], t.Mul(q, rows[rank][c]))
				}
			}
			alone = alone && rows[i][rank].Sign() == 0
		}
		for c := rank + 1; c < m; c++ {
			if q.Quo(rows[rank][c], pivot).Sign() != 0 {
				for i := rank; i < n; i++ {
					rows[i][c].Sub(rows[i][c], t.Mul(q, rows[i][rank]))
				}
			}
			alone = alone && rows[rank][c].Sign() == 0
		}
		if !alone {
			continue // continue with the remainders, which are smaller
		}
		if v := t.Abs(pivot); !v.IsUint64() {
			err = ErrLong
		} else if v.Uint64() > 1 {
			torsion = append(torsion, v.Uint64())
		}
		rank++
	}
	return rank, torsion, err
}

// least returns the place of the smallest nonzero entry from a row and column on, or −1 if there is
// none.
func least(rows [][]*big.Int, from int64) (row, column int64) {
	row = -1
	for i := from; i < int64(len(rows)); i++ {
		for c := from; c < int64(len(rows[i])); c++ {
			if v := rows[i][c]; v.Sign() != 0 && (row < 0 || v.CmpAbs(rows[row][column]) < 0) {
				row, column = i, c
				if v.BitLen() == 1 { // nothing is smaller than 1 or -1
					return row, column
				}
			}
		}
	}
	return row, column
}

// Factors converts a sum of cyclic groups to invariant factors: each is above 1 and divides the
// next. It is an error if a factor has more than 64 bits.
func Factors(orders []uint64) ([]uint64, error) {
	// Replace each pair by its greatest common divisor and least common multiple: the group is the
	// same.
	list := slices.Clone(orders)
	for i := range list {
		for j := i + 1; j < len(list); j++ {
			g := gcd(list[i], list[j])
			more, least := bits.Mul64(list[i]/g, list[j])
			if more > 0 {
				return nil, ErrLong
			}
			list[i], list[j] = g, least
		}
	}
	return slices.DeleteFunc(list, func(v uint64) bool { return v == 1 }), nil
}

func gcd(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
