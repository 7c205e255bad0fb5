// Package windowed answers the lowest eigenpairs of the graph of an image's patches without the
// dense matrix. Weights of patches that are near each other are kept in float32, and Lanczos'
// method on them gives a basis of all that is low; in float64, with weights that are made anew of
// all patches that count, residuals are found and corrected in that basis until they are as small
// as they are asked to be.
package windowed

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/eigenmap"
)

// pairNS is what a pair of patches takes a core, for the estimate in a refusal.
const pairNS = 300

// Implementation is ready to use.
type Implementation struct{ fault Fault }

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "windowed", Where: "cpu",
		Method: "Lanczos' method on near weights in float32, and residuals of all in float64 corrected in its basis, all cores",
		Source: "doc/eigenmap.md",
		Scopes: []bench.Scope{bench.E2E},
	}
}

// nearest is how small the factor of distance is of a weight that is not kept.
const nearest = 1e-8

// window is how far away, along an axis, patches are whose weights are kept.
func window(p *eigenmap.Problem) int64 {
	s := p.Nodes()
	return int64(min(math.Ceil(p.Beta*math.Sqrt(-2*math.Log(nearest))), float64(max(s.W, s.H, s.D)-1)))
}

// kept is about how many weights are kept.
func kept(p *eigenmap.Problem) float64 {
	s, r := p.Nodes(), 2*window(p)+1
	return float64(s.Voxels()) * float64(min(s.W, r)) * float64(min(s.H, r)) * float64(min(s.D, r))
}

// mostBasis is how many vectors a basis has at most, beside those that it begins with.
const mostBasis = 300

// CanDo refuses what takes more time or memory than the conditions allow.
func (Implementation) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	if err := p.For(eigenmap.Patch); err != nil {
		return err
	}
	n, threads := p.Nodes().Voxels(), int64(max(1, c.Threads))
	if p.K >= mostBasis/2 && n > mostBasis {
		return fmt.Errorf("finds up to %d pairs", mostBasis/2-1)
	}
	if err := c.Allow(quantity.Seconds(kept(p)*pairNS*1e-9/float64(threads)), "%.3g pairs of patches × %d ns on %d cores", kept(p), pairNS, threads); err != nil {
		return err
	}
	return c.AllowMemory(4*int64(kept(p))+8*n*(mostBasis+8*int64(p.K))+24*p.Shape().Voxels(), "%.3g weights, and %d vectors of %d numbers", kept(p), mostBasis, n)
}

// Setup allocates the map.
func (i Implementation) Setup(p *eigenmap.Problem, c bench.Conditions) (bench.Job[eigenmap.Map], error) {
	threads := c.Threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &job{p: p, fault: i.fault, threads: threads, Output: eigenmap.NewOutput(p)}, nil
}

type job struct {
	p       *eigenmap.Problem
	fault   Fault
	threads int
	eigenmap.Output
	steps, corrections int
}

// A run is weights of patches side by side, from the first on.
type run struct {
	first, at int32
	length    int32
}

// A near is the weights that are kept, of D^−½WD^−½: of each patch some runs.
type near struct {
	g       *graph
	runs    [][]run
	weights [][]float32
}

func (g *graph) near(reach int64) *near {
	s := &near{g: g, runs: make([][]run, g.n), weights: make([][]float32, g.n)}
	g.each(func(i int) {
		iz, iy, ix := g.shape.Coordinates(int64(i))
		lo, hi := max(0, ix-reach), min(g.shape.W, ix+reach+1)
		var weights []float32
		own := *g
		own.reach = min(g.reach, reach)
		own.runs(i, func(first int, list []float64) {
			z, y, _ := g.shape.Coordinates(int64(first))
			// Of a disc, or a ball.
			wide := int64(math.Sqrt(max(0, float64(reach*reach-(z-iz)*(z-iz)-(y-iy)*(y-iy)))))
			from, to := max(lo, ix-wide), min(hi, ix+wide+1)
			begin := first + int(from-max(0, ix-own.reach))
			s.runs[i] = append(s.runs[i], run{int32(begin), int32(len(weights)), int32(to - from)})
			for k, w := range list[begin-first:][:to-from] {
				weights = append(weights, float32(w/math.Sqrt(g.degree[i]*g.degree[begin+k])))
			}
		})
		s.weights[i] = weights
	})
	return s
}

// apply sets to to what I − D^−½WD^−½ makes of x, of the weights that are kept.
func (s *near) apply(to, x []float64, narrow []float32) {
	for i, v := range x {
		narrow[i] = float32(v)
	}
	s.g.each(func(i int) {
		sum, weights := 0.0, s.weights[i]
		for _, r := range s.runs[i] {
			n := int(r.length)
			sum += float64(blas32.Dot(blas32.Vector{N: n, Inc: 1, Data: weights[r.at:][:n]}, blas32.Vector{N: n, Inc: 1, Data: narrow[r.first:][:n]}))
		}
		to[i] = x[i] - sum
	})
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("degrees")
	g, err := newGraph(j.p, j.threads)
	end()
	if err != nil {
		return err
	}
	if j.fault == Degrees {
		for i := range g.degree {
			g.degree[i]++ // as of a patch that is its own neighbour
		}
	}
	kernel := make([]float64, g.n)
	for i, d := range g.degree {
		kernel[i] = math.Sqrt(d)
	}
	scale(kernel, 1/norm(kernel))
	copy(j.Vectors[0], kernel)
	j.Values[0] = 0
	if j.p.K == 1 {
		return nil
	}
	end = trace.Span("weights")
	s := g.near(window(j.p))
	end()
	end = trace.Span("lanczos")
	b, err := j.basis(s, kernel)
	end()
	if err != nil {
		return err
	}
	defer trace.Span("correct")()
	return j.correct(g, b, kernel)
}

// A basis is of a Krylov space, and of L there, which is small, all pairs.
type basis struct {
	vectors [][]float64
	values  []float64
	pairs   mat.Dense
}

// find makes the pairs of T, the lowest first.
func (b *basis) find(t *mat.SymDense) error {
	var e mat.EigenSym
	if !e.Factorize(t, true) {
		return errors.New("the eigenvalues of a small matrix were not found")
	}
	b.values = e.Values(nil)
	b.pairs.Reset()
	e.VectorsTo(&b.pairs)
	return nil
}

// basis takes steps in the complement of the kernel until the lowest pairs are as good as float32
// makes them. A basis that is full begins again with the lowest pairs that it has (Wu and Simon
// 2000).
func (j *job) basis(s *near, kernel []float64) (*basis, error) {
	n, wanted := s.g.n, j.p.K-1
	most := min(n-1, mostBasis)
	b := &basis{}
	v := make([]float64, n)
	for i := range v {
		v[i] = eigenmap.Uniform(1, uint64(i))
	}
	narrow := make([]float32, n)
	enough := max(1e-9, j.p.Tol/10)
	t := mat.NewSymDense(most, nil)
	orthogonal(v, kernel, b.vectors)
	j.steps = 0
	for seed := uint64(2); ; j.steps++ {
		if size := norm(v); size > 1e-10 {
			scale(v, 1/size)
		} else { // the space is whole, and another begins
			for i := range v {
				v[i] = eigenmap.Uniform(seed, uint64(i))
			}
			seed++
			orthogonal(v, kernel, b.vectors)
			scale(v, 1/norm(v))
		}
		b.vectors = append(b.vectors, v)
		k := len(b.vectors)
		v = make([]float64, n)
		s.apply(v, b.vectors[k-1], narrow)
		for i, c := range orthogonal(v, kernel, b.vectors) {
			t.SetSym(i, k-1, c)
		}
		if k < wanted || k%10 != 0 && k != most {
			continue
		}
		small := mat.NewSymDense(k, nil)
		small.CopySym(t)
		if err := b.find(small); err != nil {
			return nil, err
		}
		left, beyond := 0.0, norm(v)
		for i := range wanted {
			left = max(left, beyond*math.Abs(b.pairs.At(k-1, i)))
		}
		switch {
		case left <= enough || k == n-1:
			return b, nil
		case k == most && j.steps > 20*mostBasis:
			return nil, fmt.Errorf("%d steps leave %.3g; ask for fewer pairs", j.steps, left)
		case k == most:
			b.restart(t, min(wanted+mostBasis/4, most/2))
		}
	}
}

// restart keeps the lowest pairs of a basis.
func (b *basis) restart(t *mat.SymDense, keep int) {
	t.Zero()
	vectors := make([][]float64, keep)
	for k := range vectors {
		vectors[k] = b.combine(mat.Col(nil, k, &b.pairs))
		t.SetSym(k, k, b.values[k])
	}
	b.vectors = vectors
}

// combine adds up the vectors of the basis.
func (b *basis) combine(c []float64) []float64 {
	out := make([]float64, len(b.vectors[0]))
	for k, v := range b.vectors {
		axpy(c[k], v, out)
	}
	return out
}

// mostCorrections is how often pairs are corrected.
const mostCorrections = 30

// correct brings the lowest pairs of L in float64 from those of the basis: their residuals, solved
// for in the basis, are added to the vectors, and of all vectors the lowest pairs are taken
// (Davidson 1975).
func (j *job) correct(g *graph, b *basis, kernel []float64) error {
	wanted := j.p.K - 1
	var space, products [][]float64
	var fresh [][]float64
	for k := range wanted {
		fresh = append(fresh, b.combine(mat.Col(nil, k, &b.pairs)))
	}
	for j.corrections = 0; ; j.corrections++ {
		var added [][]float64
		for _, v := range fresh {
			size := norm(v)
			orthogonal(v, kernel, append(space[:len(space):len(space)], added...))
			if now := norm(v); now > 1e-12*size {
				scale(v, 1/now)
				added = append(added, v)
			}
		}
		more := make([][]float64, len(added))
		for k := range more {
			more[k] = make([]float64, g.n)
		}
		g.apply(more, added)
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
			c := mat.Col(nil, k, &now.pairs)
			x, rest := now.combine(c), after.combine(c)
			j.Values[k+1] = dot(x, rest)
			copy(j.Vectors[k+1], x)
			for i, v := range x {
				rest[i] -= j.Values[k+1] * v
			}
			left := norm(rest)
			worst = max(worst, left)
			if left > 0.9*j.p.Tol {
				fresh = append(fresh, b.correction(rest, j.Values[k+1]))
			}
		}
		if len(fresh) == 0 || j.fault == Early {
			return nil
		}
		if len(added) == 0 || j.corrections == mostCorrections {
			return fmt.Errorf("%d corrections leave residuals up to %.3g, not %.3g: ask for a larger tolerance", j.corrections, worst, j.p.Tol)
		}
	}
}

// correction is about the solution of (L − value)t = rest: in the basis by its pairs, but for the
// pair of that value, and beside it as if L were I there.
func (b *basis) correction(rest []float64, value float64) []float64 {
	c := make([]float64, len(b.vectors))
	for k, v := range b.vectors {
		c[k] = dot(v, rest)
	}
	n := len(c)
	var inPairs, back mat.VecDense
	inPairs.MulVec(b.pairs.T(), mat.NewVecDense(n, c))
	for k := range n {
		gap := b.values[k] - value
		if math.Abs(gap) < 1e-6 {
			gap = math.Copysign(1e-6, gap)
		}
		inPairs.SetVec(k, inPairs.AtVec(k)/gap)
	}
	back.MulVec(&b.pairs, &inPairs)
	out := make([]float64, len(rest))
	copy(out, rest)
	for k, v := range b.vectors {
		axpy(back.AtVec(k)-c[k], v, out)
	}
	return out
}

// orthogonal takes from v what it has of orthonormal vectors, twice, and gives what it had of those
// that are not the kernel's.
func orthogonal(v, kernel []float64, off [][]float64) (had []float64) {
	had = make([]float64, len(off))
	for range 2 {
		axpy(-dot(kernel, v), kernel, v)
		for k, x := range off {
			c := dot(x, v)
			had[k] += c
			axpy(-c, x, v)
		}
	}
	return had
}
