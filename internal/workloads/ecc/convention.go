package ecc

import (
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Convention says which cells an image has, and of which values its sets are.
type Convention = fingerprint.Convention

// InConvention is the question in another convention, put to the same implementations: each
// counts a view of the image in the project's convention, and what it says is turned back.
// The fingerprint, which knows the conventions by itself, is held to the image and not to
// the view. Changes are by level as ever; a superlevel set grows from the last to the first.
func InConvention(w bench.Workload[grid.Source, VCEC], c Convention) bench.Workload[grid.Source, VCEC] {
	if c == (Convention{}) {
		return w
	}
	impls := make([]bench.Implementation[grid.Source, VCEC], len(w.Impls))
	for i, impl := range w.Impls {
		impls[i] = viewer{impl, c}
	}
	w.Impls = impls
	w.Policy = verify.Policy[grid.Source, VCEC]{
		Agree: first, Weak: weak,
		Laws: []law{{Name: "changes sum to 1", Check: sumsToOne}, fingerprinted(fingerprint.Draw(1).In(c))},
	}
	return w
}

// A viewer counts a view of an image.
type viewer struct {
	bench.Implementation[grid.Source, VCEC]
	in Convention
}

func (v viewer) CanDo(in grid.Source, c bench.Conditions) error {
	view, err := viewed(in, v.in)
	if err != nil {
		return err
	}
	return v.Implementation.CanDo(view, c)
}

func (v viewer) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	view, err := viewed(in, v.in)
	if err != nil {
		return nil, err
	}
	job, err := v.Implementation.Setup(view, c)
	if err != nil {
		return nil, err
	}
	return viewJob{job, in, v.in}, nil
}

type viewJob struct {
	bench.Job[VCEC]
	image grid.Source
	in    Convention
}

func (j viewJob) Out() (VCEC, error) {
	v, err := j.Job.Out()
	if err != nil {
		return nil, err
	}
	return turnedBack(v, j.image, j.in), nil
}

// descends reports whether the view of a convention has its values in reverse order.
func descends(c Convention) bool { return c.Vertices != c.Superlevel }

// viewed is the image whose curve in the project's convention gives that of an image in
// another one. Voxels at or above a value are those whose negatives are at or below its
// negative. A cell whose vertices are all in a set is dual to one of top cells that none of
// those outside the set has as a face: of an image of n axes in a layer that is outside,
//
//	χ of the set by vertices = (−1)ⁿ · (1 − χ of its complement by top cells).
func viewed(s grid.Source, c Convention) (grid.Source, error) {
	if descends(c) {
		var err error
		if s, err = grid.Negate(s); err != nil {
			return nil, err
		}
	}
	if c.Vertices {
		s = grid.Pad(s)
	}
	return s, nil
}

// turnedBack is the changes of an image of those of its view. The layer around it, a ring or
// a hollow box, is there from the first level on.
func turnedBack(v VCEC, image grid.Source, c Convention) VCEC {
	changes := make(VCEC, 0, len(v)+1)
	sign, layer := int64(1), int64(0)
	if c.Vertices && image.Shape().Dim() == 3 {
		sign, layer = -1, 2
	}
	if len(v) == 0 || v[0].Level > 0 {
		v = append(VCEC{{Level: 0}}, v...)
	}
	for i, s := range v {
		if i == 0 {
			s.Change -= layer
		}
		if s.Change *= sign; s.Change != 0 {
			changes = append(changes, s)
		}
	}
	if descends(c) {
		slices.Reverse(changes)
		for i := range changes {
			changes[i].Level = image.Ladder().Len() - 1 - changes[i].Level
		}
	}
	return changes
}
