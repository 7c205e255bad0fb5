package runner

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// A trial is one task in progress in its worker.
type trial[In, Out any] struct {
	b       *bound[In, Out]
	clock   Clock
	began   time.Time // when the task did
	impl    bench.Implementation[In, Out]
	t       Task
	inputs  []In
	files   files
	jobs    []bench.Job[Out]
	given   []*given[Out]           // for each input
	witness []Out                   // what someone answered before, for each input
	others  [][]verify.Witness[Out] // answers that others gave to each input; nil before they are asked
	perCall time.Duration           // the median call
	// answerMemory is the bytes that this process took for one job and its answer.
	answerMemory int64
	walls        []float64     // seconds by the host's clock of each sample that is a device's
	wall         time.Duration // of the last call
	current      int           // the input of the last call
	record       bench.CellRecord
}

func skipped(reason string) bench.CellRecord {
	return bench.CellRecord{Verdict: verify.Verdict{Status: verify.Skipped, Reason: reason}}
}

// setup binds the implementation to each input. The task began when it was first asked
// about one, which is when it opens its device.
func (r *trial[In, Out]) setup() error {
	start := r.clock.currentTime()
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
			r.record.Startup = r.clock.since(r.began).Seconds()
		}
	}
	if r.t.Conditions.Scope == bench.File {
		r.flag(r.source())
	}
	if r.t.extent(0).Size > 0 {
		r.flag("repeats")
	}
	r.begin()
	r.record.Setup = r.clock.since(start).Seconds()
	return nil
}

// begin has nothing answered yet.
func (r *trial[In, Out]) begin() {
	r.given = nil
	for _, name := range r.t.Inputs {
		r.given = append(r.given, &given[Out]{name: name})
	}
}

// errRefused is why a cell cannot run, found out while setting up or by the first call.
type errRefused struct{ error }

// exhausted reports whether a device has less than was asked for, of memory or of
// what a kernel needs, after which it can still be used.
func exhausted(err error) bool { return device.IsOutOfMemory(err) || device.IsLaunchTooLarge(err) }

func (r *trial[In, Out]) close() {
	for i, g := range r.given {
		g.first.close(r.answerFile(i) == nil)
		g.worst.close(true)
	}
	for _, j := range r.jobs {
		j.Close() // the process ends: there is nobody to tell
	}
}

// call poisons the buffers of a job, times one Do, and judges the answer.
func (r *trial[In, Out]) call(n int, trace *bench.Trace) (time.Duration, error) {
	i := n % len(r.jobs)
	job := r.jobs[i]
	r.current = i
	job.Poison()
	if err := r.cool(i); err != nil {
		return 0, err
	}
	took, err := r.timed(job, trace)
	if err != nil {
		return 0, fmt.Errorf("%s on %s: %w", r.t.Impl, r.t.Inputs[i], err)
	}
	out, err := job.Out()
	if err != nil {
		return 0, fmt.Errorf("answer of %s to %s: %w", r.t.Impl, r.t.Inputs[i], err)
	}
	if err := r.take(i, out); err != nil {
		return 0, fmt.Errorf("answer of %s to %s: %w", r.t.Impl, r.t.Inputs[i], err)
	}
	return took, nil
}

// source is the flag of where the inputs come from in the scope of files: they are
// streamed, unless the first is in memory anyway.
func (r *trial[In, Out]) source() string {
	if h, ok := any(r.inputs[0]).(bench.Holder); ok && h.InMemory() {
		return "in memory"
	}
	return "streamed"
}

// cool puts an input that Do reads out of the host's caches, unless the task asks
// for them hot.
func (r *trial[In, Out]) cool(i int) error {
	in, ok := any(r.inputs[i]).(bench.Cooler)
	if !ok || r.t.Conditions.Hot || r.t.Conditions.Scope != bench.File {
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

// flag adds a flag to the record, once.
func (r *trial[In, Out]) flag(f string) {
	if !slices.Contains(r.record.Flags, f) {
		r.record.Flags = append(r.record.Flags, f)
	}
}

// timed times one Do: by the wall clock, or in the kernel scope by the device's
// events. A device's caches are emptied first, unless the task asks for them hot.
func (r *trial[In, Out]) timed(job bench.Job[Out], trace *bench.Trace) (time.Duration, error) {
	on, onDevice := job.(bench.DeviceJob)
	if onDevice && !r.t.Conditions.Hot {
		if err := on.Cool(); err != nil {
			return 0, fmt.Errorf("emptying the caches: %w", err)
		}
	}
	start := r.clock.currentTime()
	err := job.Do(trace)
	took := r.clock.since(start)
	r.wall = took
	if err != nil || r.t.Conditions.Scope != bench.Kernel {
		return took, err
	}
	if !onDevice {
		return 0, fmt.Errorf("it has no device events for the kernel scope")
	}
	elapsed, err := on.Elapsed()
	if err == nil && elapsed > took {
		return 0, fmt.Errorf("the device says that it took %v, the host %v", elapsed, took)
	}
	return elapsed, err
}

// longCall is the time from which a first call is a sample: what warming up
// would change is then small beside it, and so is what tracing costs, unless it notes
// so many intervals of a device that they may take this share of it.
const (
	longCall     = time.Second
	tracingShare = 0.01
	tracingEach  = 100 * time.Microsecond // four calls of the driver make an interval: 85 µs with an H200
)

// distorted reports whether a traced call may have been much longer for being traced.
func distorted(took time.Duration, trace *bench.Trace) bool {
	return float64(trace.Noted())*float64(tracingEach) > tracingShare*float64(took)
}

// warmLaunches is how many calls warm a device up, at least.
const warmLaunches = 5

// aroundCalls is how much longer than the calls are to take all of a warm-up takes at
// most, with what is done between them: the answers to a batch take a thousand times as
// long to fetch and to hash as to find.
const aroundCalls = 5

// How much longer than a device's events the host's clock may take for a call without a
// flag: a share of it, and seconds to launch and to wait. Work that no event is around
// would show there.
const (
	beyondEvents = 0.05
	aroundEvents = 200e-6
)

// measure times the jobs in turn until the sampling says stop.
func (r *trial[In, Out]) measure(ctx context.Context) error {
	trace := &bench.Trace{}
	first, err := r.call(0, trace)
	if err != nil {
		return err
	}
	r.perCall = first
	if r.t.Sampling == nil {
		for n := 1; n < len(r.jobs); n++ {
			if _, err := r.call(n, nil); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	if left := r.t.Conditions.Time; left > 0 && first > left && len(r.jobs) > 1 {
		// Its estimate was too low: nothing is wrong with it but that it is late.
		return errRefused{fmt.Errorf("took %s for an answer, %s was left for each of %d", quantity.Duration(first), quantity.Duration(left), len(r.jobs))}
	}
	s := *r.t.Sampling
	var samples []float64
	var total float64
	long := first >= longCall
	if long && !distorted(first, trace) {
		samples = r.sample(samples, first)
		total = first.Seconds()
	}
	if !long {
		begun := r.clock.currentTime()
		least := len(r.jobs)
		if _, ok := r.jobs[0].(bench.DeviceJob); ok {
			least = max(least, warmLaunches)
		}
		for warm, n := first, 1; (warm < s.WarmUp && r.clock.since(begun) < aroundCalls*s.WarmUp) || n < least; n++ {
			took, err := r.call(n, nil)
			if err != nil {
				return err
			}
			warm += max(took, time.Microsecond)
		}
	}
	if err := r.look(); err != nil {
		return err
	}
	// What is done between the calls, fetching and hashing the answers above all, may
	// take longer than they do: an input's share of the time limit is for both.
	begun := r.clock.currentTime()
	for !s.enough(samples, total, len(r.jobs)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if share := r.t.Conditions.Time; share > 0 && len(samples) >= len(r.jobs) && r.clock.since(begun) >= share {
			break
		}
		took, err := r.call(len(samples), nil)
		if err != nil {
			return err
		}
		samples = r.sample(samples, took)
		total += took.Seconds()
	}
	if err := r.look(); err != nil {
		return err
	}
	summary := stats.Summarise(samples)
	r.perCall = time.Duration(summary.Median * 1e9)
	r.record.Samples, r.record.Seconds = samples, &summary
	if len(r.walls) > 0 {
		r.record.Wall = stats.Median(r.walls)
	}
	if r.record.Wall > summary.Median*(1+beyondEvents)+aroundEvents {
		r.flag(fmt.Sprintf("host +%.0f%%", 100*(r.record.Wall/summary.Median-1)))
	}
	if !long {
		trace = &bench.Trace{}
		if _, err := r.call(0, trace); err != nil {
			return err
		}
	}
	r.record.Spans, r.record.Timeline = trace.Spans(), trace.Timeline()
	if _, remote := r.jobs[0].(bench.Remote); !remote && !long && r.t.Conditions.Scope != bench.File {
		return r.count()
	}
	return nil
}

// sample adds the last call to the samples. By a device's events, the host's clock
// is kept beside them.
func (r *trial[In, Out]) sample(samples []float64, took time.Duration) []float64 {
	if r.t.Conditions.Scope == bench.Kernel {
		r.walls = append(r.walls, r.wall.Seconds())
	}
	return append(samples, took.Seconds())
}

// count notes what one call allocates on the heap and how many kernels it
// launches: the least of a few calls that are not samples, because the runtime
// allocates for itself now and then. Calls that make or read their image may take
// longer than the samples, and allocate for that.
func (r *trial[In, Out]) count() error {
	const calls = 5
	job := r.jobs[0]
	launcher, launches := job.(bench.Launcher)
	var before, after runtime.MemStats
	for n := range calls {
		launched := int64(0)
		if launches {
			launched = launcher.Launches()
		}
		job.Poison() // as before each call
		runtime.ReadMemStats(&before)
		if err := job.Do(nil); err != nil {
			return fmt.Errorf("%s on %s: %w", r.t.Impl, r.t.Inputs[0], err)
		}
		runtime.ReadMemStats(&after)
		allocated := int64(after.TotalAlloc - before.TotalAlloc)
		if n == 0 || allocated < *r.record.Allocated {
			r.record.Allocated = &allocated
		}
		if launches {
			launched = launcher.Launches() - launched
			r.record.Launches = &launched
		}
	}
	return nil
}

// roundTrips is how many are timed before the samples, and after them.
const roundTrips = 200

// look records the flags, sensors and round-trip time of the first job and its device.
func (r *trial[In, Out]) look() error {
	if remote, ok := r.jobs[0].(bench.Remote); ok {
		trips := make([]float64, roundTrips)
		for i := range trips {
			trip, err := remote.RoundTrip()
			if err != nil {
				return err
			}
			trips[i] = trip.Seconds()
		}
		r.record.Floor = max(r.record.Floor, stats.Median(trips))
	}
	if flagged, ok := r.jobs[0].(bench.Flagged); ok {
		for _, f := range flagged.Flags() {
			r.flag(f)
		}
	}
	if on, ok := r.jobs[0].(bench.DeviceJob); ok {
		r.record.Device, r.record.UUIDs, r.record.DeviceMemory = on.Device(), on.UUIDs(), on.DeviceMemory()
		r.record.Sensors = append(r.record.Sensors, on.Sensors()...)
	}
	return nil
}

// enough reports whether to stop: each interval costs a sort, so the question
// is asked at ever larger steps.
func (s Sampling) enough(samples []float64, total float64, inputs int) bool {
	n := len(samples)
	switch {
	case n < inputs:
		return false
	case n >= s.MaxSamples || total >= s.MaxTime.Seconds():
		return true
	case n < s.MinSamples || n%5 != 0:
		return false
	}
	return stats.Summarise(samples).Spread() <= s.Target
}
