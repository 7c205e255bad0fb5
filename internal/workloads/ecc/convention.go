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
	w.Policy = fingerprintPolicy(fingerprinted(fingerprint.Draw(1).In(c)))
	return w
}

// fingerprintPolicy holds answers to a fingerprint, whatever the convention.
func fingerprintPolicy(f law) verify.Policy[grid.Source, VCEC] {
	return verify.Policy[grid.Source, VCEC]{
		Agree: first, Weak: weak,
		Laws: []law{{Name: "changes sum to 1", Check: sumsToOne}, f},
	}
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
	_, layer := around(in, v.in)
	return &viewJob{job, in, v.in, layer}, nil
}

// A viewJob answers by a job that counts a view of the image.
type viewJob struct {
	bench.Job[VCEC]
	image grid.Source
	in    Convention
	layer int64 // the change of all layers around what was counted
}

func (j *viewJob) Out() (VCEC, error) {
	v, err := j.Job.Out()
	if err != nil {
		return nil, err
	}
	return j.turnedBack(v), nil
}

// Begin forgets what was counted.
func (j *viewJob) Begin() {
	j.layer = 0
	adder(j.Job).Begin()
}

// Add counts the view of an image too.
func (j *viewJob) Add(in grid.Source, times int64) error {
	view, err := viewed(in, j.in)
	if err != nil {
		return err
	}
	own, _ := around(j.image, j.in)
	sign, layer := around(in, j.in)
	times *= own * sign
	j.layer += times * layer
	return adder(j.Job).Add(view, times)
}

// adder is a job that adds up.
func adder(j bench.Job[VCEC]) bench.Adder[grid.Source] { return j.(bench.Adder[grid.Source]) }

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

// around is the sign that the view's changes have of an image's, and the change of the layer
// around it, a ring or a hollow box, which is there from the first level on.
func around(s grid.Source, c Convention) (sign, layer int64) {
	if c.Vertices && s.Shape().Dim() == 3 {
		return -1, 2
	}
	return 1, 0
}

// turnedBack is the changes of the image of those of its view.
func (j *viewJob) turnedBack(v VCEC) VCEC {
	changes := make(VCEC, 0, len(v)+1)
	sign, _ := around(j.image, j.in)
	if len(v) == 0 || v[0].Level > 0 {
		v = append(VCEC{{Level: 0}}, v...)
	}
	for i, s := range v {
		if i == 0 {
			s.Change -= j.layer
		}
		if s.Change *= sign; s.Change != 0 {
			changes = append(changes, s)
		}
	}
	if descends(j.in) {
		slices.Reverse(changes)
		for i := range changes {
			changes[i].Level = j.image.Ladder().Len() - 1 - changes[i].Level
		}
	}
	return changes
}
