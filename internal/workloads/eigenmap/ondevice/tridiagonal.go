package ondevice

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/gonum"

	"eccbench/internal/workloads/eigenmap"
)

// A Tridiagonal is a symmetric matrix, given by the numbers on its diagonal and next to it. The
// last number next to it is outside the matrix.
type Tridiagonal struct{ Diagonal, OffDiagonal []float64 }

// First returns the upper left part of a matrix.
func (t Tridiagonal) First(n int) Tridiagonal { return Tridiagonal{t.Diagonal[:n], t.OffDiagonal[:n]} }

var errValues = errors.New("the eigenvalues of T were not found")

// Lowest returns the k lowest pairs. Values are by the QL method, and vectors by inverse iteration,
// each orthogonal to the earlier ones. All pairs would take time cubic in the size.
func (t Tridiagonal) Lowest(k int) (values []float64, vectors [][]float64, err error) {
	n := len(t.Diagonal)
	if k > n {
		return nil, nil, fmt.Errorf("%d pairs of a matrix of %d²", k, n)
	}
	size := 0.0
	for i, d := range t.Diagonal {
		b := t.OffDiagonal[i]
		if math.IsNaN(d) || math.IsInf(d, 0) || math.IsNaN(b) || math.IsInf(b, 0) {
			return nil, nil, errValues
		}
		size = max(size, math.Abs(d), math.Abs(b))
	}
	if size == 0 {
		size = 1
	}
	all := append([]float64(nil), t.Diagonal...)
	if !(gonum.Implementation{}).Dsterf(n, all, append([]float64(nil), t.OffDiagonal[:max(0, n-1)]...)) {
		return nil, nil, errValues
	}
	for m := range k {
		v := make([]float64, n)
		for i := range v {
			v[i] = eigenmap.Uniform(uint64(m), uint64(i))
		}
		const rounds = 4
		for range rounds {
			if !t.solve(all[m], size, v) {
				return nil, nil, errValues
			}
			for range 2 {
				for _, u := range vectors {
					take(v, u)
				}
			}
			unit(v)
		}
		vectors = append(vectors, v)
	}
	return all[:k], vectors, nil
}

// solve sets v to an approximate solution of (T − value)x = v.
func (t Tridiagonal) solve(value, size float64, v []float64) bool {
	n := len(v)
	for nudge := 0.0; nudge < 1e-10; nudge = max(1e-15, 10*nudge) {
		d, x := make([]float64, n), append([]float64(nil), v...)
		for i, a := range t.Diagonal {
			d[i] = a - value - nudge*size
		}
		lower, upper := append([]float64(nil), t.OffDiagonal[:n-1]...), append([]float64(nil), t.OffDiagonal[:n-1]...)
		if (gonum.Implementation{}).Dgtsv(n, 1, lower, d, upper, x, 1) && finite(x) {
			copy(v, x)
			return true
		}
	}
	return false
}

// Correct sets c to an approximate solution of (T − value)y = c, orthogonal to a pair's vector u.
func (t Tridiagonal) Correct(value float64, u, c []float64) error {
	take(c, u)
	if !t.solve(value, 1, c) {
		return errors.New("an equation of T was not solved")
	}
	take(c, u)
	return nil
}

func finite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// take subtracts from v its component along a unit vector.
func take(v, u []float64) { blas64.Axpy(-blas64.Dot(vector(u), vector(v)), vector(u), vector(v)) }

func unit(v []float64) {
	if size := blas64.Nrm2(vector(v)); size > 0 {
		blas64.Scal(1/size, vector(v))
	}
}
