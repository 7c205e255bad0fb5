package ecc

import (
	"errors"
	"runtime"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Convention says which cells an image has, and of which values its sets are.
type Convention = fingerprint.Convention

// InConvention is the question in another convention, put to the same implementations: each
// counts a view of the image in the project's convention, and what it says is turned back.
// The fingerprint, which knows the conventions by itself, is held to the image and not to
// the view, by eyes where they are quicker. Changes are by level as ever; a superlevel set grows from the last to the first.
func InConvention(
	w bench.Workload[grid.Source, VCEC], c Convention, eyes ...Witness,
) bench.Workload[grid.Source, VCEC] {
	if c == (Convention{}) {
		return w
	}
	impls := make([]bench.Implementation[grid.Source, VCEC], len(w.Impls))
	for i, impl := range w.Impls {
		impls[i] = viewer{Implementation: impl, in: viewed(c)}
	}
	w.Impls = impls
	w.Policy = policyIn(c, Fingerprinted(fingerprint.Draw(1).In(c), runtime.GOMAXPROCS(0), eyes...))
	return w
}

// policyIn holds answers in a convention to a fingerprint.
func policyIn(c Convention, f law) verify.Policy[grid.Source, VCEC] {
	laws := []law{f}
	if !c.Masked { // of which nobody knows what all voxels are
		laws = []law{sumsOf(c), f}
	}
	return verify.Policy[grid.Source, VCEC]{
		Agree: first, Weak: weak,
		Laws: laws,
	}
}

// A Gapped implementation takes images with voxels above the last level, which are no part of
// them.
type Gapped interface{ Gapped() }

// A viewer counts a view of an image.
type viewer struct {
	bench.Implementation[grid.Source, VCEC]
	in   viewed
	room *room // of views of pieces; nil where they are read through slabs
}

// A room has the voxels of a view of an image in memory, of one view after the other.
type room struct {
	threads int // that read one
	buffer  []byte
}

// read is a view of an image, in memory where the image is: cores read it together, once, and who counts it
// needs no slabs of it.
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
	errs := make([]error, parts)
	crew.Each(int(parts), func(i int) {
		lo, hi := slices*int64(i)/parts, slices*int64(i+1)/parts
		errs[i] = view.ReadSlab(data[lo*size:hi*size], lo, hi)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return grid.Trusted(view.Shape(), view.Type(), data, view.Ladder())
}

func (v viewer) CanDo(in grid.Source, c bench.Conditions) error {
	if _, ok := v.Implementation.(Gapped); v.in.Masked && !ok {
		return errors.New("takes no image of which voxels are no part")
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
	if terms[0].view, err = j.room.read(terms[0].view, in); err != nil { // as what is added comes
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

// A viewJob answers by jobs that count the terms of an image, or by the first of them alone
// where that adds up.
type viewJob struct {
	image  grid.Source
	in     viewed
	room   *room
	terms  []term
	jobs   []bench.Job[VCEC]
	adds   bool
	layers int64 // the change of all layers around what was counted
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
		v = plus(v, more, j.terms[i+1].times)
	}
	if err != nil {
		return nil, err
	}
	return j.turnedBack(v), nil
}

// Begin forgets what was counted.
func (j *viewJob) Begin() {
	j.adds, j.layers = true, 0
	adder(j.jobs[0]).Begin()
}

// Add counts the terms of an image too.
func (j *viewJob) Add(in grid.Source, times int64) error {
	terms, err := j.in.terms(in)
	if err != nil {
		return err
	}
	times *= j.in.sign(j.image) * j.in.sign(in) // that of the job's image is taken at the end
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

// AddJoined is that of the one job of a view that has the image's slices, where there is room for it.
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

// plus is the changes of two together, of the second so many times.
func plus(a, b VCEC, times int64) VCEC {
	all := make(VCEC, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var s Step
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Level < b[0].Level:
			s, a = a[0], a[1:]
		case len(a) == 0 || b[0].Level < a[0].Level:
			s, b = Step{b[0].Level, times * b[0].Change}, b[1:]
		default:
			s, a, b = Step{a[0].Level, a[0].Change + times*b[0].Change}, a[1:], b[1:]
		}
		if s.Change != 0 {
			all = append(all, s)
		}
	}
	return all
}

// adder is a job that adds up.
func adder(j bench.Job[VCEC]) bench.Adder[grid.Source] { return j.(bench.Adder[grid.Source]) }

// viewed is a convention as views of an image in the project's convention.
type viewed Convention

// A term is a view that is counted so many times, of which the layer around the voxels changes
// so much.
type term struct {
	view         grid.Source
	times, layer int64
}

// terms are views of which the curve of an image is the sum, but for the image's sign.
//
// A ring is an interval, the first voxels of the axis once more after the last ones, whose ends
// are one: χ of the interval without χ of that end. So each periodic axis makes two terms of
// one, the second without the axis.
//
// Voxels at or above a value are those whose negatives are at or below its negative. A cell
// whose vertices are all in a set is dual to one of top cells that none of those outside the set
// has as a face: of an image of n axes in a layer that is outside,
//
//	χ of the set by vertices = (−1)ⁿ · (1 − χ of its complement by top cells).
func (c viewed) terms(s grid.Source) ([]term, error) {
	if err := c.Periodic.Of(s.Shape()); err != nil {
		return nil, err
	}
	type ring struct {
		image grid.Source
		wrap  grid.Axes
		times int64
	}
	rings := []ring{{s, c.Periodic, 1}}
	for axis := range c.Periodic.Each() {
		for _, r := range rings {
			rings = append(rings, ring{grid.First(r.image, axis), r.wrap.Without(axis), -r.times})
		}
	}
	list := make([]term, len(rings))
	for i, r := range rings {
		t := term{view: grid.Wrap(r.image, r.wrap)}
		t.times, t.layer = r.times*c.sign(s)*c.sign(t.view), c.layer(t.view)
		if c.descends() {
			var err error
			if t.view, err = grid.Negate(t.view); err != nil {
				return nil, err
			}
		}
		if c.Vertices && c.Masked { // what is masked is outside with the layer
			outside := term{view: grid.Pad(grid.Gaps(t.view)), times: -t.times}
			list = append(list, outside)
			t.view, t.layer = grid.Present(t.view), 0
		}
		if c.Vertices {
			t.view = grid.Pad(t.view)
		}
		list[i] = t
	}
	return list, nil
}

// descends reports whether views have their values in reverse order.
func (c viewed) descends() bool { return c.Vertices != c.Superlevel }

// sign is that of a curve where the view's is positive.
func (c viewed) sign(s grid.Source) int64 {
	if c.Vertices && s.Shape().Dim() == 3 {
		return -1
	}
	return 1
}

// layer is the change of the layer around an image, a ring or a hollow box, which is there from
// the first level on.
func (c viewed) layer(s grid.Source) int64 {
	if c.Vertices && s.Shape().Dim() == 3 {
		return 2
	}
	return 0
}

// turnedBack is the changes of the image of those of its views.
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
