package windowed

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/eigenmap"
)

// A corrector corrects approximate pairs of L.
type corrector struct {
	apply  func(to, from [][]float64) error // multiplies vectors by L
	guess  func(to [][]float64) error       // vectors that approximate the lowest pairs
	beside int                              // number of additional vectors in the guess
	// correction returns an approximate solution of (L − value)t = rest for a pair.
	correction func(rest []float64, value float64, pair int) ([]float64, error)
	// orthogonal removes from v its components along orthonormal vectors.
	orthogonal func(v, kernel []float64, off [][]float64)
	kernel     []float64
	basis      int // maximum number of vectors of the basis
}

// Maximum numbers of corrections and of vectors.
const mostCorrections, mostBasis = 30, 300

// A subspace is the span of orthonormal vectors.
type subspace struct {
	vectors, products [][]float64 // the vectors, and L times each
	energy            []float64   // by rows: the products of each vector with the earlier ones
}

// extend adds vectors, and L times each.
func (s *subspace) extend(added, products [][]float64) {
	before := len(s.vectors)
	s.vectors, s.products = append(s.vectors, added...), append(s.products, products...)
	for i, v := range added {
		for k, other := range s.vectors[:before+i+1] {
			s.energy = append(s.energy, (dot(v, s.products[k])+dot(other, products[i]))/2)
		}
	}
}

// pairs returns the pairs of L in the subspace, the lowest first.
func (s *subspace) pairs() ([]float64, *mat.Dense, error) {
	small := mat.NewSymDense(len(s.vectors), nil)
	at := 0
	for i := range s.vectors {
		for k := range i + 1 {
			small.SetSym(i, k, s.energy[at])
			at++
		}
	}
	return lowest(small)
}

// keep reduces the subspace to its n lowest pairs.
func (s *subspace) keep(n int, values []float64, vectors *mat.Dense) {
	var less subspace
	for k := range n {
		by := mat.Col(nil, k, vectors)
		less.vectors = append(less.vectors, combine(s.vectors, by))
		less.products = append(less.products, combine(s.products, by))
		less.energy = append(append(less.energy, make([]float64, k)...), values[k])
	}
	*s = less
}

// pairs computes the lowest pairs of L from a guess (Davidson 1975). In each round it adds the
// corrections for the residuals to the basis, and takes the lowest pairs of the basis. When the
// basis is full, it restarts with the lowest pairs and the next ones.
func (c corrector) pairs(m eigenmap.Map, tol float64, most int) error {
	wanted, n := len(m.Values)-1, len(c.kernel)
	var s subspace
	fresh := zeros(wanted+c.beside, n)
	if err := c.guess(fresh); err != nil {
		return err
	}
	last := math.Inf(1) // the largest residual at the last restart
	for corrections := 0; ; corrections++ {
		added := c.orthonormal(fresh, s.vectors)
		products := zeros(len(added), n)
		if err := c.apply(products, added); err != nil {
			return err
		}
		s.extend(added, products)
		values, vectors, err := s.pairs()
		if err != nil {
			return err
		}
		var worst float64
		if fresh, worst, err = c.corrections(m, &s, vectors, 0.9*tol); err != nil {
			return err
		}
		if len(fresh) == 0 {
			return nil
		}
		full := len(s.vectors)+len(fresh) > c.basis
		if len(added) == 0 || corrections == most || full && worst > last/2 {
			return bench.Limitf("%d corrections leave residuals up to %.3g, not %.3g: ask for a larger tolerance", corrections,
				worst, tol)
		}
		if full {
			last = worst
			s.keep(min(wanted+c.basis/4, c.basis/2), values, vectors)
		}
	}
}

// orthonormal makes vectors orthonormal, also to the kernel and to others. It drops dependent ones.
func (c corrector) orthonormal(list, others [][]float64) (kept [][]float64) {
	for _, v := range list {
		size := norm(v)
		c.orthogonal(v, c.kernel, append(others[:len(others):len(others)], kept...))
		if now := norm(v); now > 1e-12*size {
			scale(v, 1/now)
			kept = append(kept, v)
		}
	}
	return kept
}

// corrections sets the map to the lowest pairs of a subspace. It returns the corrections of pairs with
// residuals above enough, and the largest residual.
func (c corrector) corrections(m eigenmap.Map, s *subspace, vectors *mat.Dense, enough float64) (fresh [][]float64,
	worst float64, err error) {
	for k := range len(m.Values) - 1 {
		by := mat.Col(nil, k, vectors)
		x, rest := combine(s.vectors, by), combine(s.products, by)
		m.Values[k+1] = dot(x, rest)
		copy(m.Vectors[k+1], x)
		for i, v := range x {
			rest[i] -= m.Values[k+1] * v
		}
		left := norm(rest)
		worst = max(worst, left)
		if !(left <= enough) {
			t, err := c.correction(rest, m.Values[k+1], k)
			if err != nil {
				return nil, 0, err
			}
			fresh = append(fresh, t)
		}
	}
	return fresh, worst, nil
}

// zeros returns zero vectors of n numbers.
func zeros(vectors, n int) [][]float64 {
	list := make([][]float64, vectors)
	for k := range list {
		list[k] = make([]float64, n)
	}
	return list
}

// kernelOf sets the first pair to the kernel, which follows from the degrees, and returns its
// vector.
func kernelOf(m eigenmap.Map, degrees []float64) []float64 {
	x := m.Vectors[0]
	m.Values[0] = 0
	for i, d := range degrees {
		x[i] = math.Sqrt(d)
	}
	scale(x, 1/norm(x))
	return x
}

// lowest returns all pairs of a small matrix, the lowest first.
func lowest(m *mat.SymDense) ([]float64, *mat.Dense, error) {
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return nil, nil, errors.New("the eigenvalues of a small matrix were not found")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	return e.Values(nil), &vectors, nil
}

// combine returns a linear combination of vectors.
func combine(vectors [][]float64, c []float64) []float64 {
	out := make([]float64, len(vectors[0]))
	for k, v := range vectors {
		axpy(c[k], v, out)
	}
	return out
}
