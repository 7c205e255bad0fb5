package betti

import (
	"errors"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// CurvesInConvention is the question of curves in another convention, put to the same
// implementations, as InConvention puts that of one set.
func CurvesInConvention(w bench.Workload[grid.Source, Curves], c ecc.Convention) bench.Workload[grid.Source, Curves] {
	if c == (ecc.Convention{}) {
		return w
	}
	impls := make([]bench.Implementation[grid.Source, Curves], len(w.Impls))
	for i, impl := range w.Impls {
		impls[i] = curvesViewer{impl, c}
	}
	w.Impls = impls
	w.Policy = verify.Policy[grid.Source, Curves]{Agree: sameCurves, Laws: conventional(c), Weak: weakCurves}
	return w
}

// A curvesViewer answers about a view of an image.
type curvesViewer struct {
	bench.Implementation[grid.Source, Curves]
	in ecc.Convention
}

// view is what is asked about. Values at or above one are those whose negatives are at or
// below its negative; and the rest of the set at a level are those above it, whose negatives
// are below its negative. The rest is in a layer that belongs to it, from the first level on, as masked voxels do.
func (v curvesViewer) view(in grid.Source) (grid.Source, error) {
	if v.in.Periodic != (grid.Axes{}) {
		return nil, errPeriodic
	}
	if v.descends() {
		var err error
		if in, err = grid.Negate(in); err != nil {
			return nil, err
		}
	}
	if v.in.Vertices && v.in.Masked {
		in = grid.Present(in)
	}
	if v.in.Vertices {
		in = grid.Pad(in)
	}
	return in, nil
}

// rest is what belongs to the rest from the first level on beside the layer: the masked voxels. Its set at the first
// level is that of the layer and them.
func (v curvesViewer) rest(in grid.Source) (grid.Source, error) {
	if v.descends() {
		var err error
		if in, err = grid.Negate(in); err != nil {
			return nil, err
		}
	}
	return grid.Pad(grid.Gaps(in)), nil
}

// descends reports whether views have their values in reverse order.
func (v curvesViewer) descends() bool { return v.in.Vertices != v.in.Superlevel }

func (v curvesViewer) CanDo(in grid.Source, c bench.Conditions) error {
	view, err := v.view(in)
	if err != nil {
		return err
	}
	return v.Implementation.CanDo(view, c)
}

func (v curvesViewer) Setup(in grid.Source, c bench.Conditions) (bench.Job[Curves], error) {
	view, err := v.view(in)
	if err != nil {
		return nil, err
	}
	job, err := v.Implementation.Setup(view, c)
	if err != nil {
		return nil, err
	}
	t := turned{Job: job, viewer: v, image: in}
	if v.in.Vertices && v.in.Masked {
		rest, err := v.rest(in)
		if err == nil {
			t.rest, err = v.Implementation.Setup(rest, c)
		}
		if err != nil {
			return nil, errors.Join(err, job.Close())
		}
	}
	return t, nil
}

// A turned job turns the curves of a view back.
type turned struct {
	bench.Job[Curves]
	viewer curvesViewer
	image  grid.Source
	rest   bench.Job[Curves] // of what is there before the first level; nil for the layer alone
}

func (t turned) Do(trace *bench.Trace) error {
	if err := t.Job.Do(trace); err != nil || t.rest == nil {
		return err
	}
	return t.rest.Do(trace)
}

func (t turned) Poison() {
	if t.Job.Poison(); t.rest != nil {
		t.rest.Poison()
	}
}

func (t turned) Close() error {
	if t.rest == nil {
		return t.Job.Close()
	}
	return errors.Join(t.Job.Close(), t.rest.Close())
}

// initialNumbers returns the numbers before the first level: those of the layer around the box.
func (t turned) initialNumbers() (Numbers, error) {
	switch {
	case t.rest != nil:
		c, err := t.rest.Out()
		return c.At(0), err
	case t.image.Shape().Dim() == 2:
		return Numbers{B0: 1, B1: 1}, nil
	}
	return Numbers{B0: 1, B2: 1}, nil
}

func (t turned) Out() (Curves, error) {
	view, err := t.Job.Out()
	if in := t.viewer.in; err != nil || slices.Equal(view, PoisonedCurves) || !in.Vertices && !in.Superlevel {
		return view, err
	}
	out := make(Curves, 0, len(view)+1)
	last := t.image.Ladder().Len() - 1
	if !t.viewer.in.Vertices {
		for _, s := range slices.Backward(view) {
			out = append(out, Change{last - s.Level, s.Numbers})
		}
		return out, nil
	}
	// The set at a level of the image is what a level of the view leaves: of a sublevel set
	// the one below that of its negative, and likewise of a superlevel set. At the last one
	// no voxel is left and the layer encloses nothing but the set, a box.
	flat := t.image.Shape().Dim() == 2
	dual := func(n Numbers) Numbers {
		if flat {
			return Numbers{B0: n.B1, B1: n.B0}
		}
		return Numbers{B0: n.B2, B1: n.B1, B2: n.B0}
	}
	before, err := t.initialNumbers()
	if err != nil {
		return nil, err
	}
	if len(view) == 0 || view[0].Level > 0 {
		view = append(Curves{{}}, view...)
	}
	for i, s := range view {
		n := s.Numbers
		if i == 0 {
			n = n.Minus(before)
		}
		// What comes to the rest goes from the set.
		if n = dual(n); n != (Numbers{}) {
			out = append(out, Change{s.Level, Numbers{}.Minus(n)})
		}
	}
	if t.viewer.descends() {
		slices.Reverse(out)
		for i := range out {
			out[i].Level = last - out[i].Level
		}
	}
	return out, nil
}
