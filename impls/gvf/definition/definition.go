// Package definition computes the gradient vector flow by the plain loop over voxels on one core.
// It is the reference.
package definition

import (
	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/gvf"
)

// stepNS is the estimated time per component, voxel and step.
const stepNS = 8

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("definition", "the plain loop in float32, one core",
		"doc/proofs/gvf.md; Smistad et al. 2012, algorithms 1 and 2", bench.E2E)
}

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *gvf.Problem, c bench.Conditions) error {
	if err := p.TakesStepsWithin(gvf.Float16, gvf.Snorm16); err != nil {
		return err
	}
	n, d := p.Shape().Voxels(), int64(p.Dim())
	if err := c.Allow(quantity.Seconds(float64(n*d)*float64(p.Steps+10)*stepNS*1e-9),
		"%d voxels × %d components × %d steps × %d ns", n, d, p.Steps, stepNS); err != nil {
		return err
	}
	return c.AllowMemory(4*n*(2*d+3), "%d numbers for each of %d voxels", 2*d+3, n)
}

// Setup binds the plain loop to a problem.
func (Implementation) Setup(p *gvf.Problem, _ bench.Conditions) (bench.Job[gvf.Flow], error) {
	return &job{p: p}, nil
}

type job struct {
	p *gvf.Problem
	bench.Output[gvf.Flow]
}

func (j *job) Do(*bench.Trace) (err error) {
	j.Last, err = gvf.Define(j.p, 1)
	return err
}
