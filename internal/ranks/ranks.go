// Package ranks finds ranks of sparse matrices over the field of a prime by elimination.
package ranks

import "slices"

// A Term is an entry of a column: its row, and its integer coefficient.
type Term struct {
	Row   uint32
	Times int64
}

// MostPrime is the greatest prime, so that products fit 64 bits.
const MostPrime = 1<<31 - 1

// An entry is a term over the field.
type entry struct{ row, times uint32 }

// pieceEntries is the number of entries of kept columns in one piece of memory.
const pieceEntries = 1 << 16

// Rank returns the rank of a matrix over the field of p elements. column appends the entries of column
// i to a list, each row once. Columns are eliminated from left to right, each by the earlier ones
// that begin with the same row, the last one first.
func Rank(rows, columns int64, p int64, column func(i int64, list []Term) []Term) (rank int64) {
	first := make([][]entry, rows) // with coefficient 1 there
	var list []Term
	var now, sum, piece []entry
	for i := range columns {
		list = column(i, list[:0])
		now = now[:0]
		for _, t := range list {
			if times := (t.Times%p + p) % p; times != 0 {
				now = append(now, entry{t.Row, uint32(times)})
			}
		}
		slices.SortFunc(now, func(a, b entry) int { return int(int64(b.row) - int64(a.row)) })
		for len(now) > 0 {
			at := now[0].row
			other := first[at]
			if other == nil {
				if inverse := power(int64(now[0].times), p-2, p); inverse != 1 {
					for j := range now {
						now[j].times = uint32(int64(now[j].times) * inverse % p)
					}
				}
				if len(now) > cap(piece)-len(piece) {
					piece = make([]entry, 0, max(pieceEntries, len(now)))
				}
				from := len(piece)
				piece = append(piece, now...)
				first[at] = piece[from:len(piece):len(piece)]
				rank++
				break
			}
			if p == 2 {
				sum = differ(sum[:0], now[1:], other[1:])
			} else {
				sum = subtractMultiple(sum[:0], now[1:], other[1:], int64(now[0].times), p)
			}
			now, sum = sum, now
		}
	}
	return rank
}

// differ appends the entries that exactly one of two columns has: their sum over two elements.
func differ(sum, a, b []entry) []entry {
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0].row, b[0].row; {
		case x > y:
			sum, a = append(sum, a[0]), a[1:]
		case x < y:
			sum, b = append(sum, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...)
}

// subtractMultiple appends column a minus times × column b.
func subtractMultiple(sum, a, b []entry, times, p int64) []entry {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].row > b[0].row:
			sum, a = append(sum, a[0]), a[1:]
		case len(a) == 0 || b[0].row > a[0].row:
			sum, b = append(sum, entry{b[0].row, uint32((p - times) * int64(b[0].times) % p)}), b[1:]
		default:
			if t := (int64(a[0].times) + (p-times)*int64(b[0].times)) % p; t != 0 {
				sum = append(sum, entry{a[0].row, uint32(t)})
			}
			a, b = a[1:], b[1:]
		}
	}
	return sum
}

// power is v to the power of n modulo p: v itself for a field of 2, whose only unit is 1.
func power(v, n, p int64) int64 {
	out := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = out * v % p
		}
		v = v * v % p
	}
	return out
}
