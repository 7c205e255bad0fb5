package runner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// A trial is the state of one task in its worker.
type trial[In, Out any] struct {
	b       *bound[In, Out]
	clock   worker.Clock
	began   time.Time // start of the task
	impl    bench.Implementation[In, Out]
	inside  bench.Implementation[In, Out] // the same in this process, if impl is a process of its own
	t       worker.Task
	inputs  []In
	files   worker.Files
	jobs    []bench.Job[Out]
	burst   []bench.Job[Out]        // jobs and more, called by one command; none for long calls
	given   []*answerPair[Out]      // one per input
	before  []*answerCopy           // answers of an earlier implementation, one per input
	witness []Out                   // the same, decoded
	others  [][]verify.Witness[Out] // answers of other implementations by input; nil until computed
	perCall time.Duration           // the median call
	// answerMemory is the number of bytes that this process allocated for one job and its answer.
	answerMemory int64
	seconds      [parts][]float64   // of the samples
	total        [parts]float64     // their sums
	counted      int                // the part that is in the record
	wall         time.Duration      // of the last call
	least        time.Duration      // of all calls
	spent        bench.Reported     // in the last call
	current      string             // name of the input of the last call
	unseen       *unseen            // nil while calls are about the task's inputs
	kept         []*answerPair[Out] // answers about unseen inputs that are not judged, in random order
	record       bench.CellRecord
}

func skipped(reason string) bench.CellRecord {
	return bench.CellRecord{Verdict: verify.Verdict{Status: verify.Skipped, Reason: reason}}
}

// setup binds the implementation to each input. Startup counts from the beginning of the task, when
// CanDo opens the device.
func (r *trial[In, Out]) setup() error {
	start := r.clock.Now()
	for i, in := range r.inputs {
		job, err := r.impl.Setup(in, r.t.Conditions)
		if exhausted(err) {
			return errRefused{fmt.Errorf("setting up input %d of %d: %w", i+1, len(r.inputs), err)}
		}
		if err != nil {
			return fmt.Errorf("setting up %s on %s: %w", r.t.Impl, r.t.Inputs[i], err)
		}
		r.jobs = append(r.jobs, job)
		if i == 0 {
			r.record.Startup = r.clock.Since(r.began).Seconds()
		}
	}
	if r.t.Conditions.Scope == bench.File {
		r.flag(r.source())
	}
	if r.t.Extent(0).Size > 0 {
		r.flag("repeats")
	}
	r.begin()
	r.record.Setup = r.clock.Since(start).Seconds()
	return nil
}

// begin discards all answers.
func (r *trial[In, Out]) begin() {
	r.given = nil
	for _, name := range r.t.Inputs {
		r.given = append(r.given, &answerPair[Out]{name: name})
	}
}

// errRefused reports that a cell cannot run, discovered during setup or the first call.
type errRefused struct{ error }

// exhausted reports whether a device lacks memory or kernel resources. The device remains usable
// after such an error.
func exhausted(err error) bool { return device.IsOutOfMemory(err) || device.IsLaunchTooLarge(err) }

func (r *trial[In, Out]) close() {
	for i, g := range r.given {
		g.first.close(r.answerFile(i) == nil)
		g.worst.close(true)
	}
	for _, g := range r.kept {
		g.first.close(true)
	}
	for _, k := range r.before {
		k.close(false)
	}
	r.closeJobs()
}

// closeJobs closes the jobs. It returns an error for a peer that is late. Other errors change nothing,
// since the answers are judged.
func (r *trial[In, Out]) closeJobs() (late error) {
	for _, j := range append(r.jobs, r.burst[min(len(r.jobs), len(r.burst)):]...) {
		var failed *peers.Error
		if err := j.Close(); errors.As(err, &failed) && failed.Kind == peers.Late {
			late = err
		}
	}
	r.jobs, r.burst = nil, nil
	return late
}

// call poisons the buffers of a job, times one Do, and judges the answer.
func (r *trial[In, Out]) call(n int, trace *bench.Trace) (time.Duration, error) {
	i := n % len(r.jobs)
	return r.callAll(r.jobs[i:i+1], i, trace)
}

// callAll makes a call of each job, of a burst if there are several. Their inputs are those of the trial in turn,
// from one on. It returns the mean time.
func (r *trial[In, Out]) callAll(jobs []bench.Job[Out], from int, trace *bench.Trace) (time.Duration, error) {
	names, spent, known := make([]string, len(jobs)), bench.Reported{}, r.t.Inputs
	if r.unseen != nil {
		r.unseen.close()
		known = r.unseen.known
	}
	for k, job := range jobs {
		if len(known) > 0 {
			r.current = known[(from+k)%len(known)]
		} else if err := r.renew(job); err != nil {
			return 0, err
		}
		names[k] = r.current
	}
	// All images are written at the end, so that a peer has no time for the first ones.
	for k, job := range jobs {
		start := time.Now()
		for range mostDraws { // a repeated image could be answered from memory
			job.Poison()
			if b, ok := bench.As[bench.Bursting](job); len(jobs) == 1 || !ok || b.Bursts() {
				break
			}
		}
		spent.Poison += time.Since(start)
		if err := r.cool((from + k) % len(r.jobs)); err != nil {
			return 0, err
		}
	}
	r.current = names[0]
	took, err := r.timed(jobs, trace)
	if err != nil {
		return 0, fmt.Errorf("%s on %s: %w", r.t.Impl, r.current, err)
	}
	for k, job := range jobs {
		r.current = names[k]
		start := time.Now()
		out, err := job.Out()
		spent.Out += time.Since(start)
		switch {
		case err != nil:
		case r.unseen == nil:
			err = r.take((from+k)%len(r.jobs), out)
		default:
			err = r.takeUnseen(out)
		}
		if err != nil {
			return 0, fmt.Errorf("answer of %s to %s: %w", r.t.Impl, r.current, err)
		}
	}
	r.spent = bench.Reported{Poison: spent.Poison, Do: took, Out: spent.Out}
	if times, ok := reported(jobs[0]); ok {
		r.spent = times
	}
	return took, nil
}

// reported returns the times of the last call that another process of this program reports.
func reported[Out any](job bench.Job[Out]) (times bench.Reported, ok bool) {
	if remote, is := bench.As[bench.Remote](job); is {
		return remote.Reported()
	}
	return times, false
}

// Limits of bursts: a call shorter than some round trips without work is called in bursts of that time.
const (
	shortCall = 20
	mostBurst = 64
)

// planBurst sets the jobs up that answer short calls together, if each call is about an input of its own, and
// if all of them can be set up. The first burst is no sample.
func (r *trial[In, Out]) planBurst() error {
	job, ok := bench.As[bench.Bursting](r.jobs[0])
	if !ok || !job.Bursts() || r.unseen == nil && r.jobs[0].(bench.Renewable[In]).Renews() {
		return nil
	}
	aim := shortCall * r.record.Floor
	work := max(r.least.Seconds()-r.record.Floor, aim/mostBurst)
	if work >= aim {
		return nil
	}
	r.burst = slices.Clip(r.jobs)
	for float64(len(r.burst))*work < aim || len(r.burst)%len(r.jobs) != 0 {
		job, err := r.impl.Setup(r.inputs[len(r.burst)%len(r.inputs)], r.t.Conditions)
		if err != nil { // calls are single, then
			for _, job := range r.burst[len(r.jobs):] {
				job.Close() // its process may have ended
			}
			r.burst = nil
			return nil
		}
		r.burst = append(r.burst, job)
	}
	r.record.Burst = len(r.burst)
	_, err := r.callAll(r.burst, 0, nil)
	return err
}

// source returns the flag for the origin of the inputs in scope file: "streamed", unless the first
// input is in memory.
func (r *trial[In, Out]) source() string {
	if h, ok := any(r.inputs[0]).(bench.Holder); ok && h.InMemory() {
		return "in memory"
	}
	return "streamed"
}

// cool evicts an input from the host's caches, in scope file and unless the setting is hot.
func (r *trial[In, Out]) cool(i int) error {
	if r.t.Conditions.Hot || r.t.Conditions.Scope != bench.File {
		return nil
	}
	in, ok := any(r.inputs[i]).(bench.Cooler)
	if !ok {
		return nil
	}
	cold, err := in.Cool()
	if err != nil {
		return fmt.Errorf("emptying the host's caches: %w", err)
	}
	if !cold {
		r.flag("cached")
	}
	return nil
}

// flag adds a flag to the record, once, unless it is "".
func (r *trial[In, Out]) flag(f string) {
	if f != "" && !slices.Contains(r.record.Flags, f) {
		r.record.Flags = append(r.record.Flags, f)
	}
}

// timed times one Do, by the wall clock or, in scope kernel, by device events. It first flushes the
// device's caches, unless the setting is hot. Of a burst it returns the mean.
func (r *trial[In, Out]) timed(jobs []bench.Job[Out], trace *bench.Trace) (took time.Duration, err error) {
	job := jobs[0]
	on, onDevice := bench.As[bench.DeviceJob](job)
	if onDevice && !r.t.Conditions.Hot {
		if err := on.Cool(); err != nil {
			return 0, fmt.Errorf("emptying the caches: %w", err)
		}
	}
	var burst []bench.Bursting
	for _, j := range jobs {
		b, _ := bench.As[bench.Bursting](j)
		burst = append(burst, b)
	}
	start := r.clock.Now()
	if len(jobs) == 1 {
		err = job.Do(trace)
	} else {
		err = burst[0].Burst(burst)
	}
	took = r.clock.Since(start) / time.Duration(len(jobs))
	if r.wall = took; r.least == 0 || took < r.least {
		r.least = took
	}
	if times, ok := reported(job); ok && err == nil {
		return times.Do, nil
	}
	if err != nil || r.t.Conditions.Scope != bench.Kernel {
		return took, err
	}
	if !onDevice {
		return 0, fmt.Errorf("it has no device events for the kernel scope")
	}
	elapsed, err := on.Elapsed()
	if err == nil && elapsed > took {
		return 0, fmt.Errorf("the device reports %v, the host %v", elapsed, took)
	}
	return elapsed, err
}

// The cost of tracing a long call is small, unless the trace has many device intervals. tracingShare
// is the largest accepted cost, and tracingEach the assumed cost of one interval.
const (
	tracingShare = 0.01
	tracingEach  = 100 * time.Microsecond // an interval needs four driver calls: 85 µs with an H200
)

// distorted reports whether tracing may have made a call much longer.
func distorted(took time.Duration, trace *bench.Trace) bool {
	return float64(trace.Noted())*float64(tracingEach) > tracingShare*float64(took)
}

// warmLaunches is the minimum number of calls to warm up a device.
const warmLaunches = 5

// aroundCalls limits the warm-up in wall time, as a multiple of its time in calls. The work between
// calls can dominate: to fetch and hash the answers of a batch takes a thousand times as long as to
// compute them. aroundUnseen limits samples by their longest time, if each has a new input.
const aroundCalls, aroundUnseen = 5, 2

// The host's time of a call may exceed the time of the device's events by a share, plus seconds for
// the launch and the wait. A larger difference gets a flag: it would reveal work outside the
// events.
const (
	beyondEvents = 0.05
	aroundEvents = 200e-6
)

// settles reports whether calls become no faster once caches, page tables and clock frequency have
// settled. A peer may also compile its code, and a device changes its clocks over a longer time.
func (r *trial[In, Out]) settles() bool {
	_, onDevice := bench.As[bench.DeviceJob](r.jobs[0])
	return !onDevice && r.ours()
}

// ours reports whether the jobs run code of this program, in this process or in another one.
func (r *trial[In, Out]) ours() bool {
	_, remote := bench.As[bench.Remote](r.jobs[0])
	_, ours := reported(r.jobs[0])
	return !remote || ours
}

// warmBlocks is the number of blocks of a warm-up.
const warmBlocks = 10

// warmUp repeats the calls in turn for the time of the warm-up; the first call counts. It ends
// earlier if calls settle: when the median of a block is no faster than that of the block before, by
// the target of the samples.
func (r *trial[In, Out]) warmUp(first time.Duration) error {
	s, least, settles := *r.t.Sampling, len(r.jobs), r.settles()
	if _, ok := bench.As[bench.DeviceJob](r.jobs[0]); ok {
		least = max(least, warmLaunches)
	}
	begun := r.clock.Now()
	var block []float64
	blockBegun, before := begun, math.Inf(1)
	for warm, n := first, 1; (warm < s.WarmUp && r.clock.Since(begun) < aroundCalls*s.WarmUp) || n < least; n++ {
		took, err := r.call(n, nil)
		if err != nil {
			return err
		}
		warm += max(took, time.Microsecond)
		block = append(block, took.Seconds())
		if !settles || len(block) < s.MinSamples || r.clock.Since(blockBegun) < s.WarmUp/warmBlocks {
			continue
		}
		median := stats.Median(block)
		if median >= before*(1-s.Target) && n >= least {
			return nil
		}
		block, blockBegun, before = block[:0], r.clock.Now(), median
	}
	return nil
}

// measure times the jobs in turn until the sampling rule stops it.
func (r *trial[In, Out]) measure() error {
	trace := &bench.Trace{}
	first, err := r.call(0, trace)
	if err != nil {
		return err
	}
	r.perCall = first
	r.beginUnseen()
	if r.t.Sampling == nil {
		for n := 1; n < len(r.jobs); n++ {
			if _, err := r.call(n, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if left := r.t.Conditions.Time; left > 0 && first > left && len(r.jobs) > 1 {
		// The implementation is right but late: its estimate was too low.
		return errRefused{fmt.Errorf("an answer takes %s; the time limit leaves %s for each of %d inputs",
			quantity.Duration(first), quantity.Duration(left), len(r.jobs))}
	}
	long := first >= r.t.Sampling.LongFrom(r.settles())
	if long && r.unseen == nil && !distorted(first, trace) {
		r.sample()
	}
	if err := r.prepare(first, long); err != nil {
		return err
	}
	r.look()
	if err := r.takeSamples(); err != nil {
		return err
	}
	r.look()
	if err := r.endUnseen(); err != nil {
		return err
	}
	r.summarise()
	traced := first
	if !long {
		trace = &bench.Trace{}
		if traced, err = r.call(0, trace); err != nil {
			return err
		}
	}
	r.record.Spans, r.record.Timeline = trace.Spans(), trace.Timeline()
	if len(r.record.Spans)+len(r.record.Timeline) > 0 {
		r.record.Traced = traced.Seconds()
	}
	if r.ours() && !long && r.t.Conditions.Scope != bench.File {
		return r.count()
	}
	return nil
}

// prepare warms up, unless a call is long. Then no image is known.
func (r *trial[In, Out]) prepare(first time.Duration, long bool) error {
	if !long {
		if err := r.warmUp(first); err != nil {
			return err
		}
	}
	if r.unseen == nil {
		return nil
	}
	r.unseen.known = nil
	if long {
		return nil
	}
	r.least = 0 // planBurst wants the time of a call about a new image
	_, err := r.call(0, nil)
	return err
}

// takeSamples calls the jobs in turn until there are enough samples, or the time is up.
func (r *trial[In, Out]) takeSamples() error {
	if err := r.planBurst(); err != nil {
		return err
	}
	if err := r.keepUnseen(); err != nil {
		return err
	}
	// Work between calls, such as fetching and hashing answers, may take longer than the calls. The
	// time limit of an input covers both.
	s, begun := *r.t.Sampling, r.clock.Now()
	calls := float64(max(1, len(r.burst)))
	for r.choose(); !s.Enough(r.seconds[r.counted], calls*r.total[r.counted], len(r.jobs)); {
		spent, share, n := r.clock.Since(begun), r.t.Conditions.Time, len(r.seconds[do])
		if n >= len(r.jobs) && share > 0 && spent >= share ||
			n >= s.MinSamples && r.unseen != nil && spent >= aroundUnseen*s.MaxTime {
			break
		}
		n %= len(r.jobs)
		jobs := r.jobs[n : n+1]
		if r.burst != nil {
			n, jobs = 0, r.burst
		}
		if _, err := r.callAll(jobs, n, nil); err != nil {
			return err
		}
		if r.sample(); s.Looks(len(r.seconds[do])) {
			r.choose()
		}
	}
	return nil
}

// summarise records the samples.
func (r *trial[In, Out]) summarise() {
	r.flag(r.choose())
	samples := r.seconds[r.counted]
	summary := stats.Summarise(samples)
	r.perCall = time.Duration(summary.Median * 1e9)
	r.record.Samples, r.record.Seconds = samples, &summary
	if r.t.Conditions.Scope == bench.Kernel {
		r.record.Wall = stats.Median(r.seconds[byHost])
	}
	if r.record.Wall > summary.Median*(1+beyondEvents)+aroundEvents {
		r.flag(fmt.Sprintf("host +%.0f%%", 100*(r.record.Wall/summary.Median-1)))
	}
}

// Parts of the time of a call. Samples in records are one of the first three.
const (
	do          = iota
	sum         // Poison, Do and Out
	byHost      // by the host's clock
	unexplained // byHost without sum
	poison
	out
	parts
)

// sample adds the last call to the samples.
func (r *trial[In, Out]) sample() {
	t, all := r.spent, r.spent.Poison+r.spent.Do+r.spent.Out
	for k, took := range [parts]time.Duration{t.Do, all, r.wall, r.wall - all, t.Poison, t.Out} {
		r.seconds[k], r.total[k] = append(r.seconds[k], took.Seconds()), r.total[k]+took.Seconds()
	}
}

// Limits of the work around calls. The parts that a process of this program reports explain the time of a
// call, less the round trip without work, up to a share and seconds. Poison and Out may take a share of
// Do, plus seconds. From another share on they count as work, as an implementation could compute there.
const (
	unexplainedShare, mostUnexplained = 0.02, 50e-6
	mostAround, ignoredAround         = 0.5, 100e-6
	leastAround                       = 0.1
)

// choose chooses the samples that count, and returns a flag or "". Of another process of this program they are by
// its clock if that explains the time by this one's. They then include the work around calls unless it is small.
// The parts of each call are added first, as an implementation could compute in another part each time.
func (r *trial[In, Out]) choose() (flag string) {
	if r.counted = do; !r.ours() || len(r.seconds[do]) == 0 {
		return ""
	}
	r.record.Poison, r.record.Out = stats.Median(r.seconds[poison]), stats.Median(r.seconds[out])
	inDo := max(1e-9, stats.Median(r.seconds[do]))
	around, ignored := stats.Median(r.seconds[sum])/inDo-1, mostAround+ignoredAround/inDo
	if _, outside := reported(r.jobs[0]); outside {
		r.record.Trip, ignored = stats.Median(r.seconds[byHost]), leastAround
		calls := float64(max(1, len(r.burst)))
		if calls*stats.Median(r.seconds[unexplained])-r.record.Floor >
			max(mostUnexplained, unexplainedShare*calls*r.record.Trip) {
			r.counted = byHost
			return "judge's clock"
		}
		if around > ignored {
			r.counted = sum
		}
	}
	if scope := r.t.Conditions.Scope; around > ignored && (scope == bench.E2E || scope == bench.File) {
		return fmt.Sprintf("around +%.0f%%", 100*around)
	}
	return ""
}

// count measures the heap allocation and the number of kernel launches of one call. It takes the
// minimum of a few untimed calls. Calls of a hundredth of a second or more are repeated less often.
// measure skips it for long calls, and in scope file, where a call also allocates for its image.
func (r *trial[In, Out]) count() error {
	const mostCalls, most = 5, 50 * time.Millisecond
	calls := max(1, min(mostCalls, int(most/max(r.perCall, 1))))
	job := r.jobs[0]
	launcher, launches := bench.As[bench.Launcher](job)
	allocated := func() (int64, error) { return bench.Allocated(job, calls) }
	if remote, ok := bench.As[bench.Remote](job); ok {
		allocated = func() (int64, error) { return remote.Allocated(calls) }
	}
	launched := int64(0)
	if launches {
		launched = launcher.Launches()
	}
	least, err := allocated()
	if err != nil {
		return fmt.Errorf("%s on %s: %w", r.t.Impl, r.t.Inputs[0], err)
	}
	if r.record.Allocated = &least; launches {
		launched = (launcher.Launches() - launched) / int64(calls)
		r.record.Launches = &launched
	}
	return nil
}

// look records the flags, sensors and round-trip time of the first job and its device.
func (r *trial[In, Out]) look() {
	if remote, ok := bench.As[bench.Remote](r.jobs[0]); ok {
		r.record.Floor = remote.RoundTrip().Seconds()
	}
	if flagged, ok := bench.As[bench.Flagged](r.jobs[0]); ok {
		for _, f := range flagged.Flags() {
			r.flag(f)
		}
	}
	if on, ok := bench.As[bench.DeviceJob](r.jobs[0]); ok {
		r.record.Device, r.record.UUIDs, r.record.DeviceMemory = on.Device(), on.UUIDs(), on.DeviceMemory()
		r.record.Sensors = append(r.record.Sensors, on.Sensors()...)
	}
}
