package eigenmap

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
)

const (
	// enough is the length at which the residual of a solution proves that a matrix is positive
	// definite, together with the rounding errors of at most mostRounding. A matrix that is not
	// passes with a probability below their sum.
	enough, mostRounding = 1e-7, 8e-7
	// mostSolving is the number of steps after which a solution is given up.
	mostSolving = 500
)

// least returns the smallest bound of L on the complement of the pairs from which the bounds of all
// eigenvalues follow.
func (b *bounds) least(most float64) (float64, error) {
	last := b.values[len(b.values)-1]
	low, high := last/2, most
	if b.above(high); b.open() >= 0 {
		return 0, verify.Undecided("residuals of up to %.2g are too large for value %d, which is %.3g",
			math.Sqrt(b.squares[len(b.squares)-1]), b.open()+1, b.values[b.open()])
	}
	for range 100 {
		middle := math.Sqrt(low * high)
		if b.above(middle); b.open() >= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	b.above(high)
	return high, nil
}

// above sets the lower bounds that follow if L is at least rho on the complement of all pairs. With
// residuals R, each eigenvalue is at least the smaller one of the matrix with θ and rho on its
// diagonal and |R| off it.
func (b *bounds) above(rho float64) {
	last := len(b.values) - 1
	for i, v := range b.values {
		gap, square := rho-v, 4*b.squares[last]
		off := (math.Sqrt(gap*gap+square) - gap) / 2
		if gap > 0 {
			off = square / (math.Sqrt(gap*gap+square) + gap) / 2
		}
		b.lower[i] = max(0, v-off-2*(b.skew[last]+b.gram*max(rho, v)))
	}
	b.raise(last, b.lower[last])
}

// definite proves that no pair is missing by the solution of a random system. If the steps meet a
// vector below the bound, a search may refute the map.
func definite(p *Problem, m Map, _ ask) ([]verify.Measure, error) {
	list, err := p.prove(m, (*Graph).proveDefinite)
	if !errors.Is(err, errBelow) {
		return list, err
	}
	if list, failed := search(p, m, nil); failed != nil || !keepLimits(list) {
		return list, failed
	}
	return nil, verify.Undecided("%v, and a search does not find its pair", err)
}

// proveDefinite proves the bounds of a map. The measure is the length of the last residual.
func (g *Graph) proveDefinite(m Map, b *bounds) (measure, error) {
	size := measure{Name: "residual of a random system", Limit: enough}
	if b.open() < 0 {
		return size, nil
	}
	rho, err := b.least(4 * g.p.length())
	if last := len(b.values) - 1; err == nil && rho > 2*b.values[last] {
		return size, verify.Undecided("residuals of up to %.2g are too large to separate value %d, which is %.3g",
			math.Sqrt(b.squares[last]), last+1, b.values[last])
	}
	if err == nil {
		size.Value, err = g.solve(m.Vectors, rho)
		size.At = fmt.Sprintf("eigenvalues below %g", rho)
	}
	return size, err
}

// errBelow means that a matrix is not positive definite.
var errBelow = errors.New("a vector outside of the span of the pairs is below the bound")

// solve solves a system of equations with the matrix
//
//	K = D − W − rho·M + 2·rho·YYᵀ    Y = M^½X
//
// and the right-hand side E^½z by conjugate gradients, with random z that are drawn after the
// answer and E = D + rho·M. It returns the length |E^−½r| of the residual r if it is at most
// enough. K is then positive definite, except with the probability in the comment of enough: a
// component along an eigenvector of the preconditioned matrix with a value of at most 0 only grows.
func (g *Graph) solve(x [][]float64, rho float64) (float64, error) {
	n := g.Nodes()
	h := algebra.NewHierarchy(g.mass, 2*n*len(g.toward), g.row, rho)
	r, w, diagonal := h.Finest()
	p, q := make([]float64, n), make([]float64, n)
	for i, d := range diagonal {
		r[i] = rand.NormFloat64() * math.Sqrt(d)
	}
	length, product, rounding := math.Sqrt(float64(n)), 1.0, 0.0
	for range mostSolving {
		h.Cycle()
		before := product
		sums := algebra.PartSums(g.Nodes(), 2, func(lo, hi int, sums []float64) {
			sums[0] += algebra.FastDot(r[lo:hi], w[lo:hi])
			for i := lo; i < hi; i++ {
				sums[1] += diagonal[i] * w[i] * w[i]
			}
		})
		product = sums[0]
		by := product / before // of the first direction, which is 0, does not matter
		along := algebra.PartSums(g.Nodes(), len(x), func(lo, hi int, sums []float64) {
			var y [algebra.Tile]float64
			for i := lo; i < hi; i++ {
				p[i] = w[i] + by*p[i]
				y[i-lo] = g.root[i] * p[i]
			}
			for k, v := range x {
				sums[k] += algebra.FastDot(v[lo:hi], y[:hi-lo])
			}
		})
		curved := algebra.PartSums(g.Nodes(), 2, func(lo, hi int, sums []float64) {
			clear(q[lo:hi])
			for k, v := range x {
				algebra.AddTimes(2*rho*along[k], v[lo:hi], q[lo:hi])
			}
			for i := lo; i < hi; i++ {
				q[i] = g.root[i]*q[i] - rho*g.mass[i]*p[i]
			}
			g.flowVoxels(q, nil, p, lo, hi)
			sums[0] += algebra.FastDot(p[lo:hi], q[lo:hi])
			for i := lo; i < hi; i++ {
				sums[1] += diagonal[i] * p[i] * p[i]
			}
		})
		if !(product > 0 && curved[0] > 0) {
			return 0, errBelow
		}
		step := product / curved[0]
		const unit, allowed = 1.0 / (1 << 53), 8
		rounding += allowed * unit * (length + (2*step+4)*math.Sqrt(curved[1]) + 4*math.Sqrt(sums[1]))
		length = math.Sqrt(algebra.PartSums(g.Nodes(), 1, func(lo, hi int, sums []float64) {
			algebra.AddTimes(-step, q[lo:hi], r[lo:hi])
			for i := lo; i < hi; i++ {
				sums[0] += r[i] * r[i] / diagonal[i]
			}
		})[0])
		if !(rounding <= mostRounding) {
			return 0, verify.Undecided("rounding of up to %.2g is too much for a random system", rounding)
		}
		if length <= enough {
			return length, nil
		}
	}
	return 0, verify.Undecided("the residual of a random system is %.2g after %d steps", length, mostSolving)
}
