// Package binned computes the soft Euler characteristic curve at a cost per voxel that does not
// depend on the number of thresholds. It finds the change of every voxel from the extrema of
// minimum-filtered rows (doc/proofs/extrema.md). Bins of Y sum the changes with their first two
// moments, and are convolved with the sigmoids. The gradient takes one look-up per voxel with a
// change. doc/proofs/softecc.md bounds the error.
package binned

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/softecc"
)

// Implementation is ready to use.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "binned", Where: "cpu",
		Method: "changes from local extrema, with two moments in bins of Y, the bins convolved; one look-up a voxel " +
			"backward, all cores",
		Source: "doc/proofs/softecc.md",
		Scopes: []bench.Scope{bench.E2E},
		ISAs:   available(),
	}
}

// voxelNS is the time per voxel and core of the Go code on noise, for the estimate in a rejection.
const voxelNS = 60

// CanDo rejects problems that need more time or memory than the conditions allow.
func (Implementation) CanDo(p *softecc.Problem, c bench.Conditions) error {
	if err := p.Check(); err != nil {
		return err
	}
	if _, err := choose(c.ISA); err != nil {
		return err
	}
	n, threads := p.Shape().Voxels(), int64(max(1, c.Threads))
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9/float64(threads)), "%d voxels × %d ns on %d cores", n,
		voxelNS, threads); err != nil {
		return err
	}
	return c.AllowMemory(5*n+threads*(most*binBytes+4*stripBytes), "5 bytes for each of %d voxels, and bins for %d cores",
		n, threads)
}

// stripBytes is the size of the part of two planes that a core keeps in its cache.
const stripBytes = 256 << 10

// Setup allocates the changes, the gradient, and the bins of each core.
func (Implementation) Setup(p *softecc.Problem, c bench.Conditions) (bench.Job[softecc.Answer], error) {
	kernel, err := choose(c.ISA)
	if err != nil {
		return nil, err
	}
	field, err := grid.Load(p.Source)
	if err != nil {
		return nil, err
	}
	j := &job{p: turned(p), dx: make([]float32, p.Shape().Voxels())}
	s := newSweep(j.p, kernel, layBins(p), c.Cores(), rowsOf(p, field, p.Tilt(), kernel))
	s.changes = make([]uint8, p.Shape().Voxels())
	j.sweep = s
	return j, nil
}

type job struct {
	p      *softecc.Problem // as it is counted: see turned
	sweep  *sweep[float32]
	dx     []float32
	answer softecc.Answer
}

func (j *job) Do(trace *bench.Trace) error {
	p, s := j.p, j.sweep
	end := trace.Span("forward")
	s.forward()
	end()
	end = trace.Span("curve")
	total := s.total()
	c := newCurve(len(p.Tau))
	total.convolve(c, p, len(s.cores))
	a := c.answer(p)
	end()
	end = trace.Span("table")
	t := s.slopes(len(s.cores))
	end()
	end = trace.Span("backward")
	moment := s.backward(t, j.dx)
	end()
	a.DX = j.dx
	p.Direction(&a, moment)
	if p.Vertices {
		turnBack(&a)
	}
	j.answer = a
	return nil
}

// Poison overwrites what Out reads.
func (j *job) Poison() {
	j.answer = softecc.Answer{}
	for i := range j.dx {
		j.dx[i] = 1e30
	}
}

// Out returns the last answer; the next Do overwrites its gradient.
func (j *job) Out() (softecc.Answer, error) { return j.answer, nil }

// Close frees nothing: all memory is garbage collected.
func (j *job) Close() error { return nil }
