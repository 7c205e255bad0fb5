// Package blocked computes the gradient vector flow with temporal blocking: it runs several steps
// on a tile of the field while the tile is in a core's cache. A tile is streamed along the slowest
// axis, and the margin of its rows and columns shrinks by one with each step. Margins are computed
// once per tile, by the same operations in the same order, so the result is bit-identical to plain
// sweeps.
package blocked

import (
	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// stepNS is the estimated time per component, voxel, step and core.
const stepNS = 1.5

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "blocked", Where: "cpu",
		Method: "several steps at a time of tiles in the cache, streamed along the slowest axis, a component after the " +
			"other, all cores",
		Source: "doc/proofs/gvf.md",
		Scopes: []bench.Scope{bench.E2E},
		ISAs:   rows.Available(),
	}
}

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *gvf.Problem, c bench.Conditions) error {
	if err := p.TakesSteps(); err != nil {
		return err
	}
	if _, err := rows.Choose(c.ISA); err != nil {
		return err
	}
	n, d, threads := p.Shape().Voxels(), int64(p.Dim()), int64(max(1, c.Threads))
	if err := c.Allow(quantity.Seconds(float64(n*d)*float64(p.Steps+5)*stepNS*1e-9/float64(threads)),
		"%d voxels × %d components × %d steps × %v ns on %d cores", n, d, p.Steps, stepNS, threads); err != nil {
		return err
	}
	return c.AllowMemory(4*n*(2*d+2)+threads*2*tileBytes,
		"%d numbers for each of %d voxels, and a tile for each of %d cores", 2*d+2, n, threads)
}

// Setup allocates the field and one more component.
func (Implementation) Setup(p *gvf.Problem, c bench.Conditions) (bench.Job[gvf.Flow], error) {
	kernel, err := rows.Choose(c.ISA)
	if err != nil {
		return nil, err
	}
	threads := c.Cores()
	s := p.Shape()
	j := &job{p: p, kernel: kernel, n: int(s.D), h: int(s.H), w: int(s.W), Output: gvf.NewOutput(p)}
	if s.D == 1 { // a stack of rows
		j.n, j.h, j.flat = int(s.H), 1, true
	}
	j.cut = cutting(j.n, j.h, j.w, threads, j.flat)
	j.other = grid.NewValues[float32](s.Voxels())
	for range threads {
		j.cores = append(j.cores, &core{job: j})
	}
	return j, nil
}

type job struct {
	p       *gvf.Problem
	kernel  rows.Kernel
	n, h, w int  // streamed planes, rows of each, columns
	flat    bool // a plane is a row of a 2D image, and its neighbouring rows are other planes
	cut     cut
	start   gvf.Starter
	gvf.Output
	other []float32 // alternates with the result as source and target of a pass
	cores []*core
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("gradient")
	start, err := j.start.Start(j.p, len(j.cores))
	end()
	if err != nil {
		return err
	}
	defer trace.Span("steps")()
	steps := int(j.p.Steps)
	passes := (steps + j.cut.depth - 1) / j.cut.depth
	tiles := j.cut.tiles(j.n, j.h, j.w)
	for c, v0 := range start.V0 {
		from := v0
		for i := range passes {
			to := j.V[c]
			if (passes-1-i)%2 == 1 { // the last pass must write to the result
				to = j.other
			}
			j.pass(tiles, pass{component: c, depth: steps*(i+1)/passes - steps*i/passes, from: from, to: to, v0: v0, b: start.B})
			from = to
		}
		if passes == 0 {
			copy(j.V[c], v0)
		}
	}
	return nil
}

// A pass is several steps of one component that are computed together.
type pass struct {
	component, depth int
	from, to, v0, b  []float32
}

func (j *job) pass(tiles []tile, p pass) {
	crew.InTurn(len(j.cores), len(tiles), func(core, i int) { j.cores[core].run(tiles[i], p) })
}
