// Package windowed computes the lowest eigenpairs of the graph of an image's patches without the
// dense matrix. It stores the weights of near patches in float32. Davidson's method on them,
// preconditioned by groups of patches, gives approximate pairs. Their residuals with all weights,
// in float64, are then corrected until they reach the tolerance.
package windowed

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/eigenmap"
)

// pairNS is the estimated time per pair of patches and core.
const pairNS = 300

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("windowed",
		"Davidson's method on near weights in float32, preconditioned by groups of patches, and residuals of all "+
			"weights in float64 corrected, all cores", "doc/proofs/eigenmap.md", bench.E2E)
}

// nearest is the distance factor below which a weight is not stored.
const nearest = 1e-8

// window returns the largest distance along an axis of patches whose weight is stored.
func window(p *eigenmap.Problem) int64 {
	return int64(min(math.Ceil(p.Beta*math.Sqrt(-2*math.Log(nearest))), farthest(p.Nodes())))
}

// estimatedKept estimates the number of stored weights.
func estimatedKept(p *eigenmap.Problem) float64 {
	s, r := p.Nodes(), 2*window(p)+1
	return float64(s.Voxels()) * float64(min(s.W, r)) * float64(min(s.H, r)) * float64(min(s.D, r))
}

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	if err := p.CheckKind(eigenmap.Patch); err != nil {
		return err
	}
	n, threads := p.Nodes().Voxels(), int64(max(1, c.Threads))
	if p.K >= mostBasis/2 && n > mostBasis {
		return fmt.Errorf("finds up to %d pairs", mostBasis/2-1)
	}
	if err := c.Allow(quantity.Seconds(estimatedKept(p)*pairNS*1e-9/float64(threads)),
		"%.3g pairs of patches × %d ns on %d cores", estimatedKept(p), pairNS, threads); err != nil {
		return err
	}
	return c.AllowMemory(4*int64(estimatedKept(p))+8*n*(mostBasis+8*int64(p.K))+24*p.Shape().Voxels(),
		"%.3g weights, and %d vectors of %d numbers", estimatedKept(p), mostBasis, n)
}

// Setup allocates the map.
func (Implementation) Setup(p *eigenmap.Problem, c bench.Conditions) (bench.Job[eigenmap.Map], error) {
	return &job{p: p, threads: c.Cores(), guesses: 20 * mostBasis, Output: eigenmap.NewOutput(p)}, nil
}

type job struct {
	p       *eigenmap.Problem
	threads int
	guesses int // maximum number of corrections of the guess
	eigenmap.Output
	products int // products with the stored weights
}

// A run is the weights of adjacent patches, from the first one on, as a range of indices.
type run struct{ first, at, end int32 }

// A neighbourRuns contains the stored weights, of D^−½WD^−½: for each patch only the later ones, because the
// matrix is symmetric. Zeros pad the runs to the length of vectors.
type neighbourRuns struct {
	g       *graph
	runs    [][]run
	weights [][]float32
	from    []float64   // a vector, padded for the end of a run
	sums    [][]float64 // of each portion, from its first patch on
}

// lanes divides the length of a run.
const lanes = 8

func (g *graph) nearGraph(reach int64) *neighbourRuns {
	s := &neighbourRuns{g: g, runs: make([][]run, g.n), weights: make([][]float32, g.n), from: make([]float64, g.n+lanes),
		sums: make([][]float64, portions)}
	own := *g
	own.reach, own.behind = min(g.reach, reach), true
	g.portioned(func(portion, lo, hi int) {
		last := hi
		for i := lo; i < hi; i++ {
			var weights []float32
			own.runs(i, func(first int, list []float64) {
				at := len(weights)
				for k, w := range list {
					weights = append(weights, float32(w/math.Sqrt(g.degree[i])/math.Sqrt(g.degree[first+k])))
				}
				for len(weights)%lanes != 0 {
					weights = append(weights, 0)
				}
				s.runs[i] = append(s.runs[i], run{int32(first), int32(at), int32(len(weights))})
				last = max(last, first+len(weights)-at)
			})
			s.weights[i] = weights
		}
		s.sums[portion] = make([]float64, last-lo)
	})
	return s
}

// apply sets to to (I − D^−½WD^−½)x, with the stored weights.
func (s *neighbourRuns) apply(to, x []float64) {
	copy(s.from, x)
	g := s.g
	g.portioned(func(portion, lo, hi int) {
		sums := s.sums[portion]
		clear(sums)
		for i := lo; i < hi; i++ {
			own, weights := 0.0, s.weights[i]
			for _, r := range s.runs[i] {
				own += multiplySymmetric(g.fast, sums[int(r.first)-lo:], s.from[r.first:], weights[r.at:r.end], x[i])
			}
			sums[i-lo] += own
		}
	})
	copy(to, x)
	for portion, sums := range s.sums {
		lo := g.n * portion / portions
		for k, v := range sums[:min(len(sums), g.n-lo)] {
			to[lo+k] -= v
		}
	}
}

// multiplySymmetric processes a row of a symmetric matrix and the same column: it returns the product of weights
// and x, and adds own · weights to to.
func multiplySymmetric(fast bool, to, x []float64, weights []float32, own float64) (sum float64) {
	if fast {
		return bothVector(to, x, weights, own)
	}
	to, x = to[:len(weights)], x[:len(weights)]
	for k, w := range weights {
		sum += float64(w) * x[k]
		to[k] += float64(w) * own
	}
	return sum
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("degrees")
	g, err := newGraph(j.p, j.threads)
	end()
	if err != nil {
		return err
	}
	kernel := kernelOf(j.Map, g.degree)
	if j.p.K == 1 {
		return nil
	}
	end = trace.Span("weights")
	s := g.nearGraph(window(j.p))
	end()
	end = trace.Span("groups")
	c, err := g.coarsen(j.p)
	end()
	if err != nil {
		return err
	}
	end = trace.Span("pairs")
	err = corrector{
		apply: func(to, from [][]float64) error {
			for k, x := range from {
				j.products++
				s.apply(to[k], x)
				axpy(-dot(kernel, to[k]), kernel, to[k]) // float32 does not make it exactly orthogonal
			}
			return nil
		},
		guess: c.guess, beside: 2,
		correction: func(rest []float64, _ float64, _ int) ([]float64, error) { return c.solve(rest) },
		orthogonal: g.orthogonal, kernel: kernel, basis: mostBasis,
	}.pairs(j.Map, max(1e-9, j.p.Tol/10), j.guesses)
	end()
	if err != nil {
		return err
	}
	defer trace.Span("correct")()
	return corrector{
		apply: func(to, from [][]float64) error {
			g.apply(to, from)
			return nil
		},
		guess: func(to [][]float64) error {
			for k, v := range to {
				copy(v, j.Vectors[k+1])
			}
			return nil
		},
		correction: func(rest []float64, value float64, _ int) ([]float64, error) {
			return s.solve(c, rest, value, kernel, j.Vectors[1:])
		},
		orthogonal: g.orthogonal, kernel: kernel, basis: mostBasis,
	}.pairs(j.Map, j.p.Tol, mostCorrections)
}

// solve returns an approximate solution of (L − value)t = rest with the stored weights, by
// conjugate gradients in the complement of the kernel and some pairs.
func (s *neighbourRuns) solve(
	c *coarse, rest []float64, value float64, kernel []float64, pairs [][]float64) ([]float64, error) {
	const enough, most = 1e-3, 20
	n := len(rest)
	t, p, q := make([]float64, n), make([]float64, n), make([]float64, n)
	s.g.orthogonal(rest, kernel, pairs)
	first, before := norm(rest), 0.0
	for range most {
		z, err := c.solve(rest)
		if err != nil {
			return nil, err
		}
		s.g.orthogonal(z, kernel, pairs)
		now := dot(rest, z)
		if before > 0 {
			axpy(now/before, p, z)
		}
		p, before = z, now
		s.apply(q, p)
		axpy(-value, p, q)
		s.g.orthogonal(q, kernel, pairs)
		curve := dot(p, q)
		if !(curve > 0) {
			break
		}
		axpy(now/curve, p, t)
		axpy(-now/curve, q, rest)
		if norm(rest) <= enough*first {
			break
		}
	}
	return t, nil
}

// orthogonal removes from v its components along orthonormal vectors, twice.
func (g *graph) orthogonal(v, kernel []float64, off [][]float64) {
	all := append([][]float64{kernel}, off...)
	products := make([]float64, portions*len(all))
	for range 2 {
		g.portioned(func(portion, lo, hi int) {
			for k, x := range all {
				products[portion*len(all)+k] = dot(x[lo:hi], v[lo:hi])
			}
		})
		c := make([]float64, len(all))
		for at, v := range products {
			c[at%len(all)] += v
		}
		g.portioned(func(_, lo, hi int) {
			for k, x := range all {
				axpy(-c[k], x[lo:hi], v[lo:hi])
			}
		})
	}
}
