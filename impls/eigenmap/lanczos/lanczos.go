// Package lanczos runs N steps of Lanczos' method with the stages of Cheng et al. 2014: pairweight
// computes the dense matrix of weights, laplacian converts it in place, and each step makes its
// vector orthogonal to all earlier ones, twice.
package lanczos

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/eigenmap"
)

// Estimated nanoseconds per entry of the matrix and core: to compute it, and per step.
const pairNS, stepNS = 20, 1

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("lanczos",
		"the dense matrix in float64, and Lanczos' method with full reorthogonalisation, all cores",
		"Cheng et al. 2014, routines 1 and 2, algorithm 1", bench.E2E)
}

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	if err := p.CheckKind(eigenmap.Lanczos); err != nil {
		return err
	}
	n, steps, threads := p.Nodes().Voxels(), int64(p.Steps), int64(max(1, c.Threads))
	each := pairNS + stepNS*steps
	if err := c.Allow(quantity.Seconds(float64(n*n)*float64(each)*1e-9/float64(threads)),
		"%d² patches × %d ns on %d cores", n, each, threads); err != nil {
		return err
	}
	return c.AllowMemory(8*n*(n+steps)+24*p.Shape().Voxels(), "a matrix of %d × %d numbers, and %d vectors", n, n, steps)
}

// Setup allocates the map.
func (Implementation) Setup(p *eigenmap.Problem, c bench.Conditions) (bench.Job[eigenmap.Map], error) {
	n, out := int(p.Nodes().Voxels()), eigenmap.NewOutput(p)
	return &job{p: p, threads: c.Cores(), n: n, w: make([]float64, n*n), q: out.Basis, Output: out}, nil
}

type job struct {
	p       *eigenmap.Problem
	threads int
	n       int
	w       []float64 // the matrix: first weights, then the Laplacian
	q       []float64 // the vectors of the steps, one after the other
	eigenmap.Output
}

// parts calls f with parts of n, in parallel.
func (j *job) parts(n int, f func(lo, hi int)) {
	var g crew.Group
	for k := range j.threads {
		if lo, hi := n*k/j.threads, n*(k+1)/j.threads; lo < hi {
			g.Go(func() { f(lo, hi) })
		}
	}
	g.Wait()
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("patches")
	features, err := j.p.Patches()
	end()
	if err != nil {
		return err
	}
	end = trace.Span("pairweight")
	j.pairweight(features)
	end()
	if err := trace.Do("laplacian", j.laplacian); err != nil {
		return err
	}
	end = trace.Span("lanczos")
	t, err := j.steps()
	end()
	if err != nil {
		return err
	}
	defer trace.Span("vectors")()
	return j.vectors(t)
}

// pairweight sets w to the weights of all pairs, and to 0 on the diagonal. The squared distances of
// features, |x_i|² + |x_k|² − 2x_i·x_k, are integers, and so exact.
func (j *job) pairweight(features []int32) {
	n, m, grid := j.n, int(j.p.Features()), j.p.Nodes()
	byFeature, byPlace := 1/(float64(m)*j.p.Alpha*j.p.Alpha), 1/(2*j.p.Beta*j.p.Beta)
	columns, squares := make([]float64, m*n), make([]float64, n)
	for i, v := range features {
		columns[i%m*n+i/m] = float64(v)
		squares[i/m] += float64(v) * float64(v)
	}
	all := blas64.General{Rows: m, Cols: n, Stride: n, Data: columns}
	j.parts(n, func(lo, hi int) {
		own := vector(make([]float64, m))
		for i := lo; i < hi; i++ {
			row := j.w[i*n:][:n]
			for f, v := range features[i*m:][:m] {
				own.Data[f] = float64(v)
			}
			for k, v := range squares {
				row[k] = squares[i] + v
			}
			blas64.Gemv(blas.Trans, -2, all, own, 1, vector(row))
			iz, iy, ix := grid.Coordinates(int64(i))
			k := 0
			for z := range grid.D {
				for y := range grid.H {
					beside := (z-iz)*(z-iz) + (y-iy)*(y-iy)
					for x := range grid.W {
						row[k] = math.Exp(-row[k]*byFeature - float64(beside+(x-ix)*(x-ix))*byPlace)
						k++
					}
				}
			}
			row[i] = 0
		}
	})
}

// laplacian replaces w by I − D^−½ W D^−½.
func (j *job) laplacian() error {
	scale := make([]float64, j.n)
	j.parts(j.n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum := 0.0
			for _, v := range j.w[i*j.n:][:j.n] {
				sum += v
			}
			scale[i] = 1 / math.Sqrt(sum)
		}
	})
	for i, s := range scale {
		if math.IsInf(s, 0) {
			return fmt.Errorf("patch %d has no neighbour, because all its weights are 0; want a larger alpha or beta", i)
		}
	}
	j.parts(j.n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := j.w[i*j.n:][:j.n]
			for k, v := range row {
				row[k] = -scale[i] * v * scale[k]
			}
			row[i]++
		}
	})
	return nil
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// basis returns the first k vectors of the steps, restricted to entries lo ≤ i < hi.
func (j *job) basis(k, lo, hi int) blas64.General {
	return blas64.General{Rows: k, Cols: hi - lo, Stride: j.n, Data: j.q[lo : (k-1)*j.n+hi]}
}

// shortest is the minimum length of the remaining vector for another step.
const shortest = 1e-12

func whole(steps int) error {
	return fmt.Errorf("the vectors span all that there is to find after %d steps; ask for as many", steps)
}

// steps runs algorithm 1 and returns T.
func (j *job) steps() (*mat.SymDense, error) {
	n, most := j.n, j.p.Steps
	t := mat.NewSymDense(most, nil)
	first := vector(j.q[:n])
	for i := range n {
		first.Data[i] = j.p.Start(i)
	}
	blas64.Scal(1/blas64.Nrm2(first), first)
	z, c := vector(make([]float64, n)), make([]float64, most)
	for k := range most {
		last := vector(j.q[k*n:][:n])
		j.parts(n, func(lo, hi int) {
			rows := blas64.General{Rows: hi - lo, Cols: n, Stride: n, Data: j.w[lo*n : hi*n]}
			blas64.Gemv(blas.NoTrans, 1, rows, last, 0, vector(z.Data[lo:hi]))
		})
		t.SetSym(k, k, blas64.Dot(last, z))
		for range 2 {
			j.parts(k+1, func(lo, hi int) {
				rows := blas64.General{Rows: hi - lo, Cols: n, Stride: n, Data: j.q[lo*n : hi*n]}
				blas64.Gemv(blas.NoTrans, 1, rows, z, 0, vector(c[lo:hi]))
			})
			j.parts(n, func(lo, hi int) {
				blas64.Gemv(blas.Trans, -1, j.basis(k+1, lo, hi), vector(c[:k+1]), 1, vector(z.Data[lo:hi]))
			})
		}
		if k == most-1 {
			break
		}
		size := blas64.Nrm2(z)
		if size < shortest {
			return nil, whole(k + 1)
		}
		t.SetSym(k, k+1, size)
		next := vector(j.q[(k+1)*n:][:n])
		blas64.Copy(z, next)
		blas64.Scal(1/size, next)
	}
	return t, nil
}

// vectors sets the map to the lowest eigenpairs of T.
func (j *job) vectors(t *mat.SymDense) error {
	var e mat.EigenSym
	if !e.Factorize(t, true) {
		return errors.New("the eigenvalues of T were not found")
	}
	var u mat.Dense
	e.VectorsTo(&u)
	steps := t.SymmetricDim()
	copy(j.Values, e.Values(nil))
	for k := range steps {
		if j.Diagonal[k] = t.At(k, k); k > 0 {
			j.OffDiagonal[k-1] = t.At(k-1, k)
		}
	}
	for k, y := range j.Vectors {
		c := vector(mat.Col(nil, k, &u))
		j.parts(j.n, func(lo, hi int) {
			blas64.Gemv(blas.Trans, 1, j.basis(steps, lo, hi), c, 0, vector(y[lo:hi]))
		})
	}
	return nil
}
