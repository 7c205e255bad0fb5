// Package definition computes all eigenpairs of the dense float64 matrix of an image's graph. It is
// the reference for small inputs.
package definition

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/eigenmap"
)

// cubeNS is the estimated time per n³ for n nodes.
const cubeNS = 12

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("definition", "all pairs of the dense matrix in float64, by gonum, one core",
		"doc/proofs/eigenmap.md", bench.E2E)
}

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	if err := p.CheckKind(eigenmap.Grid, eigenmap.Patch); err != nil {
		return err
	}
	n := p.Nodes().Voxels()
	if err := c.Allow(quantity.Seconds(math.Pow(float64(n), 3)*cubeNS*1e-9), "the cube of %d nodes × %d ns", n,
		cubeNS); err != nil {
		return err
	}
	if n > 1<<15 {
		return errors.New("at most 32,768 nodes are supported")
	}
	return c.AllowMemory(3*8*n*n, "three matrices of %d × %d numbers", n, n)
}

// Setup allocates the map.
func (Implementation) Setup(p *eigenmap.Problem, _ bench.Conditions) (bench.Job[eigenmap.Map], error) {
	return &job{p: p, Output: eigenmap.NewOutput(p)}, nil
}

type job struct {
	p *eigenmap.Problem
	eigenmap.Output
}

func (j *job) Do(*bench.Trace) error {
	g, err := j.p.Define()
	if err != nil {
		return err
	}
	var e mat.EigenSym
	if !e.Factorize(g.Matrix(), true) {
		return errors.New("the eigenvalues were not found")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	for k, x := range j.Vectors {
		mat.Col(x, k, &vectors)
	}
	// Rounding may put values near 0 on either side of it. Sums over the edges are at least 0.
	copy(j.Values, g.Apply(slices.Repeat([][]float64{make([]float64, g.Nodes())}, j.p.K), j.Vectors))
	slices.Sort(j.Values)
	return nil
}
