// Package multigrid answers the steady state of the gradient vector flow: full multigrid, and
// then conjugate gradients in float64 that a V-cycle in float32 preconditions, until the
// residual is as small as it is asked to be. Images may be of any size: cells of a coarser
// level are pairs of those of the one before, and the last of an odd number is one alone.
package multigrid

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/gvf"
)

// voxelNS is what a component of a voxel takes a core, for the estimate in a refusal.
const voxelNS = 400

// Implementation is ready to use.
type Implementation struct{ fault Fault }

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "multigrid", Where: "cpu",
		Method: "full multigrid, then conjugate gradients in float64 with a V(1,1)-cycle in float32, all cores",
		Source: "doc/gvf.md; Han, Xu and Prince 2007",
		Scopes: []bench.Scope{bench.E2E},
	}
}

// perVoxel is how many bytes of a voxel are kept, beside V0, b and the field: five lists of
// float32 on each level, and four of float64.
const perVoxel = 5*4*4/3 + 4*8

// CanDo refuses what takes more time or memory than the conditions allow.
func (Implementation) CanDo(p *gvf.Problem, c bench.Conditions) error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Tol == 0 {
		return errors.New("answers the steady state, not steps")
	}
	n, d, threads := p.Shape().Voxels(), int64(p.Dim()), int64(max(1, c.Threads))
	if err := c.Allow(quantity.Seconds(float64(n*d)*voxelNS*1e-9/float64(threads)), "%d voxels × %d components × %d ns on %d cores", n, d, voxelNS, threads); err != nil {
		return err
	}
	each := 4*(2*d+1) + perVoxel
	return c.AllowMemory(n*each, "%d bytes for each of %d voxels", each, n)
}

// Setup allocates the field.
func (i Implementation) Setup(p *gvf.Problem, c bench.Conditions) (bench.Job[gvf.Flow], error) {
	threads := c.Threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &job{p: p, fault: i.fault, threads: threads, Output: gvf.NewOutput(p)}, nil
}

type job struct {
	p       *gvf.Problem
	fault   Fault
	threads int
	gvf.Output
	cycles int // of all components
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("gradient")
	start, err := j.p.Start(j.threads)
	end()
	if err != nil {
		return err
	}
	j.cycles = 0
	if slices.Max(start.B) == 0 { // and so is V0, or as good as
		for c := range j.V {
			clear(j.V[c])
		}
		return nil
	}
	end = trace.Span("levels")
	s := newSolver(j.p, start.B, j.threads)
	if j.fault == NotAdjoint {
		s.levels.inject()
	}
	s.early = j.fault == Early
	end()
	defer trace.Span("solve")()
	for c, v0 := range start.V0 {
		if j.fault == Lost && c == len(start.V0)-1 {
			copy(j.V[c], j.V[c-1])
			continue
		}
		cycles, err := s.solve(j.V[c], v0)
		if err != nil {
			return fmt.Errorf("component %s: %w", "xyz"[c:c+1], err)
		}
		j.cycles += cycles
	}
	return nil
}
