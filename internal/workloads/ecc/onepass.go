package ecc

import (
	"errors"
	"runtime"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// InOnePass is the question in a convention of an image that is read once, in order, and
// need not fit in memory: each slab is counted by the implementation and looked at by the
// fingerprint while the next ones are read. Its implementations are those whose jobs are
// Adders. It is for one answer. Slabs have so many slices, or with 0 as many as are worth it.
func InOnePass(w bench.Workload[grid.Source, VCEC], c Convention, slabSlices int64) bench.Workload[grid.Source, VCEC] {
	w, p := passing(w, c, pass{slices: slabSlices, key: fingerprint.Draw(1)})
	w.Policy = policyIn(c, p.law())
	return w
}

// InShare is the question of what some slices of an image add to its curve, as pieces of
// grid.EachPiece, and what gives their fingerprint when it was answered. The answers of the
// shares that an image is cut into add up to its curve, and their fingerprints, by one key, to
// that of the image. An answer is held to its own.
func InShare(w bench.Workload[grid.Source, VCEC], c Convention, of grid.Span, key fingerprint.Key) (bench.Workload[grid.Source, VCEC], func() fingerprint.Sum) {
	w, p := passing(w, c, pass{of: &of, key: key})
	w.Policy = verify.Policy[grid.Source, VCEC]{Agree: first, Laws: []law{p.law()}}
	return w, func() fingerprint.Sum { return p.sum }
}

// passing is a workload whose implementations count what they read.
func passing(w bench.Workload[grid.Source, VCEC], c Convention, of pass) (bench.Workload[grid.Source, VCEC], *pass) {
	p := &of
	p.in = c
	impls := make([]bench.Implementation[grid.Source, VCEC], len(w.Impls))
	for i, impl := range w.Impls {
		impls[i] = passer{viewer{impl, viewed(c)}, p}
	}
	w.Impls = impls
	return w, p
}

// A pass is what one reading of an image tells beside its curve.
type pass struct {
	in     Convention
	of     *grid.Span // nil for the whole
	slices int64      // of a slab
	key    fingerprint.Key
	sum    fingerprint.Sum // nil before
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
		Name: FingerprintLaw, Note: "key " + p.key.String(), Independent: true,
		Check: func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) { return p.hold(in, out) },
	}
}

// hold is nil where an answer has the fingerprint of the image that was read.
func (p *pass) hold(in grid.Source, out VCEC) (*verify.Diff, error) {
	if p.sum == nil {
		return nil, errors.New("the image was not read")
	}
	levels := in.Ladder().Len()
	k := p.key.In(p.in).For(levels)
	if d := misplaced(out, levels); d != nil {
		return d, nil
	}
	return unlike(p.sum, out, levels, k, runtime.GOMAXPROCS(0))
}

// A passer counts an image piece by piece.
type passer struct {
	viewer
	*pass
}

// Setup makes the weights. The implementation is bound to pieces as they come.
func (p passer) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	// How the last slice and the first meet is for EachPiece.
	within := p.pass.in.WithinSlices(in.Shape())
	return &passJob{
		pass: p.pass, in: in, c: c, count: viewer{p.Implementation, viewed(within)},
		look: fingerprint.Prepare(in.Type(), in.Ladder(), p.key.In(within).For(in.Ladder().Len())),
	}, nil
}

type passJob struct {
	pass  *pass
	count viewer
	look  *fingerprint.Prepared
	in    grid.Source
	c     bench.Conditions
	out   VCEC
}

func (j *passJob) Do(*bench.Trace) (err error) {
	var job bench.Job[VCEC]
	sum := j.look.Zero()
	err = grid.EachPiece(j.in, j.pass.span(j.in), j.pass.slices, j.pass.in.Periodic.Slices(j.in.Shape()), func(piece *grid.Field, times int64) error {
		if job == nil {
			var err error
			if job, err = j.count.Setup(piece, j.c); err != nil {
				return err
			}
			adder(job).Begin()
		}
		if err := adder(job).Add(piece, times); err != nil {
			return err
		}
		f, err := j.look.Of(piece, j.c.Threads)
		sum.Add(f, times)
		return err
	})
	if job != nil {
		defer func() { err = errors.Join(err, job.Close()) }()
	}
	if err != nil {
		return err
	}
	j.pass.sum = sum
	if j.out = (VCEC{}); job != nil { // of no slices nobody is asked
		j.out, err = job.Out()
	}
	return err
}

func (j *passJob) Poison()            { j.out, j.pass.sum = nil, nil }
func (j *passJob) Out() (VCEC, error) { return j.out, nil }
func (j *passJob) Close() error       { return nil }
