package algebra

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Lowest returns the unit combination of a basis with the least Rayleigh quotient, and the
// quotient; nil if the basis is nearly dependent.
func Lowest(basis, products [][]float64) ([]float64, float64) {
	n := len(basis)
	gram, energy := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	Tiles(len(basis[0]), func(lo, hi int) {
		for i := range n {
			for j := range i + 1 {
				gram.SetSym(i, j, gram.At(i, j)+FastDot(basis[i][lo:hi], basis[j][lo:hi]))
				energy.SetSym(i, j, energy.At(i, j)+FastDot(basis[i][lo:hi], products[j][lo:hi]))
			}
		}
	})
	size := make([]float64, n)
	for i := range size {
		if size[i] = math.Sqrt(gram.At(i, i)); !(size[i] > 1e-200) {
			return nil, 0
		}
	}
	for i := range n {
		for j := range i + 1 {
			gram.SetSym(i, j, gram.At(i, j)/size[i]/size[j])
			energy.SetSym(i, j, energy.At(i, j)/size[i]/size[j])
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) || chol.Cond() > 1e12 {
		return nil, 0
	}
	// L⁻¹ E L⁻ᵀ is symmetric.
	var l mat.TriDense
	chol.LTo(&l)
	var half, whole mat.Dense
	if half.Solve(&l, energy) != nil || whole.Solve(&l, half.T()) != nil {
		return nil, 0
	}
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (whole.At(i, j)+whole.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		return nil, 0
	}
	var vectors, y mat.Dense
	e.VectorsTo(&vectors)
	if y.Solve(l.T(), vectors.Slice(0, n, 0, 1)) != nil {
		return nil, 0
	}
	c := mat.Col(nil, 0, &y)
	for i := range c {
		c[i] /= size[i]
	}
	return c, e.Values(nil)[0]
}
