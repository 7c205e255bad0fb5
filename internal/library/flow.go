package library

import (
	"errors"
	"fmt"

	"eccbench/impls/gvf/blocked"
	"eccbench/impls/gvf/cpu"
	"eccbench/impls/gvf/definition"
	"eccbench/impls/gvf/multigrid"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/gvf"
)

// checkFlow returns the reason why a request for a flow is invalid, or nil.
func (r Request) checkFlow() error {
	if r.Betti || r.OfSets() || r.Levels > 0 || r.Images > 1 {
		return errors.New("a flow needs one image, without conventions or levels; leave them out")
	}
	return r.Flow.Check()
}

// flow returns the answer of a gradient vector flow. Its rows are float32: the components x, y and,
// for a volume, z, one after the other. A mask has a float32 for each voxel, as in gvf.Problem.
func (r Request) flow(a Answer, in grid.Source) (Answer, error) {
	p := r.Flow.Problem(in)
	if r.within != nil {
		if shape := in.Shape(); int64(len(r.within)) != grid.Float32.Size()*shape.Voxels() {
			return a, fmt.Errorf("a mask of %d bytes: want float32 of %v", len(r.within), shape)
		}
		var err error
		if p, err = p.WithinParts(grid.Values[float32](r.within)); err != nil {
			return a, err
		}
	}
	if err := p.Check(); err != nil {
		return a, err
	}
	w := gvf.Steps(blocked.Implementation{}, cpu.Implementation{}, definition.Implementation{})
	law := gvf.PlainLoop()
	if p.Tol != 0 {
		w, law = gvf.ToSteady(multigrid.Implementation{}), gvf.Rest()
	}
	w.Policy = verify.Policy[*gvf.Problem, gvf.Flow]{Laws: []verify.Law[*gvf.Problem, gvf.Flow]{law}}
	out, err := answered(&a, w, p, r)
	if err != nil {
		return a, err
	}
	out = out.WithAxes(len(a.Shape))
	a.lines, a.Rows, a.Levels = flowLines{out}, int64(len(out.V))*in.Shape().Voxels(), "<f4"
	return a, nil
}

type flowLines struct{ gvf.Flow }

func (flowLines) columns() int64 { return 0 }

// fill appends many values at a time.
func (l flowLines) fill(t *table) {
	for _, list := range l.V {
		t.put(grid.Bytes(list))
	}
}
