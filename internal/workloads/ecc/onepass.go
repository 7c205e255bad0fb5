package ecc

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// InOnePass is the question in a convention of an image that is read once, in order, and
// need not fit in memory: each slab is counted by the implementation and looked at by the
// fingerprint while the next ones are read. Implementations whose jobs are no Adders count each
// slab as an image. It is for one answer. Slabs have so many slices, or with 0 as many as are worth it.
func InOnePass(w bench.Workload[grid.Source, VCEC], c Convention, slabSlices int64) bench.Workload[grid.Source, VCEC] {
	w, p := passing(w, c, pass{slices: slabSlices, key: fingerprint.Draw(1)})
	w.Policy = policyIn(c, p.law())
	return w
}

// InShare is the question of what some slices of an image add to its curve, as pieces of
// grid.EachPiece, and what gives their fingerprint when it was answered. The answers of the
// shares that an image is cut into add up to its curve, and their fingerprints, by one key, to
// that of the image. An answer is held to its own.
func InShare(w bench.Workload[grid.Source, VCEC], c Convention, of grid.Span, key fingerprint.Key, by Beside) (bench.Workload[grid.Source, VCEC], func() fingerprint.Sum) {
	w, p := passing(w, c, pass{of: &of, key: key, beside: by})
	w.Policy = verify.Policy[grid.Source, VCEC]{Agree: first, Laws: []law{p.law()}}
	return w, func() fingerprint.Sum { return p.sum }
}

// Beside is what else is done with the pieces of a share; either may be nil.
type Beside struct {
	// See is called with each of them.
	See func(piece *grid.Field, times int64) error
	// Spill is given the steps of about so many voxels at a time, held to their fingerprint, where
	// those of all need not fit in memory. The answer is what was not spilled.
	Spill  func(VCEC) error
	Voxels int64
}

// SpilledVoxels are as many as a spill is worth: those that all change something at a level of
// their own take some hundred megabytes.
const SpilledVoxels = 1 << 23

// fewestSpilled are the slices of a piece where they are large.
const fewestSpilled = 2

// passing is a workload whose implementations count what they read.
func passing(w bench.Workload[grid.Source, VCEC], c Convention, of pass) (bench.Workload[grid.Source, VCEC], *pass) {
	p := &of
	p.in = c
	impls := make([]bench.Implementation[grid.Source, VCEC], len(w.Impls))
	for i, impl := range w.Impls {
		_, joins := impl.(Joining)
		impls[i] = passer{viewer{Implementation: summing(impl, p.span), in: viewed(c)}, p, joins}
	}
	w.Impls = impls
	return w, p
}

// A Joining implementation has jobs that are Joiners.
type Joining interface{ Joins() }

// A Joiner is an Adder of 3D images that counts what a piece adds to the one before, for less than
// both images. What it has counted of a piece with More is complete when that was added.
type Joiner interface {
	AddJoined(grid.Piece) error
}

// A pass is what one reading of an image tells beside its curve.
type pass struct {
	in     Convention
	of     *grid.Span // nil for the whole
	slices int64      // of a slab
	key    fingerprint.Key
	sum    fingerprint.Sum // nil before
	beside Beside
	wrong  *verify.Diff    // the first spill that did not have its fingerprint
	held   fingerprint.Sum // of what was spilled
}

// span is the slices that are asked for.
func (p *pass) span(in grid.Source) grid.Span {
	if p.of != nil {
		return *p.of
	}
	return grid.Whole(in)
}

// law is that an answer has the fingerprint of what was read.
func (p *pass) law() law {
	return law{
		Name: FingerprintLaw, Note: "key " + p.key.String(), Drawn: true, Independent: true,
		Check: func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) { return p.hold(in, out) },
	}
}

// hold is nil where an answer has the fingerprint of the image that was read.
func (p *pass) hold(in grid.Source, out VCEC) (*verify.Diff, error) {
	if p.sum == nil {
		return nil, errors.New("the image was not read")
	}
	if p.wrong != nil {
		return p.wrong, nil
	}
	rest := slices.Clone(p.sum)
	rest.Add(p.held, -1)
	return p.checkSum(in, rest, out)
}

// checkSum returns nil if the steps have the expected fingerprint.
func (p *pass) checkSum(in grid.Source, want fingerprint.Sum, out VCEC) (*verify.Diff, error) {
	levels := in.Ladder().Len()
	if d := misplaced(out, levels); d != nil {
		return d, nil
	}
	return checkSum(want, out, levels, p.keyFor(in, p.in), runtime.GOMAXPROCS(0))
}

// keyFor is the key for an image, or for its slabs in a convention of theirs.
func (p *pass) keyFor(in grid.Source, c Convention) fingerprint.Key {
	return p.key.In(c).For(in.Ladder().Len())
}

// A passer counts an image piece by piece.
type passer struct {
	viewer
	*pass
	joins bool
}

// Setup makes the weights. The implementation is bound to pieces as they come.
func (p passer) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	// How the last slice and the first meet is for EachPiece.
	within := p.pass.in.WithinSlices(in.Shape())
	j := &passJob{
		pass: p.pass, in: in, c: c, count: viewer{Implementation: p.Implementation, in: viewed(within)},
		look: fingerprint.Prepare(in.Type(), in.Ladder(), p.keyFor(in, within)),
	}
	if j.cached = p.joins && in.Shape().Dim() == 3; j.cached {
		j.joins = within == Convention{Superlevel: within.Superlevel}
		j.count.room = &room{threads: c.Threads}
	}
	return j, nil
}

type passJob struct {
	pass  *pass
	count viewer
	// cached says that pieces, and views of them, are counted out of a cache, and joins that a piece is joined to
	// what was counted before.
	cached, joins bool
	look          *fingerprint.Prepared
	in            grid.Source
	c             bench.Conditions
	out           VCEC
}

func (j *passJob) Do(*bench.Trace) (err error) {
	var job bench.Job[VCEC]
	sum, held, voxels := looked{Sum: j.look.Zero()}, j.look.Zero(), int64(0)
	of, spills := j.pass.slices, j.pass.beside.Spill != nil
	if spills {
		of = max(fewestSpilled, j.pass.beside.Voxels/j.in.Shape().SliceVoxels())
	}
	if of == 0 && j.cached {
		of = grid.CachedSlices(j.in, j.c.Threads)
	}
	err = grid.EachJoined(j.in, j.pass.span(j.in), of, j.pass.in.Periodic.Slices(j.in.Shape()), func(piece grid.Piece) error {
		if job == nil {
			var err error
			if job, err = j.count.Setup(piece.Field, j.c); err != nil {
				return err
			}
			adder(job).Begin()
		}
		piece.More = piece.More && !spills
		rest, err := j.add(job, piece, &sum)
		if err != nil {
			return err
		}
		if !spills {
			piece.Leave(rest)
			return nil
		}
		if err := rest(); err != nil {
			return err
		}
		if voxels += piece.Shape().Voxels(); voxels < j.pass.beside.Voxels {
			return nil
		}
		voxels = 0
		return j.spill(job, sum.Sum, held)
	})
	if job != nil {
		defer func() { err = errors.Join(err, job.Close()) }()
	}
	if p, is := errors.AsType[*crew.Panic](err); is {
		panic(p)
	}
	if err != nil {
		return err
	}
	j.pass.sum, j.pass.held = sum.Sum, held
	if j.out = (VCEC{}); job != nil { // of no slices nobody is asked
		j.out, err = job.Out()
	}
	return err
}

// looked is the fingerprint of what was looked at, by whomever.
type looked struct {
	sync.Mutex
	fingerprint.Sum
}

func (l *looked) add(f fingerprint.Sum, times int64) {
	l.Lock()
	defer l.Unlock()
	l.Sum.Add(f, times)
}

// add counts a piece, looks at it, and has it seen, and takes off a slice that it shares. Where it returns no
// error it may still be looking: rest waits for that.
func (j *passJob) add(job bench.Job[VCEC], p grid.Piece, sum *looked) (rest func() error, err error) {
	taken := !j.joins || p.Times != 1 // the shared slice is to be taken off
	count := func() error { return adder(job).Add(p.Field, p.Times) }
	of := func() (fingerprint.Sum, error) { return j.look.Of(p.Field, j.c.Threads) }
	if !taken {
		count = func() error { return job.(Joiner).AddJoined(p) }
		of = func() (fingerprint.Sum, error) { return j.look.OfPiece(p, j.c.Threads) }
	}
	look := func() error {
		f, err := of()
		if err == nil {
			sum.add(f, p.Times)
		}
		return err
	}
	looks, err := countAndLook(j.c.Threads, runtime.GOMAXPROCS(0), count, look)
	if err != nil {
		return nil, err
	}
	more := func() error { return nil } // of the shared slice
	if err = j.see(p.Field, p.Times); err == nil && p.Shared != nil {
		if taken {
			more, err = j.add(job, grid.Piece{Field: p.Shared, Times: -p.Times}, sum)
		} else {
			err = j.see(p.Shared, -p.Times)
		}
	}
	if err != nil {
		return nil, cmp.Or(err, looks())
	}
	return func() error { return cmp.Or(looks(), more()) }, nil
}

// countAndLook counts and looks, by so many threads on so many cores: at the same time where that takes no
// more cores, and none of them waits for the others in between. It counts on the caller's goroutine, and
// returns when it has counted: rest waits until it has looked, too, where there is no error.
func countAndLook(threads, cores int, count, look func() error) (rest func() error, err error) {
	if threads == 1 || threads < cores {
		if err := count(); err != nil {
			return nil, err
		}
		return func() error { return nil }, look()
	}
	var g crew.Group
	var failed error
	g.Go(func() { failed = look() })
	rest = func() error {
		if err := g.Await(); err != nil {
			return err
		}
		return failed
	}
	counted := false
	defer func() {
		if !counted { // but an error, or a panic
			err = cmp.Or(err, rest())
		}
	}()
	err = count()
	counted = err == nil
	return rest, err
}

// see has an image seen.
func (j *passJob) see(piece *grid.Field, times int64) error {
	if j.pass.beside.See == nil {
		return nil
	}
	return j.pass.beside.See(piece, times)
}

// spill hands on what a job has counted, of which sum is the fingerprint with that of what was
// held to it before.
func (j *passJob) spill(job bench.Job[VCEC], sum, held fingerprint.Sum) error {
	out, err := job.Out()
	if err != nil {
		return err
	}
	some := slices.Clone(sum)
	some.Add(held, -1)
	if j.pass.wrong == nil {
		if j.pass.wrong, err = j.pass.checkSum(j.in, some, out); err != nil {
			return err
		}
	}
	held.Add(some, 1)
	adder(job).Begin()
	return j.pass.beside.Spill(out)
}

func (j *passJob) Poison()            { j.out, j.pass.sum, j.pass.wrong = nil, nil, nil }
func (j *passJob) Out() (VCEC, error) { return j.out, nil }
func (j *passJob) Close() error       { return nil }
