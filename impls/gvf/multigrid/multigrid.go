// Package multigrid computes the steady state of the gradient vector flow. It runs full multigrid,
// then conjugate gradients in float64 with a float32 V-cycle as preconditioner, until the residual
// reaches the tolerance. Images may have any size: a coarser cell is a pair of finer ones, and the
// last of an odd number stays single.
package multigrid

import (
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// voxelNS is the estimated time per component, voxel and core.
const voxelNS = 150

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "multigrid", Where: "cpu",
		Method: "full multigrid, then conjugate gradients, V(1,1)-cycles in float32, residuals in float64, all cores",
		Source: "doc/proofs/gvf.md; Han, Xu and Prince 2007",
		Scopes: []bench.Scope{bench.E2E},
		ISAs:   rows.Available(),
	}
}

// perCell is the number of bytes per cell of the finest level: four lists of float32 on each level,
// and three more on the finest.
const perCell = 4*4*4/3 + 3*4

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *gvf.Problem, c bench.Conditions) error {
	if err := p.ComesToRest(); err != nil {
		return err
	}
	if _, err := rows.ChooseKit(c.ISA); err != nil {
		return err
	}
	n, d, threads := p.Shape().Voxels(), int64(p.Dim()), int64(max(1, c.Threads))
	if err := c.Allow(quantity.Seconds(float64(n*d)*voxelNS*1e-9/float64(threads)),
		"%d voxels × %d components × %d ns on %d cores", n, d, voxelNS, threads); err != nil {
		return err
	}
	each, cells := 4*d, n/p.Shape().W*int64(rows.Padded(int(p.Shape().W)))
	return c.AllowMemory(n*each+cells*perCell,
		"%d bytes for each of %d voxels, and %d for each of %d cells in whole vectors", each, n, perCell, cells)
}

// Setup allocates the field.
func (Implementation) Setup(p *gvf.Problem, c bench.Conditions) (bench.Job[gvf.Flow], error) {
	kit, err := rows.ChooseKit(c.ISA)
	if err != nil {
		return nil, err
	}
	out := gvf.NewOutput(p)
	return &job{p: p, kit: kit, threads: c.Cores(), Output: out, start: gvf.Starter{V0: out.V}}, nil
}

type job struct {
	p       *gvf.Problem
	kit     *rows.Kit
	threads int
	solver  *solver     // made by the first call
	start   gvf.Starter // each component of V0 is in the memory of its solution, b in that of the solver
	gvf.Output
	cycles int // of all components
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("levels")
	if j.solver == nil {
		j.solver = newSolver(j.p, j.kit, j.threads)
		j.start.B = j.solver.b[:j.p.Shape().Voxels()]
	}
	s := j.solver
	end()
	end = trace.Span("gradient")
	start, err := j.start.Start(j.p, j.threads)
	end()
	if err != nil {
		return err
	}
	j.cycles = 0
	end = trace.Span("levels")
	s.begin()
	end()
	defer trace.Span("solve")()
	for c := range start.V0 {
		cycles, err := s.solve(j.V[c], start.V0[c])
		if err != nil {
			return fmt.Errorf("component %s: %w", "xyz"[c:c+1], err)
		}
		j.cycles += cycles
	}
	return nil
}
