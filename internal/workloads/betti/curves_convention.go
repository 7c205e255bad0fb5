package betti

import (
	"errors"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// CurvesInConvention returns the workload of curves in another convention for the same
// implementations, as InConvention does for one set.
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

// A curvesViewer answers for a view of an image.
type curvesViewer struct {
	bench.Implementation[grid.Source, Curves]
	in ecc.Convention
}

// view returns the image that the implementation is asked about. A superlevel set contains the
// values whose negatives are at or below the negative of the level. The complement of a set
// contains the values above the level, whose negatives are below its negative. A layer around the
// image and the masked voxels belong to the complement from the first level on.
func (v curvesViewer) view(in grid.Source) (grid.Source, error) {
	if v.in.Periodic != (grid.Axes{}) {
		return nil, errPeriodic
	}
	if v.descends() {
		var err error
		if in, err = views.Negate(in); err != nil {
			return nil, err
		}
	}
	if v.in.Vertices && v.in.Masked {
		in = views.Present(in)
	}
	if v.in.Vertices {
		in = views.Pad(in)
	}
	return in, nil
}

// rest returns the set of the masked voxels and the layer, which belong to the complement from the
// first level on. The set is at the first level of the returned image.
func (v curvesViewer) rest(in grid.Source) (grid.Source, error) {
	if v.descends() {
		var err error
		if in, err = views.Negate(in); err != nil {
			return nil, err
		}
	}
	return views.Pad(views.Gaps(in)), nil
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

// A turned job converts the curves of a view back.
type turned struct {
	bench.Job[Curves]
	viewer curvesViewer
	image  grid.Source
	rest   bench.Job[Curves] // the set before the first level; nil for the layer alone
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

// initialNumbers returns the numbers before the first level: the numbers of the layer around the
// box.
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
	// The set at a level of the image is the complement of a set of the view. For a sublevel set
	// its level is below the negative of the level; the same holds for superlevel sets. At the last
	// level the complement is empty, and the layer encloses only the set, a box.
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
		// An increase of the complement decreases the set.
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
