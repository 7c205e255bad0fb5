package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"eccbench/datasets/storage"
	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// An Observer follows a run. Its methods are called from one goroutine.
type Observer interface {
	// Begin announces a cell that is about to run. If impl is "", it announces that the input is
	// being made.
	Begin(impl, input string)
	// End receives the record of a finished cell. An error ends the run.
	End(bench.CellRecord) error
}

// Run runs the unfinished cells of a plan, input by input. If it is interrupted, it returns the
// context's error; the observer has received all cells that finished before.
func Run(ctx context.Context, p Plan, o Observer) error {
	p.shrunk, p.idle = map[string]bool{}, &worker.Idle{}
	defer p.idle.End()
	for _, input := range p.Inputs {
		groups, err := p.groups(input)
		if err != nil {
			return err
		}
		rates := rates{}
		for _, cells := range groups {
			if err := p.group(ctx, cells, rates, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// rates are the measured speeds of the ceilings for one input, by device kind and scope.
type rates map[ceilingKey]rate

type ceilingKey struct {
	where string
	scope bench.Scope
}

// A rate is in bytes, so that a ceiling applies to all cells that move the same bytes in the same
// place.
type rate struct {
	bytes float64 // median bytes per second
	// Lower bounds of the seconds per byte: the low end of the interval of the median, and the
	// fastest call.
	median, call float64
}

// A group is the cells of one input, with their shared data.
type group struct {
	Plan
	input    string
	scope    bench.Scope
	cost     bench.Cost
	size     int64 // bytes of each variant in memory
	variants []string
	shared   []*os.File       // one per variant; none if the inputs are streamed
	extents  []memfile.Extent // of the shared files
	maker    Bench            // the workload that makes the inputs
	hashes   []uint64         // of the shared inputs, from before the first worker that may write to them
	rates    rates            // of the ceilings
	witness  string
	answers  []*os.File      // of the witness, one per variant
	refused  error           // the reason why no cell of the group can run
	files    []storage.Stamp // the variants' files at the start of the group
}

// newGroup describes the input of a list of cells. The last cell belongs to the workload that makes
// the input; earlier cells may be ceilings.
func (p Plan) newGroup(cells []cell) (*group, error) {
	b, input := cells[len(cells)-1].bench, cells[0].input
	cost, size, err := b.Describe(input)
	if err != nil {
		return nil, fmt.Errorf("input %s: %w", input, err)
	}
	p.Time, p.Budget = p.allow(cost)
	g := &group{Plan: p, maker: b, input: input, cost: cost, size: size, rates: rates{}}
	rotate := 1
	if p.Sampling != nil {
		rotate = max(1, p.Rotate)
	}
	if g.variants, err = b.variants(input, rotate); err != nil {
		return nil, fmt.Errorf("input %s: %w", input, err)
	}
	g.scope, g.refused = p.scopeOf(size, len(g.variants))
	return g, nil
}

// group runs the cells of one input.
func (p Plan) group(ctx context.Context, cells []cell, rates rates, o Observer) error {
	b, input := cells[len(cells)-1].bench, cells[0].input
	g, err := p.newGroup(cells)
	if err != nil {
		return err
	}
	g.rates = rates
	todo := slices.DeleteFunc(slices.Clone(cells), g.done)
	if len(todo) == 0 {
		return nil
	}
	defer func() { closeAll(g.shared); closeAll(g.answers) }()
	var paths []string
	for _, name := range g.variants {
		paths = append(paths, b.Files(name)...)
	}
	slices.Sort(paths) // variants of one file list the same path
	g.files = storage.Stamps(slices.Compact(paths))
	if g.scope != bench.File && g.refused == nil {
		o.Begin("", input)
		if err := g.share(ctx); err != nil {
			return err
		}
		if path := storage.Changed(g.files); path != "" {
			g.refused = fmt.Errorf("input changed while it was read: %s", path)
		}
		g.files = nil // the workers do not read them again
	}
	for _, c := range todo {
		o.Begin(c.about.Name, input)
		record, err := g.run(ctx, c)
		if err != nil {
			return err
		}
		if err := o.End(record); err != nil {
			return err
		}
	}
	return nil
}

// done reports whether a cell already has a record, of the same peer if it is one. It also takes the
// rate from the record of a ceiling.
func (g *group) done(c cell) bool {
	if g.Done == nil {
		return false
	}
	record, ok := g.Done(g.key(c))
	if q := c.about.Foreign; ok && q != nil {
		return record.Peer != nil && *record.Peer == *q.Stamp()
	}
	if ok && c.bench.Name() == g.Plan.Ceiling {
		g.noteCeiling(record, record.Ceiling)
	}
	return ok
}

// noteCeiling records the rate of a ceiling, in items per second, and its fastest possible rate.
func (g *group) noteCeiling(r bench.CellRecord, items float64) {
	bytes := float64(r.Cost.Bytes)
	at := ceilingKey{r.Where, r.Scope}
	known, ok := g.rates[at]
	known.bytes = max(known.bytes, items*bytes/float64(max(1, r.Cost.Items)))
	if r.Seconds != nil && bytes > 0 && (r.Status == verify.Verified || r.Status == verify.Noisy) {
		median, call := r.Seconds.Lo/bytes, r.Seconds.Min/bytes
		if known.median > 0 {
			median, call = min(median, known.median), min(call, known.call)
		}
		known.median, known.call = median, call
	}
	if ok || known != (rate{}) {
		g.rates[at] = known
	}
}

// ceiling returns the largest rate in items per second for a cost on a device kind, or 0 if
// unknown.
func (g *group) ceiling(where string, c bench.Cost) float64 {
	if c.Bytes == 0 {
		return 0
	}
	return g.rates[ceilingKey{where, g.scope}].bytes * float64(c.Items) / float64(c.Bytes)
}

func (g *group) key(c cell) bench.CellKey {
	return bench.CellKey{Workload: c.bench.Name(), Impl: c.about.Name, Input: g.input,
		Setting: g.setting(c), Process: c.process}
}

// setting returns the setting of a cell.
func (g *group) setting(c cell) bench.Setting {
	return bench.Setting{Scope: g.scope, Threads: g.threads(), Devices: g.Devices,
		ISA: g.isa(c.about), Hot: g.hot(c.about), Options: c.options}
}

// conditions returns the conditions for the implementation of a cell.
func (g *group) conditions(c cell) bench.Conditions {
	return bench.Conditions{Setting: g.setting(c), Time: g.Time / time.Duration(len(g.variants)),
		Memory: g.Memory, Device: g.Device}
}

// hot reports whether the caches of an implementation stay warm. On the CPU this applies to scope
// file only.
func (g *group) hot(a bench.About) bool {
	return g.Hot && (a.Where != "cpu" || g.scope == bench.File)
}

// share makes the inputs of the group, once for all workers.
func (g *group) share(ctx context.Context) error {
	g.extents = nil
	for _, name := range g.variants {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := memfile.New(name)
		if err != nil {
			return err
		}
		g.shared = append(g.shared, f)
		e, err := g.maker.share(name, f)
		if err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
		g.extents = append(g.extents, e)
	}
	return nil
}

// run runs one cell and completes its record.
func (g *group) run(ctx context.Context, c cell) (bench.CellRecord, error) {
	record, answers, err := g.work(ctx, c)
	if err != nil {
		closeAll(answers)
		return record, err
	}
	if path := storage.Changed(g.files); path != "" {
		// The answers may belong to either version of the image, or to neither.
		g.refused = fmt.Errorf("input changed while it was measured: %s", path)
		verdict := verify.Verdict{Status: verify.Crashed, Reason: g.refused.Error()}
		record = bench.CellRecord{Verdict: verdict, PeakRSS: record.PeakRSS}
		g.files = nil
	}
	key := g.key(c)
	record.Schema, record.Kind = bench.Schema, bench.KindCell
	record.Workload, record.Impl, record.Input = key.Workload, key.Impl, key.Input
	record.Setting, record.Process = key.Setting, key.Process
	record.Where, record.Cost, record.Time = c.about.Where, g.cost, time.Now().UTC().Truncate(time.Millisecond)
	if c.about.Foreign != nil {
		record.Peer = c.about.Foreign.Stamp()
	}
	if record.Status != verify.Skipped && len(record.Unseen) == 0 {
		record.Inputs = g.variants
	}
	rate, _, _, timed := record.Rate()
	isCeiling := c.bench.Name() == g.Ceiling
	if isCeiling && timed && record.Status == verify.Verified {
		g.noteCeiling(record, rate)
	}
	record.Ceiling = g.ceiling(record.Where, record.Cost)
	if !isCeiling && g.answers == nil && mayWitness(c, record) {
		g.witness, g.answers = c.about.Name, answers
	} else {
		closeAll(answers)
	}
	g.finish(&record, timed)
	if record.Status == verify.Wrong && g.Reproduce != nil {
		record.Reproduce = g.Reproduce(c.about.Name, g.shrink(ctx, c, record))
	}
	return record, nil
}

// mayWitness reports whether the answers of a cell can confirm those of the next implementation: only VERIFIED ones
// of our own about the inputs of the group, and if answers are accepted within limits, only those of the reference,
// which follows the definition.
func mayWitness(c cell, r bench.CellRecord) bool {
	return r.Status == verify.Verified && c.about.Foreign == nil && len(r.Unseen) == 0 &&
		(c.bench.Exact() || c.about.Name == c.bench.Reference())
}

// fewInputs is the minimum number of inputs in rotation for a row without a flag.
const fewInputs = 3

// A cell is implausible if it is this many times faster than the ceiling. In memory both medians
// count. On a disk, whose speed varies and which others use too, the ceiling's fastest call counts.
const (
	implausible       = 1.05
	implausibleOnDisk = 1.5
)

// latency is the allowed variation, in seconds, of opening a file and waiting for its first bytes.
// It is independent of the rate.
const latency = 0.01

// implausible returns the speed of a cell relative to its ceiling, and whether that is impossible.
// It compares the slow end of the cell's interval with the fast end of the ceiling's.
func (g *group) implausible(r *bench.CellRecord) (times float64, yes bool) {
	ceiling := g.rates[ceilingKey{r.Where, r.Scope}]
	if ceiling.median == 0 || r.Workload == g.Ceiling {
		return 0, false
	}
	ceiling.median, ceiling.call = ceiling.median*float64(r.Cost.Bytes), ceiling.call*float64(r.Cost.Bytes)
	if r.Scope == bench.File {
		return ceiling.call / r.Seconds.Median, ceiling.call-latency > r.Seconds.Hi*implausibleOnDisk
	}
	return ceiling.median / r.Seconds.Median, ceiling.median > r.Seconds.Hi*implausible
}

// finish checks the timing of a verified cell, and adds the flags that belong next to its figure.
func (g *group) finish(r *bench.CellRecord, timed bool) {
	if !timed {
		return
	}
	if r.Status == verify.Verified {
		half, floor := (r.Seconds.Hi-r.Seconds.Lo)/2/r.Seconds.Median, r.Floor/(r.Seconds.Median*float64(max(1, r.Burst)))
		if times, yes := g.implausible(r); yes {
			r.Status = verify.Implausible
			r.Reason = fmt.Sprintf("%.3g times the rate at which the same bytes can be read", times)
		} else if half > verify.WidestQuoted {
			r.Status, r.Reason = verify.Noisy, fmt.Sprintf("the interval of the median is ±%.0f %%", half*100)
		} else if floor >= mostFloor && r.Trip == 0 {
			trip := quantity.Duration(quantity.Seconds(r.Floor))
			r.Status = verify.Noisy
			r.Reason = fmt.Sprintf("a round trip to the peer, %s, is %.0f %% of the time of a command", trip, floor*100)
		}
		if floor >= leastFloor && r.Trip == 0 {
			r.Flags = append(r.Flags, fmt.Sprintf("floor %.2g %%", floor*100))
		}
	}
	if r.Seconds.Confidence < stats.Confidence {
		r.Flags = append(r.Flags, fmt.Sprintf("n=%d", r.Seconds.N))
	}
	if n := len(r.Inputs); len(r.Unseen) == 0 && n < max(g.Rotate, fewInputs) {
		r.Flags = append(r.Flags, fmt.Sprintf("inputs=%d", n))
	}
}

// Bounds of the round trip to a peer, as a share of a call or a burst. From leastFloor on it gives a flag;
// from mostFloor on the time is not attributed to the peer.
const leastFloor, mostFloor = 0.01, 0.2

// grace is the extra time of a worker beyond its limit before it is killed.
const grace = 10 * time.Second

// work runs the worker of one cell. It also returns the files with the worker's answers.
func (g *group) work(ctx context.Context, c cell) (bench.CellRecord, []*os.File, error) {
	if g.refused != nil {
		return skipped(g.refused.Error()), nil, nil
	}
	if !slices.Contains(c.about.Scopes, g.scope) {
		return skipped(fmt.Sprintf("%s cannot be timed in the scope %s", c.about.Name, g.scope)), nil, nil
	}
	if err := g.seal(ctx, c); err != nil {
		return bench.CellRecord{}, nil, err
	}
	var answers []*os.File
	for range g.variants {
		f, err := memfile.New("answer of " + c.about.Name)
		if err != nil {
			return bench.CellRecord{}, answers, err
		}
		answers = append(answers, f)
	}
	t := worker.Task{
		Workload: c.bench.Name(), Impl: c.about.Name, Inputs: g.variants, Shared: g.shared != nil, Extents: g.extents,
		Conditions: g.conditions(c), Peer: g.peer(c),
		Sampling: g.Sampling, Budget: g.Budget, Reply: g.Time, Cores: runtime.GOMAXPROCS(0),
	}
	p := worker.Process{Task: t, Files: worker.Files{Answers: answers, Inputs: g.shared},
		Limit: max(g.Time, 2*g.Budget) + grace, Clock: g.Clock}
	if g.Time == 0 {
		p.Limit = 0
	}
	if c.bench.Name() == g.Workload && g.witness != "" {
		p.Task.Witness, p.Files.Witness = g.witness, g.answers
	}
	if err := g.hash(c); err != nil {
		return bench.CellRecord{}, answers, err
	}
	record, whole, err := p.Run(ctx, g.Command, g.idle)
	if record.Judge == "" {
		record.Judge = judge(c.about.Foreign != nil)
	}
	if err == nil {
		err = g.restore(ctx, c, &record, whole)
	}
	return record, answers, err
}

// judge returns the judge of a cell: another process than the implementation's, or the same.
func judge(outside bool) string {
	if outside {
		return "outside"
	}
	return "inside"
}

func (p Plan) threads() int {
	return cmp.Or(max(0, p.Threads), runtime.GOMAXPROCS(0))
}

// isa returns the instruction set for an implementation: the requested one or its fastest, or "" if
// it has no choice.
func (p Plan) isa(a bench.About) string {
	if len(a.ISAs) == 0 {
		return ""
	}
	return cmp.Or(p.ISA, a.ISAs[0])
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close() // the files have no name and are in memory: nothing is lost
	}
}

// Interrupted reports whether an error comes from an ended context.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
