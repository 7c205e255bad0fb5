package runner

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

type deviceError struct{ memory, launch bool }

func (deviceError) Error() string          { return "device" }
func (e deviceError) OutOfMemory() bool    { return e.memory }
func (e deviceError) LaunchTooLarge() bool { return e.launch }

// Exhausted resources of a device are a rejection; no other error is.
func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New("other"), false}, {deviceError{}, false},
		{deviceError{memory: true}, true}, {deviceError{launch: true}, true},
		{fmt.Errorf("setting up: %w", errors.Join(deviceError{launch: true}, errors.New("closing"))), true},
	} {
		if got := exhausted(c.err); got != c.want {
			t.Errorf("%v %+v: exhausted %v, want %v", c.err, c.err, got, c.want)
		}
	}
}

// A stone is an input that counts its coolings, and may stay warm.
type stone struct {
	cooled *int
	warm   bool
}

func (s stone) Cool() (bool, error) { *s.cooled++; return !s.warm, nil }

func TestInputsAreReadCold(t *testing.T) {
	for _, c := range []struct {
		scope     bench.Scope
		hot, warm bool
		cooled    int
		flags     []string
	}{
		{bench.File, false, false, 2, nil},
		{bench.File, false, true, 2, []string{"cached"}},
		{bench.File, true, true, 0, nil},
		{bench.E2E, false, true, 0, nil},
	} {
		cooled := 0
		r := &trial[stone, int]{t: worker.Task{Conditions: bench.Conditions{Setting: bench.Setting{Scope: c.scope, Hot: c.hot}}}, inputs: []stone{{&cooled, c.warm}}}
		for range 2 {
			if err := r.cool(0); err != nil {
				t.Fatal(err)
			}
		}
		if cooled != c.cooled || !slices.Equal(r.record.Flags, c.flags) {
			t.Errorf("%+v: cooled %d times, flags %q", c, cooled, r.record.Flags)
		}
	}
}

// A sleeper takes the same time for every call, and records a number of intervals when it is
// traced.
type sleeper struct {
	calls     *int
	intervals int
}

func (s sleeper) Do(trace *bench.Trace) error {
	*s.calls++
	time.Sleep(worker.LongCall)
	if trace != nil {
		for range s.intervals {
			trace.Interval("part", 0, 1)
		}
	}
	return nil
}
func (sleeper) Poison()           {}
func (sleeper) Out() (int, error) { return 7, nil }
func (sleeper) Close() error      { return nil }

// If the first call is a sample, it counts towards the sampling time. If tracing may have made it
// longer, it is no sample, but its parts are recorded.
func TestLongFirstCallIsEnough(t *testing.T) { synctest.Test(t, longFirstCallIsEnough) }

func longFirstCallIsEnough(t *testing.T) {
	const few = int(tracingShare * float64(worker.LongCall) / float64(tracingEach))
	for intervals, want := range map[int]int{0: 1, few: 1, 2 * few: 2} {
		calls := 0
		r := &trial[int, int]{
			b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}},
			t: worker.Task{Inputs: []string{"x"}, Sampling: &worker.Sampling{Target: 0.01, MinSamples: 10, MaxSamples: 9, MaxTime: worker.LongCall}},
		}
		r.inputs, r.jobs = []int{0}, []bench.Job[int]{sleeper{&calls, intervals}}
		r.begin()
		if err := r.measure(); err != nil {
			t.Fatal(err)
		}
		if calls != want || len(r.record.Samples) != 1 || len(r.record.Timeline) != intervals {
			t.Errorf("%d intervals: %d calls, samples %v, %d intervals recorded", intervals, calls, r.record.Samples, len(r.record.Timeline))
		}
		if want := min(intervals, 1) * int(worker.LongCall); r.record.Traced != time.Duration(want).Seconds() {
			t.Errorf("%d intervals of a call of %v s", intervals, r.record.Traced)
		}
	}
}

// A tired job takes longer with every traced call, and a millisecond without a trace.
type tired struct {
	sleeper
	traced *int
}

func (j tired) Do(trace *bench.Trace) error {
	n := 1
	if trace != nil {
		*j.traced++
		n = *j.traced
	}
	defer trace.Span("part")()
	time.Sleep(time.Duration(n) * time.Millisecond)
	return nil
}

// The parts of a short call are of a traced call after the samples, and Traced is the time of that call.
func TestTracedIsTheTimeOfTheParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &trial[int, int]{
			b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}},
			t: worker.Task{Inputs: []string{"x"}, Sampling: &worker.Sampling{Target: 0.01, MinSamples: 10, MaxSamples: 10, MaxTime: worker.LongCall}},
		}
		r.inputs, r.jobs = []int{0}, []bench.Job[int]{tired{traced: new(int)}}
		r.begin()
		if err := r.measure(); err != nil {
			t.Fatal(err)
		}
		if c := r.record; c.Seconds.Median != 0.001 || c.Spans["part"] != 0.002 || c.Traced != 0.002 {
			t.Errorf("%v of a call of %v s, median %v", c.Spans, c.Traced, c.Seconds.Median)
		}
	})
}

// A talker takes longer to return its answer than to compute it.
type talker struct{}

func (talker) Do(*bench.Trace) error { return nil }
func (talker) Poison()               {}
func (talker) Out() (int, error)     { time.Sleep(20 * time.Millisecond); return 7, nil }
func (talker) Close() error          { return nil }

// The time between calls counts towards the time limit after every input was timed.
func TestTimeBetweenCallsCounts(t *testing.T) { synctest.Test(t, timeBetweenCallsCounts) }

func timeBetweenCallsCounts(t *testing.T) {
	sample := func(limit time.Duration) int {
		r := &trial[int, int]{
			b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}},
			t: worker.Task{
				Inputs: []string{"x", "y"}, Conditions: bench.Conditions{Time: limit},
				Sampling: &worker.Sampling{MinSamples: 50, MaxSamples: 50, MaxTime: time.Hour},
			},
		}
		r.inputs, r.jobs = []int{0, 0}, []bench.Job[int]{talker{}, talker{}}
		r.begin()
		if err := r.measure(); err != nil {
			t.Fatal(err)
		}
		return len(r.record.Samples)
	}
	if n := sample(60 * time.Millisecond); n != 3 {
		t.Errorf("%d samples in three times what an answer takes", n)
	}
	if n := sample(time.Nanosecond); n != 2 {
		t.Errorf("%d samples of two inputs without any time", n)
	}
	if n := sample(0); n != 50 {
		t.Errorf("%d samples without a limit, want all 50", n)
	}
}

// It also counts towards the warm-up, which would not end by the time of the calls alone.
func TestTimeBetweenCallsWarmsUp(t *testing.T) { synctest.Test(t, timeBetweenCallsWarmsUp) }

func timeBetweenCallsWarmsUp(t *testing.T) {
	calls := 0
	r := &trial[int, int]{
		b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { calls++; return nil }}},
		t: worker.Task{Inputs: []string{"x"}, Sampling: &worker.Sampling{MinSamples: 3, MaxSamples: 3, MaxTime: time.Hour, WarmUp: 8 * time.Millisecond}},
	}
	r.inputs, r.jobs = []int{0}, []bench.Job[int]{talker{}}
	r.begin()
	if err := r.measure(); err != nil {
		t.Fatal(err)
	}
	if calls != 1+2+3+1 { // the first, two of 20 ms in 40, three samples and a traced one
		t.Errorf("%d calls to warm up for 8 ms and take three samples", calls)
	}
}

// A learner's calls become faster by a share each, down to a tenth.
type learner struct {
	talker
	calls *int
	share float64
}

func (l learner) Do(*bench.Trace) error {
	time.Sleep(time.Duration(max(0.1, math.Pow(1-l.share, float64(*l.calls))) * float64(10*time.Millisecond)))
	*l.calls++
	return nil
}
func (learner) Out() (int, error) { return 7, nil }

// A far learner answers in another process.
type far struct{ learner }

func (far) RoundTrip() time.Duration         { return 0 }
func (far) Reported() (bench.Reported, bool) { return bench.Reported{}, false }
func (far) Allocated(int) (int64, error)     { return 0, nil }

var _ bench.Remote = far{}

// The warm-up ends once calls settle, except for a peer. A first call as long as the sampling is a
// sample.
func TestWarmUpEnds(t *testing.T) { synctest.Test(t, warmUpEnds) }

func warmUpEnds(t *testing.T) {
	for i, c := range []struct {
		share float64
		far   bool
		most  time.Duration
		want  int
	}{
		{0, false, time.Hour, 11},            // two blocks of 50 ms after the first call
		{0.2, false, time.Hour, 76},          // a block until most calls take 1 ms, and one of 50
		{0.002, false, time.Hour, 53},        // 500 ms: no two blocks are equal
		{0, true, time.Hour, 50},             // 500 ms
		{0, false, 10 * time.Millisecond, 0}, // the sampling time
	} {
		calls := 0
		r := &trial[int, int]{
			b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}},
			t: worker.Task{Inputs: []string{"x"}, Sampling: &worker.Sampling{
				Target: 0.005, MinSamples: 3, MaxSamples: 3, MaxTime: c.most, WarmUp: 10 * time.Millisecond,
			}},
		}
		if c.want > 0 {
			r.t.Sampling.WarmUp = 500 * time.Millisecond
		}
		var job bench.Job[int] = learner{calls: &calls, share: c.share}
		if c.far {
			job = far{job.(learner)}
		}
		r.inputs, r.jobs = []int{0}, []bench.Job[int]{job}
		r.begin()
		if err := r.measure(); err != nil {
			t.Fatal(err)
		}
		if calls -= len(r.record.Samples); c.want > 0 {
			calls -= 1 // traced
			if !c.far {
				calls -= 5 // count
			}
		}
		if calls != c.want {
			t.Errorf("%d: %d calls to warm up, want %d", i, calls, c.want)
		}
	}
}

// A device is warmed up by five calls, regardless of the time between them.
func TestDeviceIsWarmedUp(t *testing.T) { synctest.Test(t, deviceIsWarmedUp) }

func deviceIsWarmedUp(t *testing.T) {
	calls := 0
	r := &trial[int, int]{
		b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { calls++; return nil }}},
		t: worker.Task{Inputs: []string{"x"}, Sampling: &worker.Sampling{MinSamples: 3, MaxSamples: 3, MaxTime: time.Hour, WarmUp: time.Millisecond}},
	}
	r.inputs, r.jobs = []int{0}, []bench.Job[int]{distant{}}
	r.begin()
	if err := r.measure(); err != nil {
		t.Fatal(err)
	}
	if calls != 5+3+1 {
		t.Errorf("%d calls, want five, three samples and one that is traced", calls)
	}
}

// A distant talker runs on a device.
type distant struct{ talker }

func (distant) Cool() error                     { return nil }
func (distant) Elapsed() (time.Duration, error) { return 0, nil }
func (distant) Device() string                  { return "x" }
func (distant) UUIDs() []string                 { return nil }
func (distant) DeviceMemory() int64             { return 0 }
func (distant) Sensors() []string               { return nil }
func (distant) Flags() []string                 { return nil }

// A cell faster than its ceiling is implausible. In memory the medians are compared; on a disk the
// ceiling's fastest call counts, with half as much again. The intervals must agree, and on a disk
// the difference must exceed its latency.
func TestImplausible(t *testing.T) {
	steady := []float64{2, 1, 2, 2, 2, 2, 2, 2, 2, 2}
	for _, c := range []struct {
		scope          bench.Scope
		ceiling, calls []float64
		want           verify.Status
	}{
		{bench.E2E, steady, []float64{1.95}, verify.Verified},
		{bench.E2E, steady, []float64{1.2}, verify.Implausible},
		// A slow call excuses nothing.
		{bench.E2E, steady, []float64{1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 4}, verify.Implausible},
		{bench.E2E, steady, []float64{1.2, 1.25, 1.2, 1.2, 1.2, 1.25, 1.25, 1.25, 1.25, 1.25, 1.2}, verify.Implausible},
		{bench.E2E, steady, []float64{1.2, 1, 2.2, 1.2, 2.2, 1, 1.2, 2.2}, verify.Noisy},
		{bench.E2E, []float64{2, 1, 2}, []float64{1.2}, verify.Verified}, // its time may have been 1
		{bench.E2E, []float64{2, 1, 2}, []float64{0.9}, verify.Implausible},
		{bench.File, steady, []float64{1.2}, verify.Verified},
		{bench.File, steady, []float64{0.7}, verify.Verified},
		{bench.File, steady, []float64{0.6}, verify.Implausible},
		{bench.File, []float64{2e-3, 0.2e-3, 3e-3}, []float64{0.1e-3}, verify.Verified}, // it may have waited for the disk
		{bench.E2E, nil, []float64{1}, verify.Verified},
		{bench.E2E, nil, []float64{1, 1.5}, verify.Noisy}, // too few calls for an interval, and far apart
		{bench.E2E, nil, []float64{1, 5}, verify.Noisy},
	} {
		g := &group{rates: rates{}}
		if c.ceiling != nil {
			summary := stats.Summarise(c.ceiling)
			r := bench.CellRecord{Where: "cpu", Cost: bench.Cost{Items: 1, Bytes: 4}, Setting: bench.Setting{Scope: c.scope}, Seconds: &summary}
			r.Status = verify.Verified
			g.noteCeiling(r, 1/summary.Median)
		}
		if len(c.calls) == 1 {
			c.calls = slices.Repeat(c.calls, 10)
		}
		summary := stats.Summarise(c.calls)
		r := bench.CellRecord{Workload: "x", Where: "cpu", Cost: bench.Cost{Items: 1, Bytes: 4}, Setting: bench.Setting{Scope: c.scope}, Seconds: &summary}
		r.Status = verify.Verified
		g.finish(&r, true)
		if r.Status != c.want {
			t.Errorf("%+v: %s (%s)", c, r.Status, r.Reason)
		}
		if few := fmt.Sprintf("n=%d", len(c.calls)); slices.Contains(r.Flags, few) != (len(c.calls) < 6) {
			t.Errorf("%d calls: flags %q", len(c.calls), r.Flags)
		}
		if !slices.Contains(r.Flags, "inputs=0") {
			t.Errorf("no inputs: flags %q", r.Flags)
		}
		if why := "the interval of the median is ±67 %"; summary.Max == 5 && r.Reason != why {
			t.Errorf("%s, want %s", r.Reason, why)
		}
	}
}

// A launch is a job whose device reports a given time.
type launch struct{ took, elapsed time.Duration }

func (l launch) Do(*bench.Trace) error           { time.Sleep(l.took); return nil }
func (launch) Poison()                           {}
func (launch) Out() (int, error)                 { return 1, nil }
func (launch) Close() error                      { return nil }
func (launch) Device() string                    { return "a card" }
func (launch) UUIDs() []string                   { return []string{"GPU-0"} }
func (launch) DeviceMemory() int64               { return 96 }
func (launch) Sensors() []string                 { return []string{"clock 1 MHz"} }
func (launch) Flags() []string                   { return nil }
func (launch) Cool() error                       { return nil }
func (l launch) Elapsed() (time.Duration, error) { return l.elapsed, nil }

// The time of a device's events is recorded with the host's time of the same calls, and is an error
// if it is longer.
func TestEventsAgainstTheWall(t *testing.T) { synctest.Test(t, eventsAgainstTheWall) }

func eventsAgainstTheWall(t *testing.T) {
	measure := func(l launch, scope bench.Scope) (bench.CellRecord, error) {
		r := &trial[int, int]{
			b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}}, inputs: []int{1}, jobs: []bench.Job[int]{l},
			t: worker.Task{Inputs: []string{"in"}, Conditions: bench.Conditions{Setting: bench.Setting{Scope: scope}}, Sampling: &worker.Sampling{MinSamples: 3, MaxSamples: 3, MaxTime: time.Second}},
		}
		r.begin()
		err := r.measure()
		return r.record, err
	}
	l := launch{took: 2 * time.Millisecond, elapsed: time.Millisecond}
	if c, err := measure(l, bench.Kernel); err != nil || c.DeviceMemory != 96 || len(c.Sensors) != 2 || c.Seconds.Median != 0.001 || c.Wall != 0.002 {
		t.Errorf("by events: %v, %+v, wall %v", err, c.Seconds, c.Wall)
	}
	if c, _ := measure(l, bench.Kernel); !slices.ContainsFunc(c.Flags, func(f string) bool { return f == "host +100%" }) {
		t.Errorf("a millisecond that no event is around: %v", c.Flags)
	}
	if c, _ := measure(launch{took: 2 * time.Millisecond, elapsed: 2 * time.Millisecond}, bench.Kernel); slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(f, "host") }) {
		t.Errorf("by events and the host alike: %v, wall %v", c.Flags, c.Wall)
	}
	if c, err := measure(l, bench.Device); err != nil || c.Seconds.Median != 0.002 || c.Wall != 0 {
		t.Errorf("by the wall: %v, %+v, wall %v", err, c.Seconds, c.Wall)
	}
	l.elapsed = time.Second
	if _, err := measure(l, bench.Kernel); err == nil || !strings.Contains(err.Error(), "the device reports 1s, the host") {
		t.Errorf("a device whose clock is wrong: %v", err)
	}
}

// A named talker describes its method.
type named struct{ talker }

func (named) Flags() []string { return []string{"avx2", "pinned"} }

// A job's flags are in the record once, even after several requests.
func TestFlagsOfJobs(t *testing.T) {
	r := &trial[int, int]{jobs: []bench.Job[int]{named{}, talker{}}}
	r.look()
	r.look()
	if want := []string{"avx2", "pinned"}; !slices.Equal(r.record.Flags, want) || r.record.Device != "" {
		t.Errorf("flags %q of device %q, want %q of none", r.record.Flags, r.record.Device, want)
	}
}

// A patient job takes as many milliseconds as its number, and counts how often the caches were emptied.
type patient struct {
	distant
	number int
	cooled *int
}

func (p patient) Do(*bench.Trace) error {
	time.Sleep(time.Duration(p.number) * time.Millisecond)
	return nil
}
func (p patient) Cool() error       { time.Sleep(time.Second); *p.cooled++; return nil }
func (p patient) Out() (int, error) { return p.number, nil }

// The samples are of all inputs in turn, and the clock does not cover emptying the caches, which happens
// before each call unless the setting is hot.
func TestInputsTakeTurns(t *testing.T) { synctest.Test(t, inputsTakeTurns) }

func inputsTakeTurns(t *testing.T) {
	for _, hot := range []bool{false, true} {
		calls, cooled := 0, 0
		encode := func(w io.Writer, out int) error { calls++; _, err := fmt.Fprint(w, out); return err }
		r := &trial[int, int]{
			b: &bound[int, int]{bench.Workload[int, int]{Encode: encode}},
			t: worker.Task{
				Inputs: []string{"x", "y", "z"}, Conditions: bench.Conditions{Setting: bench.Setting{Hot: hot}},
				Sampling: &worker.Sampling{MinSamples: 9, MaxSamples: 9, MaxTime: time.Hour},
			},
		}
		for i := range 3 {
			r.inputs, r.jobs = append(r.inputs, i), append(r.jobs, patient{number: i + 1, cooled: &cooled})
		}
		r.begin()
		if err := r.measure(); err != nil {
			t.Fatal(err)
		}
		if want := slices.Repeat([]float64{0.001, 0.002, 0.003}, 3); !slices.Equal(r.record.Samples, want) {
			t.Errorf("hot %v: samples %v, want %v", hot, r.record.Samples, want)
		}
		if want := map[bool]int{false: calls, true: 0}[hot]; cooled != want {
			t.Errorf("hot %v: the caches were emptied %d times before %d calls", hot, cooled, calls)
		}
		for i, g := range r.given {
			if g.first == nil || g.differing > 0 {
				t.Errorf("input %d: %+v", i, g)
			}
		}
		r.close()
	}
}

// A greedy job allocates more in its second call, as the runtime does now and then.
type greedy struct {
	talker
	calls *int
	kept  *[]byte
}

func (g greedy) Do(*bench.Trace) error {
	if *g.calls++; *g.calls == 2 {
		*g.kept = make([]byte, 1<<20)
	}
	return nil
}

// The allocation of a call is the least of a few.
func TestLeastAllocationCounts(t *testing.T) {
	r := &trial[int, int]{jobs: []bench.Job[int]{greedy{calls: new(int), kept: new([]byte)}}}
	if err := r.count(); err != nil || *r.record.Allocated >= 1<<20 {
		t.Errorf("%v: a call allocates %d bytes", err, *r.record.Allocated)
	}
}

// A remote works for the given times, and reports others.
type remote struct {
	talker
	do, out, told time.Duration
}

func (r remote) Do(*bench.Trace) error  { time.Sleep(r.do); return nil }
func (r remote) Out() (int, error)      { return 7, nil }
func (remote) RoundTrip() time.Duration { return 10 * time.Microsecond }
func (r remote) Reported() (bench.Reported, bool) {
	return bench.Reported{Do: r.told, Out: r.out}, true
}
func (remote) Allocated(calls int) (int64, error) { return int64(calls), nil }

// An insider takes a millisecond in each part of a call in this process.
type insider struct{ talker }

func (insider) Do(*bench.Trace) error { time.Sleep(time.Millisecond); return nil }
func (insider) Out() (int, error)     { time.Sleep(time.Millisecond); return 7, nil }

// Work around calls of this process has a flag, and does not count.
func TestAroundInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := timedJob(insider{})
		err, flags := r.measure(), &r.record.Flags
		if err != nil || r.record.Seconds.Median != 1e-3 || fmt.Sprint(*flags) != "[around +100%]" {
			t.Errorf("%v, median %v, flags %v", err, r.record.Seconds, *flags)
		}
	})
}

// timedJob returns a trial that takes ten samples of a job.
func timedJob(job bench.Job[int]) *trial[int, int] {
	r := &trial[int, int]{
		b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}},
		t: worker.Task{
			Inputs: []string{"x"}, Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.E2E}},
			Sampling: &worker.Sampling{MinSamples: 10, MaxSamples: 10, MaxTime: time.Hour},
		},
		inputs: []int{0}, jobs: []bench.Job[int]{job},
	}
	r.begin()
	return r
}

// The clock of another process counts if it explains the time by the clock of the judge. Else the
// latter counts, with a flag. An answer that takes long to return has a flag, too.
func TestReportedTimes(t *testing.T) { synctest.Test(t, reportedTimes) }

func reportedTimes(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for _, c := range []struct {
		do, told, out time.Duration
		want          time.Duration
		flags         string
	}{
		{1 * ms, 950 * us, 0, 950 * us, "[]"}, // 50 µs and the round trip
		{1 * ms, 930 * us, 0, 1 * ms, "[judge's clock]"},
		{1 * ms, 500 * us, 500 * us, 1 * ms, "[around +100%]"}, // it counts from a tenth on
		{1 * ms, 900 * us, 100 * us, 1 * ms, "[around +11%]"},
		{1 * ms, 910 * us, 90 * us, 910 * us, "[]"},
		{100 * ms, 98100 * us, 0, 98100 * us, "[]"}, // 2 %
		{100 * ms, 97000 * us, 0, 100 * ms, "[judge's clock]"},
	} {
		r := timedJob(remote{do: c.do, out: c.out, told: c.told})
		if err := r.measure(); err != nil {
			t.Fatal(err)
		}
		got := r.record
		if median := quantity.Seconds(got.Seconds.Median); median != c.want || fmt.Sprint(got.Flags) != c.flags {
			t.Errorf("%v, reported %v and %v: median %v, flags %v; want %v, %v",
				c.do, c.told, c.out, median, got.Flags, c.want, c.flags)
		}
		if got.Trip != c.do.Seconds() || got.Out != c.out.Seconds() || *got.Allocated < 1 {
			t.Errorf("%v: trip %v, out %v, allocated %d", c.do, got.Trip, got.Out, *got.Allocated)
		}
	}
}

// The work to choose and count samples hardly grows with their number. The medians copy all samples, so the bytes
// allocated show it.
func TestCostOfSamples(t *testing.T) {
	allocated := func(samples int) (bytes uint64) {
		synctest.Test(t, func(t *testing.T) {
			r := timedJob(remote{do: time.Millisecond, told: time.Millisecond})
			r.t.Sampling = &worker.Sampling{Target: -1, MaxSamples: samples, MaxTime: time.Hour}
			before := new(runtime.MemStats)
			runtime.ReadMemStats(before)
			err := r.measure()
			after := new(runtime.MemStats)
			if runtime.ReadMemStats(after); err != nil || r.record.Seconds.N != samples {
				t.Errorf("%d samples: %v, counted %d", samples, err, r.record.Seconds.N)
			}
			bytes = after.TotalAlloc - before.TotalAlloc
		})
		return bytes
	}
	if few, many := allocated(1000), allocated(16_000); many > 40*few {
		t.Errorf("1,000 samples need %d bytes, 16,000 need %d", few, many)
	}
}

// A burster needs a time for each call and for each command, and answers some jobs by one command.
type burster struct {
	remote
	command time.Duration
	renews  bool
	bursts  *[]int
}

func (b burster) Do(*bench.Trace) error                               { time.Sleep(b.command + b.do); return nil }
func (b burster) RoundTrip() time.Duration                            { return b.command }
func (burster) Reported() (bench.Reported, bool)                      { return bench.Reported{}, false }
func (burster) Bursts() bool                                          { return true }
func (b burster) Renews() bool                                        { return b.renews }
func (burster) Renew(int) error                                       { return nil }
func (burster) About() bench.About                                    { return bench.About{} }
func (burster) CanDo(int, bench.Conditions) error                     { return nil }
func (b burster) Setup(int, bench.Conditions) (bench.Job[int], error) { return b, nil }
func (b burster) Burst(all []bench.Bursting) error {
	*b.bursts = append(*b.bursts, len(all))
	time.Sleep(b.command + time.Duration(len(all))*b.do)
	return nil
}

// Calls shorter than 20 round trips are called in bursts of that time, unless the images repeat. A sample is the mean
// of a burst, and the round trip counts once.
func TestBursts(t *testing.T) { synctest.Test(t, bursts) }

func bursts(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		do     time.Duration
		renews bool
		burst  int
	}{
		{100 * us, false, 3}, // 2 calls are 200 µs, in turns of 3
		{10 * us, false, 21},
		{0, false, 66}, // 64 at most, in turns
		{200 * us, false, 0},
		{100 * us, true, 0},
	} {
		b := burster{remote: remote{do: c.do}, command: 10 * us, renews: c.renews, bursts: new([]int)}
		r := &trial[int, int]{
			b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}},
			t: worker.Task{
				Inputs: []string{"x", "y", "z"}, Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.E2E}},
				Sampling: &worker.Sampling{MinSamples: 10, MaxSamples: 10, MaxTime: time.Hour},
			},
			impl: b, inputs: []int{0, 1, 2}, jobs: []bench.Job[int]{b, b, b},
		}
		r.begin()
		if err := r.measure(); err != nil {
			t.Fatal(err)
		}
		calls := max(1, c.burst)
		if want := (c.do + 10*us/time.Duration(calls)).Seconds(); math.Abs(r.record.Seconds.Median-want) > 1e-9 {
			t.Errorf("%v: median %v, want %v", c.do, r.record.Seconds.Median, want)
		}
		if r.record.Burst != c.burst || len(r.record.Samples) != 10 || c.burst > 0 && len(*b.bursts) != 11 ||
			slices.ContainsFunc(*b.bursts, func(n int) bool { return n != c.burst }) {
			t.Errorf("%v: a burst of %d, want %d; %d samples, bursts %v",
				c.do, r.record.Burst, c.burst, len(r.record.Samples), *b.bursts)
		}
		for i, g := range r.given {
			if least := 10 * calls / 3; g.calls < least {
				t.Errorf("%v: %d answers to input %d judged, want %d or more", c.do, g.calls, i, least)
			}
		}
	}
}

// A knower needs no time for images that it had before.
type knower struct {
	burster
	renewed *bool
}

func (k knower) Renew(int) error { *k.renewed = true; return nil }
func (k knower) Do(t *bench.Trace) error {
	if !*k.renewed {
		k.do = 0
	}
	return k.burster.Do(t)
}

// The calls that warm up are about known images, so they do not show whether calls are short.
func TestNoBurstsOfWarmUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := knower{burster{remote{do: time.Millisecond}, time.Microsecond, true, new([]int)}, new(bool)}
		r := timedJob(k)
		r.b.w.Inputs, r.impl = seededInts{}, k
		if err := r.measure(); err != nil || r.record.Burst != 0 || r.record.Seconds.Median != 1.001e-3 {
			t.Errorf("%v, bursts of %d, median %v", err, r.record.Burst, r.record.Seconds)
		}
	})
}

// seededInts are inputs of any seed.
type seededInts struct{ bench.Inputs[int] }

func (seededInts) Reseed(string, uint64) string { return "seeded" }
func (seededInts) Open(string) (int, error)     { return 0, nil }

// A row that is rejected or fails keeps the reason why it was not judged by another process.
func TestRejectedRowsKeepTheirJudge(t *testing.T) {
	const judge = "inside: a reason"
	for _, err := range []error{
		errRefused{errors.New("late")}, &peers.Error{Kind: peers.Refused}, &peers.Error{Kind: peers.Malformed},
		&peers.Error{Kind: peers.Broken},
	} {
		r := &trial[int, int]{record: bench.CellRecord{Judge: judge}}
		if record, failed := r.unanswered(err); failed != nil || record.Judge != judge {
			t.Errorf("%v: judge %q, %v", err, record.Judge, failed)
		}
	}
}
