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

// pairs computes the lowest pairs of L from a guess (Davidson 1975). In each round it adds the
// corrections for the residuals to the basis, and takes the lowest pairs of the basis. When the
// basis is full, it restarts with the lowest pairs and the next ones.
func (c corrector) pairs(m eigenmap.Map, tol float64, most int) error {
	wanted, n := len(m.Values)-1, len(c.kernel)
	var space, products [][]float64
	var energy []float64 // by rows: the products of each vector with the earlier ones
	fresh := zeros(wanted+c.beside, n)
	if err := c.guess(fresh); err != nil {
		return err
	}
	last := math.Inf(1) // the largest residual at the last restart
	for corrections := 0; ; corrections++ {
		var added [][]float64
		for _, v := range fresh {
			size := norm(v)
			c.orthogonal(v, c.kernel, append(space[:len(space):len(space)], added...))
			if now := norm(v); now > 1e-12*size {
				scale(v, 1/now)
				added = append(added, v)
			}
		}
		more := zeros(len(added), n)
		if err := c.apply(more, added); err != nil {
			return err
		}
		before := len(space)
		space, products = append(space, added...), append(products, more...)
		for i, v := range space[before:] {
			for k, other := range space[:before+i+1] {
				energy = append(energy, (dot(v, products[k])+dot(other, products[before+i]))/2)
			}
		}
		small := mat.NewSymDense(len(space), nil)
		at := 0
		for i := range space {
			for k := range i + 1 {
				small.SetSym(i, k, energy[at])
				at++
			}
		}
		values, vectors, err := lowest(small)
		if err != nil {
			return err
		}
		fresh = fresh[:0]
		worst := 0.0
		for k := range wanted {
			by := mat.Col(nil, k, vectors)
			x, rest := combine(space, by), combine(products, by)
			m.Values[k+1] = dot(x, rest)
			copy(m.Vectors[k+1], x)
			for i, v := range x {
				rest[i] -= m.Values[k+1] * v
			}
			left := norm(rest)
			worst = max(worst, left)
			if !(left <= 0.9*tol) {
				t, err := c.correction(rest, m.Values[k+1], k)
				if err != nil {
					return err
				}
				fresh = append(fresh, t)
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		full := len(space)+len(fresh) > c.basis
		if len(added) == 0 || corrections == most || full && worst > last/2 {
			return bench.Limitf("%d corrections leave residuals up to %.3g, not %.3g: ask for a larger tolerance", corrections,
				worst, tol)
		}
		if full {
			last = worst
			energy = energy[:0]
			var kept, of [][]float64
			for k := range min(wanted+c.basis/4, c.basis/2) {
				by := mat.Col(nil, k, vectors)
				kept, of = append(kept, combine(space, by)), append(of, combine(products, by))
				energy = append(append(energy, make([]float64, k)...), values[k])
			}
			space, products = kept, of
		}
	}
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
