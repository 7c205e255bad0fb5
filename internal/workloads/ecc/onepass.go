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
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// InOnePass returns the workload for an image that is read once, in order, and need not fit in
// memory. The implementation and the fingerprint process each slab while the next ones are read. If
// the implementation's jobs are no Adders, each slab is counted as an image. It is for a single
// answer. Slabs have slabSlices slices; 0 selects a suitable number.
func InOnePass(w bench.Workload[grid.Source, VCEC], c Convention, slabSlices int64) bench.Workload[grid.Source, VCEC] {
	w, p := passing(w, c, pass{slices: slabSlices, key: fingerprint.Draw(1)})
	w.Policy = policyIn(c, p.law())
	return w
}

// InShare returns the workload for a shard of an image, the slices of, as pieces of grid.EachJoined.
// It also returns a function for the fingerprint of the shard after the answer. The answers of all
// shards add up to the curve of the image, and their fingerprints (with the same key) add up to its
// fingerprint. Each answer is checked against its own fingerprint.
func InShare(w bench.Workload[grid.Source, VCEC], c Convention, of grid.Span, key fingerprint.Key,
	by PieceHooks) (bench.Workload[grid.Source, VCEC], func() fingerprint.Sum) {
	w, p := passing(w, c, pass{of: &of, key: key, beside: by})
	w.Policy = verify.Policy[grid.Source, VCEC]{Agree: first, Laws: []law{p.law()}}
	return w, func() fingerprint.Sum { return p.sum }
}

// A PieceHooks lists further work on the pieces of a shard. Either function may be nil.
type PieceHooks struct {
	// See is called for each piece.
	See func(piece *grid.Field, times int64) error
	// Spill receives the steps of about Voxels voxels at a time, after their fingerprint was
	// checked. It is for curves that do not fit in memory. The final answer then lacks the spilled
	// steps.
	Spill  func(VCEC) error
	Voxels int64
}

// SpilledVoxels is the usual size of a spill. If every voxel changes a level of its own, the steps
// take some hundred megabytes.
const SpilledVoxels = 1 << 23

// fewestSpilled is the least number of slices of a piece with spills.
const fewestSpilled = 2

// passing returns the workload with implementations that read the image in one pass.
func passing(w bench.Workload[grid.Source, VCEC], c Convention, of pass) (bench.Workload[grid.Source, VCEC], *pass) {
	p := &of
	p.in = c
	impls := make([]bench.Implementation[grid.Source, VCEC], len(w.Impls))
	for i, impl := range w.Impls {
		joining, _ := impl.(Joining)
		impls[i] = passer{viewer{Implementation: summing(impl, p.span), in: viewed(c)}, p, joining}
	}
	w.Impls = impls
	return w, p
}

// A Joining implementation has jobs that implement Joiner. PieceBytes is the memory of a job about pieces of some
// slices of an image, without that of levels that have no table.
type Joining interface {
	PieceBytes(in grid.Source, slices int64, threads int) int64
}

// A Joiner is an Adder of 3D images that counts only the contribution of a piece after the previous
// one. This costs less than counting both. The count of a piece with More is complete after the
// next piece.
type Joiner interface {
	AddJoined(grid.Piece) error
}

// A pass is the state of one reading of an image, in addition to its curve.
type pass struct {
	in     Convention
	of     *grid.Span // nil for the whole image
	slices int64      // per slab
	key    fingerprint.Key
	sum    fingerprint.Sum // nil before the pass
	beside PieceHooks
	wrong  *verify.Diff    // of the first spill with a wrong fingerprint
	held   fingerprint.Sum // fingerprint of the spilled steps
}

// span returns the slices of the pass.
func (p *pass) span(in grid.Source) grid.Span {
	if p.of != nil {
		return *p.of
	}
	return grid.Whole(in)
}

// law is the law that an answer has the fingerprint of the image that was read.
func (p *pass) law() law {
	return law{
		Name: FingerprintLaw, Note: "key " + p.key.String(), Drawn: true, Independent: true,
		Check: func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) { return p.hold(in, out) },
	}
}

// hold returns nil if an answer, together with its spills, has the fingerprint of the image.
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

// keyFor returns the key for an image or its slabs, in a convention.
func (p *pass) keyFor(in grid.Source, c Convention) fingerprint.Key {
	return p.key.WithConvention(c).ForLevels(in.Ladder().Len())
}

// A passer is an implementation that counts an image piece by piece.
type passer struct {
	viewer
	*pass
	joining Joining // or nil
}

// cached reports whether pieces of an image are small enough to be counted from the cache.
func (p passer) cached(in grid.Source) bool { return p.joining != nil && in.Shape().Dim() == 3 }

// step returns the number of slices of a piece, without the shared one.
func (p passer) step(in grid.Source, threads int) int64 {
	switch {
	case p.beside.Spill != nil:
		return max(fewestSpilled, p.beside.Voxels/in.Shape().SliceVoxels())
	case p.slices == 0 && p.cached(in):
		return grid.CachedSlices(in, threads)
	case p.slices == 0:
		return grid.PieceSlices(in, p.span(in)) - 1
	}
	return p.slices
}

// CanDo rejects an image that the implementation rejects, or whose pieces take more memory than the conditions allow.
func (p passer) CanDo(in grid.Source, c bench.Conditions) error {
	memory := c.Memory
	c.Memory = 0
	if err := p.viewer.CanDo(in, c); err != nil {
		return err
	}
	c.Memory = memory
	need, slices := p.pieces(in, c.Threads)
	if p.joining != nil {
		need += p.joining.PieceBytes(in, slices, c.Threads)
	}
	return c.AllowMemory(need, "pieces of %d slices of %s on %d cores", slices, quantity.Bytes(grid.SliceBytes(in)),
		c.Threads)
}

// pieces returns the memory of the pieces and of the witness, and the number of slices of a piece.
func (p passer) pieces(in grid.Source, threads int) (need, slices int64) {
	step, size := p.step(in, threads), grid.SliceBytes(in)
	slices = min(in.Shape().Slices(), step+1)
	need = grid.SharingBytes(in, max(2, step)) + grid.CachedBytes(in)
	need += need / size * grid.ScratchBytes(in)
	if levels := in.Ladder().Len(); in.Ladder().Indexed() {
		need += 8 * levels * int64(p.key.ForLevels(levels).Functions()+threads+2)
	}
	if p.pass.in != (Convention{}) { // a view of a piece
		need += (slices + viewSlices*min(int64(threads), slices)) * size
	}
	return need, slices
}

// Setup prepares the weights. Do binds the implementation to the first piece.
func (p passer) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	// EachJoined handles a periodic slice axis, so pieces are not periodic along it.
	within := p.pass.in.WithinSlices(in.Shape())
	if c.Memory > 0 { // the rest is for the implementation
		need, _ := p.pieces(in, c.Threads)
		c.Memory = max(1, c.Memory-need)
	}
	j := &passJob{
		pass: p.pass, in: in, c: c, count: viewer{Implementation: p.Implementation, in: viewed(within)},
		look: fingerprint.Prepare(in.Type(), in.Ladder(), p.keyFor(in, within)).On(c.Threads),
	}
	j.step = p.step(in, c.Threads)
	if p.cached(in) {
		j.joins = within == Convention{Superlevel: within.Superlevel}
		j.count.room = &room{threads: c.Threads}
	}
	return j, nil
}

type passJob struct {
	pass  *pass
	count viewer
	step  int64 // slices of a piece
	joins bool  // whether a piece is joined to the previous one
	look  *fingerprint.Prepared
	in    grid.Source
	c     bench.Conditions
	bench.Output[VCEC]
}

func (j *passJob) Do(*bench.Trace) (err error) {
	var job bench.Job[VCEC]
	sum, held, voxels := looked{Sum: j.look.Zero()}, j.look.Zero(), int64(0)
	spills := j.pass.beside.Spill != nil
	err = grid.EachJoined(j.in, j.pass.span(j.in), j.step, j.pass.in.Periodic.Slices(j.in.Shape()),
		func(piece grid.Piece) error {
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
	if j.Last = (VCEC{}); job != nil { // without slices no implementation is called
		j.Last, err = job.Out()
	}
	return err
}

// looked is a fingerprint that several goroutines add to.
type looked struct {
	sync.Mutex
	fingerprint.Sum
}

func (l *looked) add(f fingerprint.Sum, times int64) {
	l.Lock()
	defer l.Unlock()
	l.Sum.Add(f, times)
}

// add counts a piece, adds its fingerprint and calls See. It subtracts the shared slice. The
// fingerprint may still be running when it returns; the function rest waits for it.
func (j *passJob) add(job bench.Job[VCEC], p grid.Piece, sum *looked) (rest func() error, err error) {
	taken := !j.joins || p.Times != 1 // whether the shared slice must be subtracted
	count := func() error { return adder(job).Add(p.Field, p.Times) }
	of := func() (fingerprint.Sum, error) { return j.look.Compute(p.Field, j.c.Threads) }
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
	more := func() error { return nil } // the rest of the shared slice
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

// countAndLook runs count on the calling goroutine and look. They run in parallel if the threads
// use all cores anyway, and one after the other if that would take extra cores. It returns when
// count is done; rest waits for look.
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
		if !counted { // after an error or a panic
			err = cmp.Or(err, rest())
		}
	}()
	err = count()
	counted = err == nil
	return rest, err
}

// see calls See, if there is one.
func (j *passJob) see(piece *grid.Field, times int64) error {
	if j.pass.beside.See == nil {
		return nil
	}
	return j.pass.beside.See(piece, times)
}

// spill passes the steps since the last spill to Spill. sum is the fingerprint of all steps, held
// that of the steps that were spilled before.
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

func (j *passJob) Poison() { j.Last, j.pass.sum, j.pass.wrong = nil, nil, nil }
