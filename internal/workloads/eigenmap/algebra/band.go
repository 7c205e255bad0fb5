package algebra

import (
	"errors"
	"math"
)

// A Band is a symmetric band matrix. Row i holds the width numbers before the diagonal, and the
// diagonal. After Factor, it holds LDLᵀ: the numbers of L left of the diagonal, and 1/D on the
// diagonal.
type Band struct {
	n, width int
	rows     []float64
}

// NewBand returns a matrix of zeros with n rows.
func NewBand(n, width int) *Band {
	width = min(width, n-1)
	return &Band{n, width, make([]float64, n*(width+1))}
}

// N returns the number of rows.
func (b *Band) N() int { return b.n }

func (b *Band) row(i int) []float64 { return b.rows[i*(b.width+1):][:b.width+1] }

// Add adds v to the numbers at (i, j) and (j, i).
func (b *Band) Add(i, j int, v float64) {
	if j > i {
		i, j = j, i
	}
	b.row(i)[b.width-(i-j)] += v
}

// ErrPivot reports that a matrix has no LDLᵀ without pivoting.
var ErrPivot = errors.New("a pivot is 0")

// Factor computes LDLᵀ of the matrix minus shift on its diagonal, without pivoting. It returns the
// number of negative values in D. By Sylvester's law of inertia this is the number of eigenvalues
// below shift, for a matrix that differs by at most bound in the 2-norm. The bound for LDLᵀ follows
// from Higham 2002, theorem 10.3: no number of |L||D||Lᵀ| exceeds the largest on its diagonal, and
// a row has 2·width + 1 numbers.
func (b *Band) Factor(shift float64) (negative int, bound float64, err error) {
	scaled := make([]float64, b.width) // l_ij d_j of one row
	growth := 0.0
	for i := range b.n {
		row := b.row(i)
		first := max(0, i-b.width)
		for j := first; j < i; j++ {
			at := b.width - (i - j)
			v := row[at]
			// Both rows have numbers from the larger of their first columns.
			if from := max(first, j-b.width); from < j {
				n := j - from
				v -= FastDot(scaled[from-first:][:n], b.row(j)[b.width-n:b.width])
			}
			scaled[j-first] = v
			row[at] = v * b.row(j)[b.width]
		}
		d, size := row[b.width]-shift, 0.0
		for j := first; j < i; j++ {
			product := scaled[j-first] * row[b.width-(i-j)]
			d -= product
			size += math.Abs(product)
		}
		if d == 0 || math.IsNaN(d) {
			return 0, math.Inf(1), ErrPivot
		}
		if d < 0 {
			negative++
		}
		growth = max(growth, size+math.Abs(d))
		row[b.width] = 1 / d
	}
	const unit = 1.0 / (1 << 53)
	return negative, float64(b.width+3) * unit * float64(2*b.width+1) * growth, nil
}

// Solve replaces x by the solution of the factored system with right-hand side x.
func (b *Band) Solve(x []float64) {
	for i := range b.n {
		n := min(i, b.width)
		x[i] -= FastDot(b.row(i)[b.width-n:b.width], x[i-n:i])
	}
	for i := range b.n {
		x[i] *= b.row(i)[b.width]
	}
	for i := b.n - 1; i >= 0; i-- {
		n := min(i, b.width)
		row := b.row(i)[b.width-n : b.width]
		for k, l := range row {
			x[i-n+k] -= l * x[i]
		}
	}
}

// SolveSystems does the same for several systems.
func (b *Band) SolveSystems(x []float64) {
	before := func(i int) (row, to []float64) {
		n := min(i, b.width)
		return b.row(i)[b.width-n : b.width], x[Systems*(i-n):]
	}
	for i := range b.n {
		var sum numbers
		row, from := before(i)
		AddProducts(sum[:], row, from)
		for s, v := range sum {
			at(x, i)[s] -= v
		}
	}
	for i := range b.n {
		for s := range at(x, i) {
			at(x, i)[s] *= b.row(i)[b.width]
		}
	}
	for i := b.n - 1; i >= 0; i-- {
		row, to := before(i)
		by := *at(x, i)
		for s := range by {
			by[s] = -by[s]
		}
		AddMultiples(to, row, by[:])
	}
}
