package ecc

import (
	"errors"
	"runtime"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Convention defines the cells of an image (T or V, periodic axes, mask) and the direction of its
// sets.
type Convention = fingerprint.Convention

// InConvention returns the workload in another convention, with the same implementations. Each of
// them counts a view of the image in the default convention, and the result is converted back. The
// fingerprint supports every convention itself and reads the image, not the view. Changes keep the
// ladder's level indices; superlevel sets grow from the last level to the first.
func InConvention(w bench.Workload[grid.Source, VCEC], c Convention) bench.Workload[grid.Source, VCEC] {
	if c == (Convention{}) {
		return w
	}
	impls := make([]bench.Implementation[grid.Source, VCEC], len(w.Impls))
	for i, impl := range w.Impls {
		impls[i] = viewer{Implementation: impl, in: viewed(c)}
	}
	w.Impls = impls
	w.Policy = policyIn(c, Fingerprinted(fingerprint.Draw(1).WithConvention(c), runtime.GOMAXPROCS(0)))
	return w
}

// policyIn returns the policy for a convention: the fingerprint, and the sum of changes where it is
// known.
func policyIn(c Convention, f law) verify.Policy[grid.Source, VCEC] {
	laws := []law{f}
	if !c.Masked { // the total χ of a masked image is unknown
		laws = []law{sumsOf(c), f}
	}
	return verify.Policy[grid.Source, VCEC]{
		Agree: first, Weak: weak,
		Laws: laws,
	}
}

// A Gapped implementation accepts values above the last level, which mark voxels outside the image.
type Gapped interface{ Gapped() }

// A viewer is an implementation that counts a view of an image.
type viewer struct {
	bench.Implementation[grid.Source, VCEC]
	in   viewed
	room *room // of the views of pieces; nil if they are read by slabs
}

// A room is memory for one view at a time.
type room struct {
	threads int // number of threads that read a view
	buffer  []byte
}

// read returns a view of an image. If the image is in memory, all cores copy the view to memory
// once, so that the implementation need not read slabs of it.
func (r *room) read(view, image grid.Source) (grid.Source, error) {
	_, resident := image.(*grid.Field)
	if _, is := view.(*grid.Field); is || !resident || r == nil {
		return view, nil
	}
	size, slices := grid.SliceBytes(view), view.Shape().Slices()
	if int64(len(r.buffer)) < size*slices {
		r.buffer = grid.NewBuffer(size * slices)
	}
	data := r.buffer[:size*slices]
	parts := min(max(1, int64(r.threads)), slices)
	err := crew.Try(int(parts), int(parts), func(_, i int) error {
		lo, hi := slices*int64(i)/parts, slices*int64(i+1)/parts
		return view.ReadSlab(data[lo*size:hi*size], lo, hi)
	})
	if err != nil {
		return nil, err
	}
	return grid.Trusted(view.Shape(), view.Type(), data, view.Ladder())
}

func (v viewer) CanDo(in grid.Source, c bench.Conditions) error {
	if _, ok := v.Implementation.(Gapped); v.in.Masked && !ok {
		return errors.New("masks are not supported")
	}
	terms, err := v.in.terms(in)
	if err != nil {
		return err
	}
	return v.Implementation.CanDo(terms[0].view, c) // the largest
}

func (v viewer) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	terms, err := v.in.terms(in)
	if err != nil {
		return nil, err
	}
	j := &viewJob{image: in, in: v.in, room: v.room}
	if terms[0].view, err = j.room.read(terms[0].view, in); err != nil { // a Field, like the pieces of Add
		return nil, err
	}
	for _, t := range terms {
		job, err := v.Implementation.Setup(t.view, c)
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		j.jobs, j.terms = append(j.jobs, job), append(j.terms, t)
		j.layers += t.times * t.layer
	}
	return j, nil
}

// A viewJob answers with one job per term of the image. After Begin, only the first job adds up all
// terms.
type viewJob struct {
	image  grid.Source
	in     viewed
	room   *room
	terms  []term
	jobs   []bench.Job[VCEC]
	adds   bool
	layers int64 // total change of the padding layers around the counted views
}

func (j *viewJob) Do(t *bench.Trace) error {
	for _, job := range j.jobs {
		if err := job.Do(t); err != nil {
			return err
		}
	}
	return nil
}

func (j *viewJob) Poison() {
	for _, job := range j.jobs {
		job.Poison()
	}
}

func (j *viewJob) Close() error {
	var errs []error
	for _, job := range j.jobs {
		errs = append(errs, job.Close())
	}
	return errors.Join(errs...)
}

func (j *viewJob) Out() (VCEC, error) {
	v, err := j.jobs[0].Out()
	for i, job := range j.jobs[1:] {
		if err != nil || j.adds {
			break
		}
		var more VCEC
		more, err = job.Out()
		v = v.Plus(more, j.terms[i+1].times)
	}
	if err != nil {
		return nil, err
	}
	return j.turnedBack(v), nil
}

// Begin resets the sum.
func (j *viewJob) Begin() {
	j.adds, j.layers = true, 0
	adder(j.jobs[0]).Begin()
}

// Add counts the terms of another image.
func (j *viewJob) Add(in grid.Source, times int64) error {
	terms, err := j.in.terms(in)
	if err != nil {
		return err
	}
	times *= j.in.sign(j.image) * j.in.sign(in) // Out applies the sign of the job's own image
	for _, t := range terms {
		j.layers += times * t.times * t.layer
		view, err := j.room.read(t.view, in)
		if err == nil {
			err = adder(j.jobs[0]).Add(view, times*t.times)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// AddJoined joins a piece. The view has the same slices as the image, so one job is enough.
func (j *viewJob) AddJoined(p grid.Piece) error {
	terms, err := j.in.terms(p.Field)
	if err != nil {
		return err
	}
	view, err := j.room.read(terms[0].view, p.Field)
	if err != nil {
		return err
	}
	p.Field = view.(*grid.Field)
	if p.Shared != nil {
		if p.Shared, err = grid.Trusted(p.Shared.Shape(), p.Type(), p.Data()[:grid.SliceBytes(p)], p.Ladder()); err != nil {
			return err
		}
	}
	return j.jobs[0].(Joiner).AddJoined(p)
}

// adder returns a job as an Adder.
func adder(j bench.Job[VCEC]) bench.Adder[grid.Source] { return j.(bench.Adder[grid.Source]) }

// viewed expresses a convention by views of an image in the default convention.
type viewed Convention

// A term is a view with its factor, and the change that its padding layer contributes.
type term struct {
	view         grid.Source
	times, layer int64
}

// An Interval is a view of an image without periodic axes, and its factor in a sum.
type Interval struct {
	View  grid.Source
	Times int64
}

// Unrolled returns the views whose weighted sum has the χ of an image with periodic axes.
//
// A periodic axis is a ring. It equals an interval that repeats the first voxels at its end, with
// both ends identified: χ(ring) = χ(interval) − χ(end). So each periodic axis makes two terms of
// one, the second without that axis.
func Unrolled(s grid.Source, periodic grid.Axes) []Interval {
	list, wraps := []Interval{{s, 1}}, []grid.Axes{periodic}
	for axis := range periodic.Each() {
		for i, in := range list {
			list, wraps = append(list, Interval{views.First(in.View, axis), -in.Times}), append(wraps, wraps[i].Without(axis))
		}
	}
	for i := range list {
		list[i].View = views.Wrap(list[i].View, wraps[i])
	}
	return list
}

// terms returns the views whose weighted sum is the curve of an image, up to the image's sign.
//
// The voxels ≥ t are the voxels whose negated values are ≤ −t.
//
// In construction V, a cell is in the set if all its vertices are. Such a cell is dual to a cell
// that is a face of no voxel outside the set. For an image of n axes with a layer of outside voxels
// around it,
//
//	χ of the set in construction V = (−1)ⁿ · (1 − χ of its complement in construction T).
func (c viewed) terms(s grid.Source) ([]term, error) {
	if err := c.Periodic.Check(s.Shape()); err != nil {
		return nil, err
	}
	intervals := Unrolled(s, c.Periodic)
	list := make([]term, len(intervals))
	for i, in := range intervals {
		t := term{view: in.View, times: in.Times * c.sign(s) * c.sign(in.View), layer: c.layer(in.View)}
		if c.descends() {
			var err error
			if t.view, err = views.Negate(t.view); err != nil {
				return nil, err
			}
		}
		if c.Vertices && c.Masked { // masked voxels are outside, like the padding layer
			outside := term{view: views.Pad(views.Gaps(t.view)), times: -t.times}
			list = append(list, outside)
			t.view, t.layer = views.Present(t.view), 0
		}
		if c.Vertices {
			t.view = views.Pad(t.view)
		}
		list[i] = t
	}
	return list, nil
}

// descends reports whether the views negate the values.
func (c viewed) descends() bool { return c.Vertices != c.Superlevel }

// sign returns the sign of a curve relative to its view.
func (c viewed) sign(s grid.Source) int64 {
	if c.Vertices && s.Shape().Dim() == 3 {
		return -1
	}
	return 1
}

// layer returns the χ of the padding layer around an image: 0 for a ring (2D), 2 for a hollow box
// (3D). The layer is in the sets from the first level on.
func (c viewed) layer(s grid.Source) int64 {
	if c.Vertices && s.Shape().Dim() == 3 {
		return 2
	}
	return 0
}

// turnedBack converts the changes of the views to the changes of the image.
func (j *viewJob) turnedBack(v VCEC) VCEC {
	if !j.in.Vertices && !j.in.Superlevel {
		return v
	}
	changes := make(VCEC, 0, len(v)+1)
	if len(v) == 0 || v[0].Level > 0 {
		v = append(VCEC{{Level: 0}}, v...)
	}
	for i, s := range v {
		if i == 0 {
			s.Change -= j.layers
		}
		if s.Change *= j.in.sign(j.image); s.Change != 0 {
			changes = append(changes, s)
		}
	}
	if j.in.descends() {
		slices.Reverse(changes)
		for i := range changes {
			changes[i].Level = j.image.Ladder().Len() - 1 - changes[i].Level
		}
	}
	return changes
}
