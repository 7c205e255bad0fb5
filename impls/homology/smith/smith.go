// Package smith diagonalises dense matrices over the integers for implementations of homology. The
// witness of their answers uses another method.
package smith

import (
	"errors"
	"math/big"
	"math/bits"
	"slices"
)

// Form is the rank of a boundary matrix over the integers and the entries of a diagonal form
// of it that are more than 1: of n simplices and m faces, faces gives those of each. Diagonals
// that do not divide each other are of the same group. The matrix is a full one. The rank is right where
// an entry has more than 64 bits, too, which is an error.
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

// ErrLong is why an order is not told.
var ErrLong = errors.New("a torsion coefficient has more than 64 bits")

// diagonal is the rank of a full matrix over the integers, which it changes, and the entries of a
// diagonal form of it that are more than 1, or ErrLong.
func diagonal(rows [][]*big.Int) (rank int64, torsion []uint64, err error) {
	if len(rows) == 0 {
		return 0, nil, nil
	}
	n, m := int64(len(rows)), int64(len(rows[0]))
	q, t := new(big.Int), new(big.Int)
	for rank < min(n, m) {
		// The least entry that is left is made the only one of its row and its column.
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
			continue // with what was left over, which is less
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

// least is the place of the least entry of a matrix from a row and column on, -1 where all are 0.
func least(rows [][]*big.Int, from int64) (row, column int64) {
	row = -1
	for i := from; i < int64(len(rows)); i++ {
		for c := from; c < int64(len(rows[i])); c++ {
			if v := rows[i][c]; v.Sign() != 0 && (row < 0 || v.CmpAbs(rows[row][column]) < 0) {
				row, column = i, c
				if v.BitLen() == 1 { // there is no less than 1 or -1
					return row, column
				}
			}
		}
	}
	return row, column
}

// Factors are the orders of a sum of cyclic groups as invariant factors: each more than 1, and
// each divides the next. The last one may have more than 64 bits, which is an error.
func Factors(orders []uint64) ([]uint64, error) {
	// Of each two, the greatest common divisor and the least common multiple are the same group.
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
