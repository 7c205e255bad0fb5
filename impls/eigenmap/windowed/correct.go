package windowed

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/workloads/eigenmap"
)

// A corrector is what pairs are corrected by.
type corrector struct {
	apply func(to, from [][]float64) error // what L makes of vectors, of all weights in float64
	guess func(to [][]float64) error       // the lowest pairs' vectors
	// correction is about the solution of (L − value)t = rest for a pair.
	correction func(rest []float64, value float64, pair int) ([]float64, error)
	// orthogonal takes from v what it has of orthonormal vectors.
	orthogonal func(v, kernel []float64, off [][]float64) []float64
	kernel     []float64
	early      bool // without corrections, which is a fault
}

// mostCorrections is how often pairs are corrected.
const mostCorrections = 30

// pairs brings the lowest pairs of L in float64 from a guess: their residuals, solved for, are added
// to the vectors, and of all vectors the lowest pairs are taken (Davidson 1975).
func (c corrector) pairs(m eigenmap.Map, tol float64) error {
	wanted, n := len(m.Values)-1, len(c.kernel)
	var space, products [][]float64
	fresh := zeros(wanted, n)
	if err := c.guess(fresh); err != nil {
		return err
	}
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
		space, products = append(space, added...), append(products, more...)
		small := mat.NewSymDense(len(space), nil)
		for i := range space {
			for k := range i + 1 {
				small.SetSym(i, k, (dot(space[i], products[k])+dot(space[k], products[i]))/2)
			}
		}
		var now, after basis
		if err := now.find(small); err != nil {
			return err
		}
		now.vectors, after.vectors = space, products
		fresh = fresh[:0]
		worst := 0.0
		for k := range wanted {
			by := mat.Col(nil, k, &now.pairs)
			x, rest := now.combine(by), after.combine(by)
			m.Values[k+1] = dot(x, rest)
			copy(m.Vectors[k+1], x)
			for i, v := range x {
				rest[i] -= m.Values[k+1] * v
			}
			left := norm(rest)
			worst = max(worst, left)
			if left > 0.9*tol {
				t, err := c.correction(rest, m.Values[k+1], k)
				if err != nil {
					return err
				}
				fresh = append(fresh, t)
			}
		}
		if len(fresh) == 0 || c.early {
			return nil
		}
		if len(added) == 0 || corrections == mostCorrections {
			return fmt.Errorf("%d corrections leave residuals up to %.3g, not %.3g: ask for a larger tolerance", corrections, worst, tol)
		}
	}
}

// zeros are so many vectors of n numbers.
func zeros(vectors, n int) [][]float64 {
	list := make([][]float64, vectors)
	for k := range list {
		list[k] = make([]float64, n)
	}
	return list
}

// kernelOf sets the first pair to that of the kernel, which is known from the degrees, and gives it.
func kernelOf(m eigenmap.Map, degrees []float64) []float64 {
	x := m.Vectors[0]
	m.Values[0] = 0
	for i, d := range degrees {
		x[i] = math.Sqrt(d)
	}
	scale(x, 1/norm(x))
	return x
}
