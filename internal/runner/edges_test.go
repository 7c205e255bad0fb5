//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/peers"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// An odd implementation rejects inputs, fails to set up, or records its conditions.
type odd struct {
	sorter
	clock  *time.Time
	fail   error
	refuse bool // inputs with a time limit
	asked  *[]time.Duration
}

func (o odd) CanDo(_ []uint32, c bench.Conditions) error {
	if o.asked != nil {
		*o.asked = append(*o.asked, c.Time)
	}
	if o.refuse && c.Time > 0 {
		return fmt.Errorf("it takes longer than %v", c.Time)
	}
	return nil
}

func (o odd) Setup(in []uint32, c bench.Conditions) (bench.Job[[]uint32], error) {
	if o.clock != nil {
		*o.clock = o.clock.Add(time.Second)
	}
	if o.fail != nil {
		return nil, o.fail
	}
	return o.sorter.Setup(in, c)
}

func oddTrial(o odd, names ...string) *trial[[]uint32, []uint32] {
	r := &trial[[]uint32, []uint32]{
		b: &bound[[]uint32, []uint32]{sortWorkload()}, impl: o,
		t: worker.Task{Impl: "odd", Inputs: names, Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}, Time: time.Minute}},
	}
	for range names {
		r.inputs = append(r.inputs, []uint32{3, 1, 2})
	}
	return r
}

// The startup time is measured with the first input, and the set-up time with all.
func TestStartupIsOfTheFirstInput(t *testing.T) {
	now := time.Unix(0, 0)
	r := oddTrial(odd{clock: &now}, "a", "b", "c")
	r.clock = func() time.Time { return now }
	r.began = now
	now = now.Add(time.Second) // the device is opened
	if err := r.setup(); err != nil {
		t.Fatal(err)
	}
	if r.record.Startup != 2 || r.record.Setup != 3 {
		t.Errorf("startup %v s, setup %v s, want 2 and 3", r.record.Startup, r.record.Setup)
	}
}

// Derived inputs have no time limit. An answer that takes longer than an input's share of the time
// is not wrong.
func TestDerivedInputsHaveTheTimeTheyTake(t *testing.T) {
	var asked []time.Duration
	r := oddTrial(odd{sorter: sorter{name: "odd"}, refuse: true, asked: &asked}, "a")
	out, err := r.ask([]uint32{2, 1})
	if err != nil || !slices.Equal(out, []uint32{1, 2}) || !slices.Equal(asked, []time.Duration{0}) {
		t.Errorf("%v, %v, asked with limits %v", out, err, asked)
	}
}

// work does a task of numbers in this process.
func work(t *testing.T, o bench.Implementation[[]uint32, []uint32], names ...string) (bench.CellRecord, []string, error) {
	t.Helper()
	w := sortWorkload()
	w.Impls = append(w.Impls, o)
	b := &bound[[]uint32, []uint32]{w}
	var f worker.Files
	for _, name := range names {
		for _, list := range []*[]*os.File{&f.Answers, &f.Inputs} {
			file, err := memfile.New(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { file.Close() })
			*list = append(*list, file)
		}
		if _, err := b.share(name, f.Inputs[len(f.Inputs)-1]); err != nil {
			t.Fatal(err)
		}
	}
	var phases []string
	record, err := b.work(steady(), worker.Task{
		Workload: "sort", Impl: o.About().Name, Inputs: names, Shared: true, Cores: 1, Budget: time.Hour,
		Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}},
		Sampling:   &worker.Sampling{MinSamples: 3, MaxSamples: 3, MaxTime: time.Hour},
	}, f, func(e worker.Event) {
		if e.Phase != "" {
			phases = append(phases, e.Phase)
		}
	})
	return record, phases, err
}

// A refusing implementation rejects inputs in CanDo, or in a call if that is accepted.
type refusing struct {
	sorter
	reason error
}

func (r refusing) CanDo(_ []uint32, c bench.Conditions) error {
	if !c.Once {
		return r.reason
	}
	return nil
}

func (r refusing) Setup(in []uint32, c bench.Conditions) (bench.Job[[]uint32], error) {
	job, err := r.sorter.Setup(in, c)
	return refusingJob{job, r.reason}, err
}

type refusingJob struct {
	bench.Job[[]uint32]
	reason error
}

func (j refusingJob) Do(*bench.Trace) error { return j.reason }

// A cell is skipped if a call refuses its input, as if CanDo had. A law then skips a derived input.
func TestRefusalsOfCalls(t *testing.T) {
	for _, c := range []struct{ reason, want error }{
		{bench.Refuse(errors.New("it is knotted")), errors.New("it is knotted")},
		{bench.TooMuch{Need: 2, Limit: 1, Sum: "one each"}, bench.TooMuch{Need: 2, Limit: 1, Sum: "one each"}},
	} {
		i := refusing{sorter{name: "odd"}, c.reason}
		record, _, err := work(t, i, "numbers/n=9/seed=1", "numbers/n=9/seed=2")
		if err != nil || record.Status != verify.Skipped || record.Reason != c.want.Error() {
			t.Errorf("%+v, %v, want SKIPPED: %v", record.Verdict, err, c.want)
		}
		r := oddTrial(odd{}, "a")
		r.impl = i
		if _, err := r.ask([]uint32{1}); !errors.As(err, new(bench.Refusal)) || err.Error() != c.want.Error() {
			t.Errorf("a derived input: %v, want a refusal: %v", err, c.want)
		}
	}
	if record, _, err := work(t, refusing{sorter{name: "odd"}, errors.New("no")}, "numbers/n=9/seed=1"); err == nil {
		t.Errorf("a call that failed: %+v", record.Verdict)
	}
}

// Caches stay warm if requested, except for a CPU that computes from memory, where they are never
// flushed.
func TestHot(t *testing.T) {
	for _, c := range []struct {
		asked bool
		where string
		scope bench.Scope
		want  bool
	}{
		{true, "cpu", bench.E2E, false}, {true, "cpu", bench.File, true}, {true, "gpu", bench.E2E, true}, {true, "gpu", bench.File, true},
		{false, "cpu", bench.File, false}, {false, "gpu", bench.E2E, false},
	} {
		g := &group{Plan: Plan{Hot: c.asked}, scope: c.scope}
		if got := g.hot(bench.About{Where: c.where}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A worker reports the start of each phase, so that each has its own limit. The record has the time
// of the checks.
func TestPhases(t *testing.T) {
	record, phases, err := work(t, odd{sorter: sorter{name: "odd"}}, "numbers/n=9/seed=1", "numbers/n=9/seed=2")
	if err != nil || record.Status != verify.Verified || !slices.Equal(phases, []string{"setting up", "measuring", "verifying", "closing"}) {
		t.Errorf("%s %s, %v: %q", record.Status, record.Reason, err, phases)
	}
	if record.Checked <= 0 || record.Setup <= 0 {
		t.Errorf("checked in %v s, set up in %v", record.Checked, record.Setup)
	}
}

// Exhausted resources of a device are a rejection. Any other error is a failure.
func TestRefusedWhileSettingUp(t *testing.T) {
	record, _, err := work(t, odd{sorter: sorter{name: "odd"}, fail: deviceError{memory: true}}, "numbers/n=9/seed=1")
	if err != nil || record.Status != verify.Skipped || record.Reason != "setting up input 1 of 1: device" {
		t.Errorf("%s %q, %v", record.Status, record.Reason, err)
	}
	if _, _, err := work(t, odd{sorter: sorter{name: "odd"}, fail: errors.New("no")}, "numbers/n=9/seed=1"); err == nil {
		t.Error("an error of another kind is a refusal")
	}
}

// In a measurement, further attempts have the remainder of half the measuring time.
func TestSpare(t *testing.T) {
	began := time.Unix(0, 0)
	start := began.Add(10 * time.Second)
	for spent, want := range map[time.Duration]time.Duration{0: 5 * time.Second, 2 * time.Second: 3 * time.Second, 6 * time.Second: 1} {
		r := oddTrial(odd{}, "a")
		r.began, r.clock = began, func() time.Time { return start.Add(spent) }
		if got := r.spare(start); got != 0 {
			t.Errorf("%v after %v where nothing is timed", got, spent)
		}
		r.t.Sampling = &worker.Sampling{}
		if got := r.spare(start); got != want {
			t.Errorf("%v after %v, want %v", got, spent, want)
		}
	}
}

// An input leaves later inputs their share of the time, if that is enough for a witness.
func TestWitnessesLeaveTimeForOtherInputs(t *testing.T) {
	for _, c := range []struct {
		budget time.Duration
		more   int
		want   string
	}{{13, 2, "slow"}, {10, 2, "quick"}, {5, 0, "slow"}, {3, 2, "quick"}, {2, 2, "quick"}, {0, 2, ""}} {
		tried := ""
		law := func(name string, takes time.Duration) verify.Law[[]uint32, []uint32] {
			return verify.Law[[]uint32, []uint32]{
				Name: name, Independent: true, Work: func([]uint32) time.Duration { return takes * time.Second },
				Check: func([]uint32, []uint32, verify.Ask[[]uint32, []uint32]) (*verify.Diff, error) {
					tried += name
					return nil, nil
				},
			}
		}
		r := oddTrial(odd{}, "a")
		r.b = &bound[[]uint32, []uint32]{w: r.b.w}
		r.b.w.Policy = verify.Policy[[]uint32, []uint32]{Agree: r.b.w.Policy.Agree, Laws: []verify.Law[[]uint32, []uint32]{law("slow", 4), law("quick", 1)}}
		r.clock, r.jobs, r.others = func() time.Time { return time.Unix(0, 0) }, make([]bench.Job[[]uint32], 1), make([][]verify.Witness[[]uint32], 1)
		r.inputs, r.t.Inputs, r.t.Budget = append(r.inputs, r.inputs[0]), []string{"a", "b"}, c.budget*time.Second
		r.others = append(r.others, nil)
		r.examine(1, []uint32{1}, time.Unix(0, 0), c.more).Confirm()
		if tried != c.want {
			t.Errorf("with %d s for it and %d more %q is tried, want %q", c.budget, c.more, tried, c.want)
		}
	}
}

// A weak input is reported for the first input, even if it does not rotate.
func TestWeakInputs(t *testing.T) {
	for n, want := range map[int]verify.Status{1: verify.Mistrusted, 2: verify.Verified} {
		p := toyPlan(t, "plain")
		p.Inputs, p.Rotate = []string{fmt.Sprintf("numbers/n=%d/seed=1", n)}, 1
		var got collector
		if err := Run(context.Background(), p, &got); err != nil {
			t.Fatal(err)
		}
		if c := got.cells[0]; c.Status != want {
			t.Errorf("%d numbers: %s (%s), want %s", n, c.Status, c.Reason, want)
		}
	}
}

// A job without events cannot be timed by events.
func TestNoEvents(t *testing.T) {
	r := &trial[int, int]{
		b: &bound[int, int]{bench.Workload[int, int]{Encode: func(io.Writer, int) error { return nil }}}, inputs: []int{1}, jobs: []bench.Job[int]{talker{}},
		t: worker.Task{Inputs: []string{"in"}, Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel}}, Sampling: &worker.Sampling{MinSamples: 3, MaxSamples: 3, MaxTime: time.Second}},
	}
	r.begin()
	if err := r.measure(); err == nil || !strings.Contains(err.Error(), "it has no device events for the kernel scope") {
		t.Errorf("error %v", err)
	}
}

// A many is a Bench with unlimited smaller inputs, and counts the tried ones.
type many struct {
	Bench
	tried int
}

func (m *many) smaller(string) []string {
	return slices.Repeat([]string{"numbers/n=9/seed=1"}, 10*shrinkTries)
}

func (m *many) Describe(input string) (bench.Cost, int64, error) {
	m.tried++
	return bench.Cost{}, 0, errors.New("not this one")
}

// Inputs that cannot be read are an error before a worker may write to them, and after.
func TestInputsThatCannotBeHashed(t *testing.T) {
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	on := cell{about: bench.About{Name: "x", Where: "gpu"}}
	if g := (&group{shared: []*os.File{f}}); g.hash(on) == nil || len(g.hashes) != 0 {
		t.Errorf("a closed input was hashed: %v", g.hashes)
	}
	if g := (&group{shared: []*os.File{f}, hashes: []uint64{1}}); g.restore(context.Background(), on, &bench.CellRecord{}, true) == nil {
		t.Error("a closed input was compared")
	}
}

// Only VERIFIED answers of our own confirm those of the next implementation, and if answers have limits, only those of
// the reference.
func TestWhoMayBeAWitness(t *testing.T) {
	within := &tolerant{Bench: toy()[0]}
	own, foreign := bench.About{Name: "x"}, bench.About{Name: "x", Foreign: &peers.Peer{}}
	for _, c := range []struct {
		on     cell
		status verify.Status
		want   bool
	}{
		{cell{bench: toy()[0], about: own}, verify.Verified, true},
		{cell{bench: toy()[0], about: own}, verify.Unverified, false},
		{cell{bench: toy()[0], about: own}, verify.Wrong, false},
		{cell{bench: toy()[0], about: foreign}, verify.Verified, false},
		{cell{bench: within, about: own}, verify.Verified, false},
		{cell{bench: within, about: bench.About{Name: "definition"}}, verify.Verified, true},
		{cell{bench: within, about: bench.About{Name: "definition"}}, verify.Unverified, false},
	} {
		r := bench.CellRecord{Verdict: verify.Verdict{Status: c.status}}
		if got := mayWitness(c.on, r); got != c.want {
			t.Errorf("%+v, %v: %v", c.on.about, c.status, got)
		}
		if r.Unseen = []string{"noise"}; mayWitness(c.on, r) {
			t.Errorf("%+v, %v: its answers are about other inputs", c.on.about, c.status)
		}
	}
}

// A tolerant bench accepts answers within limits, and has a reference.
type tolerant struct{ Bench }

func (*tolerant) Exact() bool       { return false }
func (*tolerant) Reference() string { return "definition" }

// Shrinking ends after a number of attempts, independent of the time.
func TestShrinkingEnds(t *testing.T) {
	m := &many{Bench: toy()[0]}
	g := &group{Plan: Plan{Clock: func() time.Time { return time.Time{} }, shrunk: map[string]bool{}}, input: "numbers/n=99/seed=1"}
	got := g.shrink(context.Background(), cell{bench: m, about: bench.About{Name: "x"}}, bench.CellRecord{})
	if got != g.input || m.tried != shrinkTries {
		t.Errorf("shrunk to %s in %d tries, want %d", got, m.tried, shrinkTries)
	}
	g.shrunk = map[string]bool{}
	failed := bench.CellRecord{Verdict: verify.Verdict{Evidence: []verify.Evidence{{Input: "numbers/n=77/seed=2", Diff: &verify.Diff{}}}}}
	if got := g.shrink(context.Background(), cell{bench: m, about: bench.About{Name: "x"}}, failed); got != "numbers/n=77/seed=2" {
		t.Errorf("it began at %s, not where it failed", got)
	}
	if m.tried = 0; g.shrink(context.Background(), cell{bench: m, about: bench.About{Name: "x"}}, bench.CellRecord{}) != g.input || m.tried != 0 {
		t.Errorf("a second failure was shrunk too, in %d tries", m.tried)
	}
}

// Workers leave no file open, even if they cannot be started.
func TestNoFileIsLeftOpen(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	p := toyPlan(t, "plain")
	p.Sampling = nil
	for _, command := range [][]string{p.Command, {"/no/such/program"}} {
		p.Command = command
		before := 0
		for i := range 8 {
			Run(context.Background(), p, &collector{}) // another test checks that it fails
			if i == 2 {
				before = open() // files of the runtime itself
			}
		}
		if n := open(); n > before {
			t.Errorf("%q: %d files are open, %d before five runs", command, n, before)
		}
	}
}

// Inputs that were written to and cannot be made again end the run.
func TestWrittenInputsThatCannotBeMadeAgain(t *testing.T) {
	b := toy()[0]
	name := "numbers/n=4/seed=1"
	c := cell{bench: b, about: bench.About{Name: "vandal", Where: "gpu"}, input: name}
	g := &group{maker: b, input: name, variants: []string{name}}
	defer func() { closeAll(g.shared) }()
	if err := g.share(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.hash(c); err != nil {
		t.Fatal(err)
	}
	if _, err := g.shared[0].WriteAt([]byte{0xff}, 2); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for status, more := range map[verify.Status]string{verify.Verified: "", verify.Unverified: "", verify.Crashed: "; and it is CRASHED: why", verify.Timeout: "; and it is TIMEOUT: why"} {
		record := bench.CellRecord{Verdict: verify.Verdict{Status: status, Reason: "why"}}
		f, err := memfile.New("what was written")
		if err != nil {
			t.Fatal(err)
		}
		if err := (numbers{}).Share([]uint32{1, 2, 3, 4}, f); err != nil {
			t.Fatal(err)
		}
		again := &group{maker: b, input: name, variants: g.variants, hashes: g.hashes, shared: []*os.File{f}}
		err = again.restore(t.Context(), c, &record, true)
		closeAll(again.shared)
		const says = "it wrote to its input numbers/n=4/seed=1, byte 0 of what is shared: want "
		if _, rest, ok := strings.Cut(record.Reason, "got 0x0001"); err != nil || record.Status != verify.Wrong || !strings.HasPrefix(record.Reason, says) || !ok || rest != more {
			t.Errorf("%s: %s: %s (%v), want it to end with %q", status, record.Status, record.Reason, err, more)
		}
	}
	if err := g.restore(ctx, c, &bench.CellRecord{}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("restored: %v", err)
	}
}

// Inputs are made again if the worker that edits them did not finish, even if its record is VERIFIED because only an
// optional law was left.
func TestInputsOfAnUnfinishedWorker(t *testing.T) {
	name := "numbers/n=4/seed=1"
	plan := Plan{Sampling: &worker.Sampling{}, Outside: func(string, string) *peers.Peer { return &peers.Peer{Edits: true} }}
	g := &group{Plan: plan, maker: toy()[0], input: name, variants: []string{name}, scope: bench.E2E}
	defer func() { closeAll(g.shared) }()
	if err := g.share(t.Context()); err != nil {
		t.Fatal(err)
	}
	made := g.shared[0]
	c, r := cell{bench: toy()[0], about: bench.About{Name: "x", Where: "cpu"}}, bench.CellRecord{Verdict: verify.Verdict{Status: verify.Verified}}
	for _, whole := range []bool{true, false} {
		if err := g.restore(t.Context(), c, &r, whole); err != nil || r.Status != verify.Verified {
			t.Errorf("%v, %s", err, r.Status)
		}
		if kept := g.shared[0] == made; kept != whole {
			t.Errorf("finished %t, inputs kept %t", whole, kept)
		}
	}
}

// The rate of a ceiling is in bytes, also for one item.
func TestCeilingOfOneItem(t *testing.T) {
	for items, want := range map[int64]float64{0: 800, 1: 800, 2: 400, 16: 50} {
		g := &group{rates: rates{}, scope: bench.E2E}
		c := bench.CellRecord{Cost: bench.Cost{Items: items, Bytes: 8}}
		c.Where, c.Scope = "cpu", bench.E2E
		g.noteCeiling(c, 100)
		if got := g.rates[ceilingKey{"cpu", bench.E2E}].bytes; got != want {
			t.Errorf("%d items of 8 bytes, 100 a second: %v bytes a second, want %v", items, got, want)
		}
	}
}

// A ceiling bounds the cells on the same kind of device alone.
func TestCeilingsOfPlaces(t *testing.T) {
	g := &group{rates: rates{}, scope: bench.E2E}
	c := bench.CellRecord{Where: "gpu", Cost: bench.Cost{Items: 2, Bytes: 8}, Setting: bench.Setting{Scope: bench.E2E}}
	g.noteCeiling(c, 100)
	if on, off := g.ceiling("gpu", c.Cost), g.ceiling("cpu", c.Cost); on != 100 || off != 0 {
		t.Errorf("by a ceiling of 100 a second on the GPU: %v there, %v on the CPU; want 100 and 0", on, off)
	}
}

// A ceiling is not compared with itself, even if its first process was disturbed.
func TestCeilingsBoundOthersAlone(t *testing.T) {
	for workload, want := range map[string]bool{"read": false, "sort": true} {
		g := &group{Plan: Plan{Ceiling: "read"}, rates: rates{{"cpu", bench.E2E}: {bytes: 1, median: 2, call: 1}}}
		r := &bench.CellRecord{Workload: workload, Where: "cpu", Cost: bench.Cost{Items: 1, Bytes: 1}, Setting: bench.Setting{Scope: bench.E2E}, Seconds: &stats.Summary{Median: 1, Hi: 1}}
		if _, yes := g.implausible(r); yes != want {
			t.Errorf("%s at twice the rate of the ceiling is implausible: %v", workload, yes)
		}
	}
}

// A row has its number of inputs as a flag if it is below the number that rotate, or below a few.
func TestFewInputsAreFlagged(t *testing.T) {
	for _, c := range []struct {
		rotate, inputs int
		flagged        bool
	}{{1, 1, true}, {1, 2, true}, {1, 3, false}, {3, 3, false}, {4, 3, true}, {4, 4, false}} {
		g := &group{Plan: Plan{Rotate: c.rotate}}
		r := &bench.CellRecord{Inputs: make([]string, c.inputs), Seconds: &stats.Summary{Confidence: 1}}
		if g.finish(r, false); len(r.Flags) > 0 {
			t.Errorf("without a time: flags %q", r.Flags)
		}
		g.finish(r, true)
		if slices.Contains(r.Flags, fmt.Sprintf("inputs=%d", c.inputs)) != c.flagged || len(r.Flags) > 1 {
			t.Errorf("%d inputs, %d rotate: flags %q", c.inputs, c.rotate, r.Flags)
		}
	}
}

// A cell that runs alone has its inputs in memory, except streamed or too large ones.
func TestCellsAlone(t *testing.T) {
	for _, c := range []struct {
		scope  bench.Scope
		memory int64
		shared int
		want   verify.Status
	}{{"", 0, 1, verify.Verified}, {bench.E2E, 0, 1, verify.Verified}, {bench.File, 0, 0, verify.Verified}, {bench.E2E, 1, 0, verify.Skipped}} {
		p := toyPlan(t, "plain")
		p.Scope, p.Memory, p.Rotate = c.scope, c.memory, 1
		groups, err := p.groups(p.Inputs[0])
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.newGroup(groups[0])
		if err != nil {
			t.Fatal(err)
		}
		record, _, err := g.runAlone(t.Context(), groups[0][0])
		if err != nil || len(g.shared) != c.shared || record.Status != c.want {
			t.Errorf("%+v: %v, %d shared, %s (%s)", c, err, len(g.shared), record.Status, record.Reason)
		}
	}
}

// Cells have the time and the budget of the plan. With Grow, inputs larger than usual have more of
// both.
func TestAllow(t *testing.T) {
	for _, c := range []struct {
		grow          bool
		items         int64
		limit, budget time.Duration
	}{
		{false, 1, 8 * time.Second, 4 * time.Second}, {false, 4 * usual, 8 * time.Second, 4 * time.Second},
		{true, 1, 8 * time.Second, 4 * time.Second}, {true, usual, 8 * time.Second, 4 * time.Second},
		{true, 4 * usual, 16 * time.Second, 8 * time.Second}, {true, 9 * usual, 24 * time.Second, 12 * time.Second},
	} {
		p := Plan{Time: 8 * time.Second, Budget: 4 * time.Second, Grow: c.grow}
		if limit, budget := p.allow(bench.Cost{Items: c.items}); limit != c.limit || budget != c.budget {
			t.Errorf("%+v: %v and %v", c, limit, budget)
		}
	}
}

// Without a requested scope, inputs are in memory if they fit. A requested scope is kept, or
// rejected if its inputs do not fit.
func TestScopeOf(t *testing.T) {
	for _, c := range []struct {
		asked  bench.Scope
		memory int64
		want   bench.Scope
		fits   bool
	}{
		{"", 30, bench.E2E, true}, {"", 29, bench.File, true}, {"", 0, bench.E2E, true},
		{bench.File, 30, bench.File, true}, {bench.File, 29, bench.File, true},
		{bench.Kernel, 30, bench.Kernel, true}, {bench.Kernel, 29, bench.Kernel, false}, {bench.Kernel, 0, bench.Kernel, true}, {bench.E2E, 29, bench.E2E, false},
	} {
		if got, err := (Plan{Scope: c.asked, Memory: c.memory}).scopeOf(10, 3); got != c.want || (err == nil) != c.fits {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// Each process and each option of a cell is a cell of its own for a resumed run.
func TestKeysOfCells(t *testing.T) {
	g := &group{scope: bench.E2E}
	keys := map[bench.CellKey]bool{}
	for _, options := range []string{"", "by=b"} {
		for process := range 3 {
			keys[g.key(cell{bench: toy()[0], options: options, process: process})] = true
		}
	}
	if len(keys) != 6 {
		t.Errorf("%d keys of 6 cells: %v", len(keys), keys)
	}
}
