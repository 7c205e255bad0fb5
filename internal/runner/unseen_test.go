//go:build unix

package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// seededLines are lines that have names with other seeds.
type seededLines struct{ lines }

func (seededLines) Reseed(name string, seed uint64) string {
	head, _, _ := strings.Cut(name, "/seed=")
	return fmt.Sprintf("%s/seed=%d", head, seed>>2)
}

// A turner is a relaxer whose jobs take other lines. It notes them.
type turner struct {
	relaxer
	given *[]line
}

func (t turner) Setup(in line, _ bench.Conditions) (bench.Job[field], error) {
	return &turning{relaxing{relaxer: t.relaxer, in: in}, t.given}, nil
}

type turning struct {
	relaxing
	given *[]line
}

func (*turning) Renews() bool { return true }

func (t *turning) Renew(in line) error {
	t.in = in
	*t.given = append(*t.given, in)
	return nil
}

// unseenLines is the workload of lines for a turner, with a witness of a cost.
func unseenLines(reference string, cost time.Duration, impls ...bench.Implementation[line, field]) *bound[line, field] {
	b := &bound[line, field]{jacobiWorkload(reference, impls...)}
	b.w.Inputs = seededLines{}
	b.w.Policy.Laws[0].Work = func(line) time.Duration { return cost }
	return b
}

// Every timed call is about another input, and a random sample of their answers is judged.
func TestUnseenInputs(t *testing.T) {
	for _, reference := range []string{"plain", ""} { // with a yardstick, and without
		for impl, spoil := range map[string]func(int, *field){
			"right": nil,
			"late": func(call int, out *field) {
				if call > 20 {
					out.u[3]++
				}
			},
		} {
			var given []line
			b := unseenLines(reference, 0, relaxer{name: "plain"}, turner{relaxer{name: impl, spoil: spoil}, &given})
			task := lineTask(impl, 100)
			task.Sampling.WarmUp = 50 * time.Millisecond // about the lines of the task
			r, err := b.work(steady(), task, worker.Files{}, func(worker.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			if want := map[string]verify.Status{"right": verify.Verified, "late": verify.Wrong}[impl]; r.Status != want {
				t.Errorf("reference %q: %s is %s: %s", reference, impl, r.Status, r.Reason)
			}
			if len(r.Unseen) != mostJudged || r.Calls != mostJudged+2 || len(r.Digests) != 1 ||
				!slices.Equal(r.Inputs, task.Inputs[:1]) {
				t.Errorf("%s: %d unseen, %d judged, inputs %v, digests %v", impl, len(r.Unseen), r.Calls, r.Inputs, r.Digests)
			}
			seen := map[float64]bool{}
			for _, in := range given {
				seen[in.f[0]] = true
			}
			if len(given) != 102 || len(seen) != 102 || given[101].f[0] != lineOf(t, task.Inputs[0]).f[0] {
				t.Errorf("%d different lines in %d calls; the last is %v", len(seen), len(given), given[len(given)-1])
			}
		}
	}
}

// lineTask times an implementation on two lines.
func lineTask(impl string, samples int) worker.Task {
	return worker.Task{
		Workload: "jacobi", Impl: impl, Inputs: []string{"line/steps=5/n=10/seed=1", "line/steps=5/n=10/seed=2"},
		Budget: 1e12, Cores: 1, Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}},
		Sampling: &worker.Sampling{MinSamples: samples, MaxSamples: samples, MaxTime: 1e15},
	}
}

// The first call of a slow peer is about a known input, so it is no sample.
func TestLongCallsOfUnseen(t *testing.T) {
	var given []line
	b := unseenLines("", 0, turner{relaxer{name: "slow"}, &given})
	task := lineTask("slow", 3)
	var now time.Time
	clock := func() time.Time { now = now.Add(2 * worker.LongCall); return now }
	r, err := b.work(clock, task, worker.Files{}, func(worker.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Samples) != 3 || len(r.Unseen) != 3 || r.Calls != 4 {
		t.Errorf("%d samples, %d unseen, %d calls judged; want 3, 3 and the first", len(r.Samples), len(r.Unseen), r.Calls)
	}
	if len(given) != 4 {
		t.Errorf("given %d lines, want one for each sample, and the first again", len(given))
	}
}

// A failer is a turner that fails on a line.
type failer struct {
	turner
	on line
}

func (f failer) Setup(in line, c bench.Conditions) (bench.Job[field], error) {
	j, err := f.turner.Setup(in, c)
	return &failing{j.(*turning), f.on}, err
}

type failing struct {
	*turning
	on line
}

func (f *failing) Do(trace *bench.Trace) error {
	if f.in.f[0] == f.on.f[0] {
		return errors.New("no answer")
	}
	return f.turning.Do(trace)
}

// A call that fails during the warm-up names its own input.
func TestWarmUpNamesItsInput(t *testing.T) {
	var given []line
	task := lineTask("failing", 3)
	task.Sampling.WarmUp = 50 * time.Millisecond
	b := unseenLines("", 0, failer{turner{relaxer{name: "failing"}, &given}, lineOf(t, task.Inputs[1])})
	_, err := b.work(steady(), task, worker.Files{}, func(worker.Event) {})
	if err == nil || !strings.Contains(err.Error(), task.Inputs[1]+": no answer") {
		t.Errorf("%v, want the input %s", err, task.Inputs[1])
	}
}

// Rows about unseen images have no flag of few inputs, however few are judged.
func TestFlagOfFewInputs(t *testing.T) {
	for _, c := range []struct {
		inputs, unseen int
		want           string
	}{{1, 2, "[]"}, {3, 0, "[inputs=3]"}, {8, 0, "[]"}} {
		r := bench.CellRecord{Inputs: make([]string, c.inputs), Unseen: make([]string, c.unseen)}
		r.Seconds = &stats.Summary{Confidence: stats.Confidence}
		(&group{Plan: Plan{Rotate: 8}}).finish(&r, true)
		if got := fmt.Sprint(r.Flags); got != c.want {
			t.Errorf("%d inputs, %d unseen: %s, want %s", c.inputs, c.unseen, got, c.want)
		}
	}
}

// slowLines take some time each.
type slowLines struct {
	seededLines
	now  *time.Time
	cost time.Duration
}

func (l slowLines) Open(name string) (line, error) {
	*l.now = l.now.Add(l.cost)
	return l.seededLines.Open(name)
}

// If images take longer than calls, there are fewer samples: all take twice as long as the samples may.
func TestSlowImages(t *testing.T) {
	var given []line
	now := time.Unix(0, 0)
	b := unseenLines("", 0, turner{relaxer{name: "plain"}, &given})
	b.w.Inputs = slowLines{now: &now, cost: time.Second / 2}
	task := lineTask("plain", 10)
	task.Sampling.MaxSamples, task.Sampling.MaxTime, task.Sampling.Target = 100, 5*time.Second, -1
	clock := func() time.Time { now = now.Add(time.Microsecond); return now }
	r, err := b.work(clock, task, worker.Files{}, func(worker.Event) {})
	if err != nil || len(r.Samples) != 20 {
		t.Errorf("%d samples, %v; want 20", len(r.Samples), err)
	}
}

func lineOf(t *testing.T, name string) line {
	t.Helper()
	in, err := lines{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Each timed answer has the same chance to be judged, with its own input.
func TestEveryAnswerMayBeJudged(t *testing.T) {
	const calls, most, runs = 40, 4, 200
	var quarter [4]int
	for range runs {
		r := &trial[line, field]{b: unseenLines("", 0), unseen: &unseen{most: most}}
		for call := range calls {
			r.current = fmt.Sprint(call)
			if err := r.takeUnseen(field{u: []float32{float32(call)}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, g := range r.kept {
			out, err := r.b.decode(g.first)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(out.u[0]); got != g.name {
				t.Fatalf("the answer to %s is kept for %s", got, g.name)
			}
			quarter[int(out.u[0])*4/calls]++
			g.first.close(true)
		}
	}
	for q, n := range quarter { // 200 of 800, ±12
		if n < 120 || n > 280 {
			t.Errorf("%d of %d judged answers are from quarter %d of the calls", n, runs*most, q)
		}
	}
}

// One answer about an unseen image is judged, and more in half of the time to measure. Which ones is random.
func TestNumberOfJudged(t *testing.T) {
	const kept, runs = 8, 200
	for _, x := range []struct {
		cost time.Duration
		want int
	}{{0, kept}, {time.Second, 5}, {3 * time.Second, 1}, {time.Hour, 1}} {
		var first [kept]int
		for range runs {
			now := time.Unix(0, 0)
			b := unseenLines("", 0, turner{relaxer{name: "plain"}, new([]line)})
			b.w.Inputs = slowLines{now: &now, cost: x.cost}
			r := &trial[line, field]{
				b: b, clock: func() time.Time { return now },
				inputs: make([]line, 1), others: make([][]verify.Witness[field], 1),
				jobs: []bench.Job[field]{&turning{given: new([]line)}}, unseen: &unseen{most: kept, done: func() {}},
				t: worker.Task{
					Inputs: []string{"line/seed=9"}, Budget: 1e15,
					Sampling: &worker.Sampling{MaxTime: 10 * time.Second},
				},
			}
			r.given = make([]*answerPair[field], 1)
			for k := range kept {
				r.current = fmt.Sprintf("line/steps=5/n=10/seed=%d", k)
				if err := r.takeUnseen(field{u: make([]float32, 10)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.endUnseen(); err != nil {
				t.Fatal(err)
			}
			if _, err := r.confirmUnseen(now); err != nil || len(r.record.Unseen) != x.want {
				t.Fatalf("%v each: %d judged, %v; want %d", x.cost, len(r.record.Unseen), err, x.want)
			}
			for k := range kept {
				if strings.HasSuffix(r.record.Unseen[0], fmt.Sprintf("=%d", k)) {
					first[k]++
				}
			}
			r.given = r.given[1:]
			r.close()
		}
		for k, n := range first { // 25 of 200, ±5
			if n < 2 || n > 60 {
				t.Errorf("answer %d is judged first in %d of %d runs", k, n, runs)
			}
		}
	}
}

// The number of answers that are kept follows from their size.
func TestNumberOfKept(t *testing.T) {
	for bytes, want := range map[int64]int{8: mostJudged, 128 << 20: 4, 1 << 30: 1} {
		r := &trial[line, field]{unseen: &unseen{calls: 9}}
		f, err := memfile.New("an answer")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(bytes); err != nil {
			t.Fatal(err)
		}
		r.given = []*answerPair[field]{{first: &answerCopy{file: f}}}
		if err := r.keepUnseen(); err != nil || r.unseen.most != want || r.unseen.calls != 0 {
			t.Errorf("%d bytes: %d of %d calls, %v; want %d", bytes, r.unseen.most, r.unseen.calls, err, want)
		}
	}
}
