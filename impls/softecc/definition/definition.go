// Package definition computes the soft Euler characteristic curve cell by cell in float64. It is
// the reference for images that are small enough.
package definition

import (
	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/softecc"
)

// cellNS is the time of one sigmoid of a cell on a core, for the estimate in a rejection.
const cellNS = 25

// Implementation is ready to use.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("definition", "every cell at every threshold, in float64, all cores",
		"doc/proofs/softecc.md", bench.E2E)
}

// CanDo rejects problems that need more time or memory than the conditions allow.
func (Implementation) CanDo(p *softecc.Problem, c bench.Conditions) error {
	if err := p.Check(); err != nil {
		return err
	}
	n, m, threads := p.Shape().Voxels(), int64(len(p.Tau)), int64(max(1, c.Threads))
	cells := int64(4)
	if p.Shape().D > 1 {
		cells = 8
	} else {
		threads = 1
	}
	estimate := quantity.Seconds(float64(n*cells) * float64(m) * cellNS * 1e-9 / float64(threads))
	if err := c.Allow(estimate, "%d voxels × %d cells × %d thresholds × %d ns on %d cores", n, cells, m, cellNS,
		threads); err != nil {
		return err
	}
	return c.AllowMemory(20*n, "20 bytes for each of %d voxels", n)
}

// Setup binds the definition to a problem.
func (Implementation) Setup(p *softecc.Problem, _ bench.Conditions) (bench.Job[softecc.Answer], error) {
	return &job{p: p}, nil
}

type job struct {
	p *softecc.Problem
	bench.Output[softecc.Answer]
}

func (j *job) Do(*bench.Trace) (err error) {
	j.Last, err = softecc.Define(j.p)
	return err
}
