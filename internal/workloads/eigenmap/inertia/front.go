package inertia

import (
	"errors"
	"math"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/isa"
)

// ErrPivot reports that a matrix has no LDLᵀ without pivoting. With another shift it may have one.
var ErrPivot = errors.New("a pivot is 0")

// fast reports whether vector instructions compute the products.
var fast = isa.Available(assembled)[0] != isa.Portable && isa.FMA()

// A front is the dense matrix in which some nodes, the pivots, are eliminated. The rows of its
// panel are the pivots, then the border: the remaining nodes. Its columns are the pivots. Only
// lower triangles of symmetric parts are stored. After factor, the panel contains L, and update the
// remaining matrix of the border.
type front struct {
	pivots, border int
	panel          []float64 // (pivots + border) × pivots
	d              []float64 // the diagonal of D
	update         []float64 // border × border
}

func newFront(pivots, border int) *front {
	return &front{
		pivots, border, make([]float64, (pivots+border)*pivots), make([]float64, pivots), make([]float64, border*border),
	}
}

// add adds v to the numbers at (i, j) and (j, i).
func (f *front) add(i, j int, v float64) {
	if i < j {
		i, j = j, i
	}
	if p := f.pivots; j < p {
		f.panel[i*p+j] += v
	} else {
		f.update[(i-p)*f.border+j-p] += v
	}
}

// block is the number of columns that are eliminated together.
const block = 24

// factor eliminates the pivots.
func (f *front) factor(threads int) error {
	p, rows := f.pivots, f.pivots+f.border
	scaled := make([]float64, block*p) // rows of L, times D
	for at := 0; at < p; at += block {
		width := min(block, p-at)
		f.scale(scaled, at, width, at)
		subtractProducts(f.panel[at*p+at:], p, f.panel[at*p:], p, width, scaled, p, width, at)
		for r := range width {
			row := f.panel[(at+r)*p+at:]
			d := row[r] - f.substitute(row[:r], at)
			if d == 0 || math.IsNaN(d) || math.IsInf(d, 0) {
				return ErrPivot
			}
			f.d[at+r] = d
		}
		first := at + width
		share(threads, rows-first, first*width, func(lo, hi int) {
			lo, hi = lo+first, hi+first
			subtractProducts(f.panel[lo*p+at:], p, f.panel[lo*p:], p, hi-lo, scaled, p, width, at)
			for i := lo; i < hi; i++ {
				f.substitute(f.panel[i*p+at:][:width], at)
			}
		})
	}
	var next atomic.Int64
	share(threads, threads, f.border*f.border*p, func(_, _ int) {
		scaled := make([]float64, block*p)
		for {
			k := block * int(next.Add(1)-1)
			if k >= f.border {
				return
			}
			width := min(block, f.border-k)
			f.scale(scaled, p+k, width, p)
			subtractProducts(f.update[k*f.border+k:], f.border, f.panel[(p+k)*p:], p, f.border-k, scaled, p, width, p)
		}
	})
	return nil
}

// scale copies the first n numbers of some rows of L, times D, to to.
func (f *front) scale(to []float64, row, rows, n int) {
	p := f.pivots
	for r := range rows {
		l, out := f.panel[(row+r)*p:][:n], to[r*p:][:n]
		for k, v := range l {
			out[k] = v * f.d[k]
		}
	}
}

// substitute converts the rest of a row, in the columns of a block from at on, to a row of L. It
// returns the amount to subtract from the row's diagonal.
func (f *front) substitute(row []float64, at int) (less float64) {
	p := f.pivots
	for c, s := range row {
		l := f.panel[(at+c)*p+at:][:c]
		for t, v := range row[:c] {
			s -= v * l[t]
		}
		row[c] = s
	}
	for c, s := range row {
		row[c] = s / f.d[at+c]
		less += s * row[c]
	}
	return less
}

// negative returns the number of negative pivots.
func (f *front) negative() (n int) {
	for _, d := range f.d {
		if d < 0 {
			n++
		}
	}
	return n
}

// sizes adds the row sums of |L
//
// # D
//
// Lᵀ| to y.
func (f *front) sizes(y []float64) {
	p := f.pivots
	z := make([]float64, p)
	for j := range z {
		z[j] = 1
	}
	for i := range y {
		for j, l := range f.panel[i*p:][:min(i, p)] {
			z[j] += math.Abs(l)
		}
	}
	for j, d := range f.d {
		z[j] *= math.Abs(d)
		y[j] += z[j]
	}
	for i := range y {
		sum := 0.0
		for j, l := range f.panel[i*p:][:min(i, p)] {
			sum += math.Abs(l) * z[j]
		}
		y[i] += sum
	}
}

// subtractProducts subtracts from c (rows × columns) the products of rows of a and of b, of k
// numbers each.
func subtractProducts(c []float64, ldc int, a []float64, lda, rows int, b []float64, ldb, columns, k int) {
	const deep = 128 // numbers of rows that stay in a core's cache
	wholeRows, wholeColumns, whole := 0, 0, 0
	if fast {
		wholeRows, wholeColumns, whole = rows&^3, columns/3*3, k&^3
		for at := 0; at < whole; at += deep {
			lessVector(c, ldc, a[at:], lda, b[at:], ldb, wholeRows, wholeColumns, min(deep, whole-at))
		}
	}
	for i := range rows {
		for j := range columns {
			from := whole
			if i >= wholeRows || j >= wholeColumns {
				from = 0
			}
			if from == k {
				continue
			}
			sum, own := 0.0, b[j*ldb:][:k]
			for t, v := range a[i*lda:][:k][from:] {
				sum += v * own[from+t]
			}
			c[i*ldc+j] -= sum
		}
	}
}

// share calls f with parts of n, in parallel if each item has enough products.
func share(threads, n, products int, f func(lo, hi int)) {
	const least = 1 << 18
	if n == 0 {
		return
	}
	if threads <= 1 || n < 2 || n*products < least {
		f(0, n)
		return
	}
	var group crew.Group
	for k := range threads {
		group.Go(func() { f(n*k/threads, n*(k+1)/threads) })
	}
	group.Wait()
}
