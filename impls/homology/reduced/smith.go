package reduced

import (
	"errors"
	"math/big"
	"slices"

	"eccbench/impls/homology/smith"
)

// A scalar is an integer: small, or large if it does not fit. Over a field it is always small.
type scalar struct {
	small int64
	large *big.Int
}

// mostSmall is the largest absolute value of a small integer, so that products fit 64 bits.
const mostSmall = 1<<31 - 1

func one() scalar { return scalar{small: 1} }

func (a scalar) zero() bool { return a.small == 0 && a.large == nil }

// unit reports whether the scalar has an inverse.
func (a scalar) unit(p int64) bool {
	return !a.zero() && (p > 0 || a.large == nil && (a.small == 1 || a.small == -1))
}

func (a scalar) big() *big.Int {
	if a.large != nil {
		return a.large
	}
	return big.NewInt(a.small)
}

// fit returns the scalar of an integer, modulo p if p > 0.
func fit(v int64, p int64) scalar {
	switch {
	case p > 0:
		return scalar{small: (v%p + p) % p}
	case v > mostSmall || v < -mostSmall:
		return scalar{large: big.NewInt(v)}
	}
	return scalar{small: v}
}

func fitBig(v *big.Int) scalar {
	if v.IsInt64() {
		return fit(v.Int64(), 0)
	}
	return scalar{large: v}
}

func (a scalar) plus(b scalar, p int64) scalar {
	if a.large == nil && b.large == nil {
		return fit(a.small+b.small, p)
	}
	return fitBig(new(big.Int).Add(a.big(), b.big()))
}

func (a scalar) times(b scalar, p int64) scalar {
	if a.large == nil && b.large == nil {
		return fit(a.small*b.small, p)
	}
	return fitBig(new(big.Int).Mul(a.big(), b.big()))
}

func (a scalar) negative(p int64) scalar {
	if a.large == nil {
		return fit(-a.small, p)
	}
	return fitBig(new(big.Int).Neg(a.large))
}

// inverse returns the inverse of a unit.
func (a scalar) inverse(p int64) scalar {
	if p == 0 {
		return a
	}
	return scalar{small: new(big.Int).ModInverse(big.NewInt(a.small), big.NewInt(p)).Int64()}
}

// An entry is a nonzero entry of a row. Entries are sorted by column.
type entry struct {
	column int32
	value  scalar
}

type row []entry

func (r row) sort() { slices.SortFunc(r, func(a, b entry) int { return int(a.column - b.column) }) }

// valueIn returns the value in a column.
func (r row) valueIn(column int32) (scalar, bool) {
	i, ok := slices.BinarySearchFunc(r, column, func(e entry, c int32) int { return int(e.column - c) })
	if !ok {
		return scalar{}, false
	}
	return r[i].value, true
}

// plus returns r + times · other.
func (r row) plus(other row, times scalar, p int64) row {
	var sum row
	for len(r) > 0 || len(other) > 0 {
		var e entry
		switch {
		case len(other) == 0 || len(r) > 0 && r[0].column < other[0].column:
			e, r = r[0], r[1:]
		case len(r) == 0 || other[0].column < r[0].column:
			e, other = entry{other[0].column, other[0].value.times(times, p)}, other[1:]
		default:
			e = entry{r[0].column, r[0].value.plus(other[0].value.times(times, p), p)}
			r, other = r[1:], other[1:]
		}
		if !e.value.zero() {
			sum = append(sum, e)
		}
	}
	return sum
}

// ranked returns the rank of a matrix, and over the integers (p = 0) the non-unit entries of a
// diagonal form.
func ranked(rows []row, p int64) (rank int64, rest []*big.Int) {
	// Each column lists the rows that contain it, or once did.
	in := map[int32][]int{}
	for i, r := range rows {
		for _, e := range r {
			in[e.column] = append(in[e.column], i)
		}
	}
	for more := true; more; {
		more = false
		for i := range rows {
			at := slices.IndexFunc(rows[i], func(e entry) bool { return e.value.unit(p) })
			if at < 0 {
				continue
			}
			pivot := rows[i]
			column, inverse := pivot[at].column, pivot[at].value.inverse(p)
			rank++
			more = true
			for _, k := range in[column] { // the row itself becomes empty
				v, ok := rows[k].valueIn(column)
				if !ok {
					continue
				}
				rows[k] = rows[k].plus(pivot, v.times(inverse, p).negative(p), p)
				for _, e := range pivot {
					in[e.column] = append(in[e.column], k)
				}
			}
			delete(in, column)
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return len(r) == 0 })
	rest = diagonal(rows)
	return rank + int64(len(rest)), rest
}

// diagonal returns the nonzero entries of a diagonal form of a matrix. It repeatedly makes the
// smallest entry the only one of its row and column.
func diagonal(rows []row) (list []*big.Int) {
	for len(rows) > 0 {
		var at int
		var column int32
		var least *big.Int
		for i, r := range rows {
			for _, e := range r {
				if v := e.value.big(); least == nil || v.CmpAbs(least) < 0 {
					at, column, least = i, e.column, v
				}
			}
		}
		pivot, alone := rows[at], true
		for i, r := range rows {
			if v, ok := r.valueIn(column); ok && i != at {
				q := new(big.Int).Quo(v.big(), least)
				rows[i] = r.plus(pivot, fitBig(q.Neg(q)), 0)
				_, left := rows[i].valueIn(column)
				alone = alone && !left
			}
		}
		if alone { // column operations with the pivot change only the pivot's row
			var rest row
			for _, e := range pivot {
				if e.column == column {
					rest = append(rest, e)
				} else if m := new(big.Int).Rem(e.value.big(), least); m.Sign() != 0 {
					rest = append(rest, entry{e.column, fitBig(m)})
					alone = false
				}
			}
			rows[at] = rest
		}
		if alone {
			list = append(list, new(big.Int).Abs(least))
			rows[at] = nil
		}
		rows = slices.DeleteFunc(rows, func(r row) bool { return len(r) == 0 })
	}
	return list
}

// orders converts the entries of a diagonal form to invariant factors: orders of cyclic groups that
// divide each other.
func orders(list []*big.Int) ([]uint64, error) {
	var orders []uint64
	for _, v := range list {
		if !v.IsUint64() {
			return nil, errors.New("a torsion coefficient has more than 64 bits; use a field, such as Q")
		}
		orders = append(orders, v.Uint64())
	}
	return smith.Factors(orders)
}
