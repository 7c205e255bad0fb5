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
	// enough is the length at which the residual of solutions proves that a matrix is positive definite, together with
	// the rounding errors of at most mostRounding. A matrix that is not passes with a probability below an eighth of the
	// fourth power of their sum, which is 10⁻⁶.
	enough, mostRounding = 0.05, 0.003
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

// solve solves systems of equations with the matrix
//
//	K = D − W − rho·M + 2·rho·YYᵀ    Y = M^½X
//
// and the right-hand sides E^½z by conjugate gradients, as one system. The random z are drawn after the answer, and
// E = D + rho·M. It returns the length |E^−½r| of all residuals r if it is at most enough. K is then positive definite,
// except with the probability in the comment of enough: components along an eigenvector of the preconditioned matrix
// with a value of at most 0 only grow.
func (g *Graph) solve(x [][]float64, rho float64) (float64, error) {
	n := g.Nodes()
	h := algebra.NewHierarchy(g.mass, 2*n*len(g.toward), g.row, rho)
	r, w, diagonal, most := h.Finest()
	p, q := make([]float64, len(r)), make([]float64, len(r))
	const systems = algebra.Systems
	type numbers = *[systems]float64 // of a node
	for i := range r {
		r[i] = rand.NormFloat64() * math.Sqrt(diagonal[i/systems])
	}
	// squared returns the square of the length of some nodes.
	squared := func(x []float64, lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			x := numbers(x[systems*i:])
			sum += diagonal[i] * (x[0]*x[0] + x[1]*x[1] + x[2]*x[2] + x[3]*x[3])
		}
		return sum
	}
	length, product, rounding := math.Sqrt(float64(len(r))), 1.0, 0.0
	for range mostSolving {
		before, square := product, 0.0
		product, square = h.Cycle()
		by := product / before // of the first direction, which is 0, does not matter
		along := algebra.PartSums(n, systems*len(x), func(lo, hi int, sums []float64) {
			for i := lo; i < hi; i++ {
				p, w, y, root := numbers(p[systems*i:]), numbers(w[systems*i:]), numbers(q[systems*i:]), g.root[i]
				for s := range p {
					p[s] = w[s] + by*p[s]
					y[s] = root * p[s]
				}
			}
			for k, v := range x {
				algebra.AddProducts(sums[systems*k:], v[lo:hi], q[systems*lo:])
			}
		})
		for k := range along {
			along[k] *= 2 * rho
		}
		curved := algebra.PartSums(n, 2, func(lo, hi int, sums []float64) {
			clear(q[systems*lo : systems*hi])
			for k, v := range x {
				algebra.AddMultiples(q[systems*lo:], v[lo:hi], along[systems*k:])
			}
			for i := lo; i < hi; i++ {
				p, q := numbers(p[systems*i:]), numbers(q[systems*i:])
				root, mass := g.root[i], rho*g.mass[i]
				for s := range p {
					q[s] = root*q[s] - mass*p[s]
				}
			}
			g.eachRun(lo, hi, func(from, by int, weights []float64) {
				algebra.AddFlows(q[systems*from:], p[systems*from:], p[systems*(from+by):], weights)
			})
			sums[0] += algebra.FastDot(p[systems*lo:systems*hi], q[systems*lo:systems*hi])
			sums[1] += squared(p, lo, hi)
		})
		if !(product > 0 && curved[0] > 0) {
			return 0, errBelow
		}
		step := product / curved[0]
		const unit = 1.0 / (1 << 53)
		terms := float64(max(8, 2*len(g.toward)+2)) // of a sum over a node's links
		rounding += terms * unit * (length + (2*step+most)*math.Sqrt(curved[1]) + most*math.Sqrt(square))
		length = math.Sqrt(algebra.PartSums(n, 1, func(lo, hi int, sums []float64) {
			algebra.AddTimes(-step, q[systems*lo:systems*hi], r[systems*lo:systems*hi])
			for i := lo; i < hi; i++ {
				x := numbers(r[systems*i:])
				sums[0] += (x[0]*x[0] + x[1]*x[1] + x[2]*x[2] + x[3]*x[3]) / diagonal[i]
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
