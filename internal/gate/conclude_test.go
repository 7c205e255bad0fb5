package gate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// The verdict of a gate and its text, by the decisions on its cells.
func TestConclusions(t *testing.T) {
	const exactly = "a call allocates 2 bytes, the base's 1"
	cell := func(d Decision, reason string, change ...func(*CellResult)) CellResult {
		c := CellResult{Decision: d, Reason: reason}
		c.Impl, c.Input, c.Effect = "i", "in", 0.05
		for _, f := range change {
			f(&c)
		}
		return c
	}
	noisy := func(c *CellResult) { c.Noise = &Estimate{Change: 0.1} }
	beyond := func(lo float64) func(*CellResult) { return func(c *CellResult) { c.Both = &Estimate{Lo: &lo} } }
	apart := func(by float64) func(*CellResult) { return func(c *CellResult) { c.Between = by } }
	same, open, slower := cell(Same, ""), cell(Inconclusive, "why"), cell(Regression, "")
	for _, c := range []struct {
		alone       bool
		interrupted bool
		stored      bool
		cells       []CellResult
		verdict     Verdict
		reason      string
	}{
		{true, false, false, []CellResult{same, same}, Stored, "all 2 cells are measured"},
		{true, false, false, []CellResult{same}, Stored, "the only cell is measured"},
		{true, false, false, []CellResult{same, open, cell(NotRun, "why")}, IsInconclusive, "2 of 3 cells are not fit for a baseline"},
		{true, false, false, []CellResult{same, cell(Measured, "", noisy)}, IsInconclusive, "the machine is too noisy for a baseline: the base over itself is +10.0 % in i in"},
		{false, false, false, nil, IsInconclusive, "no cells"},
		{false, false, false, []CellResult{same, same}, Pass, "all 2 cells are no slower than the effect allows"},
		{false, true, false, []CellResult{same, same}, IsInconclusive, "interrupted; so far: all 2 cells are no slower than the effect allows"},
		{false, false, false, []CellResult{same, open}, IsInconclusive, "1 of 2 cells is not settled"},
		{false, false, false, []CellResult{same, open, cell(NotRun, "why")}, IsInconclusive, "2 of 3 cells are not settled"},
		{false, false, false, []CellResult{slower, same, same}, IsRegression, "1 of 3 cells is slower by more than the effect, confirmed by a fresh run"},
		{false, false, false, []CellResult{slower, slower, same}, IsRegression, "2 of 3 cells are slower by more than the effect, confirmed by a fresh run"},
		{false, false, false, []CellResult{cell(Regression, exactly), same}, IsRegression, "1 of 2 cells is allocating more bytes or launching more kernels"},
		{false, false, false, []CellResult{cell(Failed, "why"), cell(Regression, exactly)}, IsFailed, "1 of 2 cells is without a result of the candidate"},
		{false, false, false, []CellResult{cell(Failed, "why"), cell(Changed, "why"), cell(Wrong, "why")}, IsWrong, "2 of 3 cells are wrong or changed in answer"},
		{false, false, false, []CellResult{cell(Same, "", noisy)}, IsInconclusive, "the machine is too noisy: the base over itself is +10.0 % in i in"},
		{false, false, false, []CellResult{cell(Same, "", func(c *CellResult) { c.Noise = &Estimate{Change: c.Effect} })}, IsInconclusive, "the machine is too noisy: the base over itself is +5.0 % in i in"},
		{false, false, false, []CellResult{cell(Same, "", func(c *CellResult) { c.Noise = &Estimate{Change: 0.04} })}, Pass, "the only cell is no slower than the effect allows"},
		// A cell that is not settled for another reason shows nothing about the machine.
		{false, false, false, []CellResult{cell(NotRun, "why", noisy), same}, IsInconclusive, "1 of 2 cells is not settled"},
		// More than the effect and the noise together.
		{false, false, false, []CellResult{cell(Same, "", noisy), cell(Regression, "", beyond(0.16))}, IsRegression, "1 of 2 cells is slower by more than the effect and this machine's noise, confirmed by a fresh run"},
		{false, false, false, []CellResult{cell(Same, "", noisy), cell(Regression, "", beyond(0.15))}, IsInconclusive, "the machine is too noisy: the base over itself is +10.0 % in i in"},
		{false, false, false, []CellResult{cell(Same, "", noisy), cell(Same, "", beyond(0.16))}, IsInconclusive, "the machine is too noisy: the base over itself is +10.0 % in i in"},
		{false, false, true, []CellResult{cell(Same, "", apart(0.1)), cell(Regression, "", beyond(0.15))}, IsInconclusive, "the machine is too noisy: processes of one program are 10.0 % apart in i in"},
		{false, false, true, []CellResult{cell(Same, "", apart(0.1)), cell(Regression, "", beyond(0.17))}, IsRegression, "1 of 2 cells is slower by more than the effect and this machine's noise, confirmed by a fresh run"},
		{false, false, true, []CellResult{cell(Same, "", apart(0.05))}, Pass, "the only cell is no slower than the effect allows"},
	} {
		r := &Result{Cells: c.cells, Interrupted: c.interrupted}
		if c.stored {
			r.Stored = new(time.Time)
		}
		r.conclude(c.alone)
		if r.Verdict != c.verdict || r.Reason != c.reason || r.Exit != c.verdict.Exit() {
			t.Errorf("%s with exit %d: %q, want %s: %q", r.Verdict, r.Exit, r.Reason, c.verdict, c.reason)
		}
	}
}

// An estimate is decisive if one bound is beyond the effect, or both are within.
func TestDecisions(t *testing.T) {
	const effect = 0.25 // 1/(1 + ¼) is a fifth less
	for _, c := range []struct {
		lo, hi, slower, faster float64
		want                   Decision
	}{
		{-0.19, 0.24, 1, 1, Same}, {lower(effect), 0.24, 1, 1, Inconclusive}, {-0.21, 0.24, 1, 1, Inconclusive}, {-0.19, 0.25, 1, 1, Inconclusive},
		{0.3, 0.4, 0.05, 1, Regression}, {0.3, 0.4, 0.051, 1, Inconclusive}, {-0.4, -0.3, 1, 0.05, Improved}, {-0.4, -0.3, 1, 0.051, Inconclusive},
	} {
		if got := (&Estimate{Lo: &c.lo, Hi: &c.hi, Slower: c.slower, Faster: c.faster}).decide(effect); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := (&Estimate{Slower: 1, Faster: 1}).decide(effect); got != Inconclusive {
		t.Errorf("without bounds: %s", got)
	}
	if got := (*Estimate)(nil).decide(effect); got != Inconclusive {
		t.Errorf("without blocks: %s", got)
	}
	lo := 0.1
	for change, want := range map[float64]bool{effect: false, 0.26: true} {
		if got := (&Estimate{Change: change, Lo: &lo}).suspect(effect); got != want {
			t.Errorf("a change of %v with the effect %v: suspect %v", change, effect, got)
		}
	}
}

// An estimate is of ratios, as shares.
func TestEstimates(t *testing.T) {
	e := estimate([]float64{math.Ln2, math.Ln2, math.Ln2, math.Ln2, math.Ln2}, 0.5)
	if e.Blocks != 5 || e.Change != 1 || e.Lo == nil || *e.Lo != 1 || *e.Hi != 1 || e.Slower != 1./32 || e.Faster != 1 {
		t.Errorf("%+v", e)
	}
	if e.interval() != "+100.0 %, 90 % interval 100.0 to 100.0" {
		t.Error(e.interval())
	}
	if e := estimate([]float64{-math.Ln2}, 0.5); e.Change != -0.5 || e.Lo != nil || e.interval() != "-50.0 %" || e.Slower != 1 || e.Faster != 0.5 {
		t.Errorf("of one block: %+v, %s", e, e.interval())
	}
	if e := estimate(nil, 0.5); e != nil {
		t.Errorf("of none: %+v", e)
	}
	if got := processDeviation(nil); got != 0 {
		t.Errorf("between no processes: %v", got)
	}
	if got := processDeviation([][2]float64{{math.E, 1}, {1, math.E}, {2, 2}, {3, 3}}); math.Abs(got-0.5) > 1e-12 { // variances of ½, ½, 0, 0
		t.Errorf("between processes: %v, want ½", got)
	}
}

// The least count of any process is a cell's, wherever those are that count nothing.
func TestLeastCounts(t *testing.T) {
	one, five := int64(1), int64(5)
	for _, list := range [][]Process{
		{{Allocated: &one}}, {{Allocated: &five}, {Allocated: &one}}, {{Allocated: &one}, {Allocated: &five}}, {{Allocated: &one}, {}}, {{}, {Allocated: &one}, {}, {Allocated: &five}},
	} {
		if n := least(list, func(p Process) *int64 { return p.Allocated }); n == nil || *n != 1 {
			t.Errorf("of %d processes: %v", len(list), n)
		}
	}
	if n := least([]Process{{}, {}}, func(p Process) *int64 { return p.Allocated }); n != nil {
		t.Errorf("of none that counts: %d", *n)
	}
	if n := Fewest(0); n != 5 {
		t.Errorf("%d blocks for no cells, want 5", n)
	}
}

// A note names a lower count, but not an equal one.
func TestNotesOfCounts(t *testing.T) {
	of := func(bytes, launches int64) []Process {
		p := Process{Status: verify.Verified, Quick: 1}
		if bytes >= 0 {
			p.Allocated = &bytes
		}
		if launches >= 0 {
			p.Launches = &launches
		}
		return []Process{p}
	}
	for _, c := range []struct {
		base, candidate []Process
		want            []string
	}{
		{of(5, 3), of(5, 3), nil},
		{of(5, 3), of(4, 2), []string{"a call allocates 4 bytes, the base's 5", "a call launches 2 kernels, the base's 3"}},
		{of(-1, -1), of(5, 3), []string{"the candidate alone counts the bytes that a call allocates", "the candidate alone counts the kernels that a call launches"}},
	} {
		found := exact(c.base, c.candidate)
		decision, reason, notes := found.decision, found.reason, found.notes
		if decision != "" || !slices.Equal(notes, c.want) {
			t.Errorf("%s (%s), notes %q, want %q", decision, reason, notes, c.want)
		}
	}
	// The notes of a cell are in order, each once.
	w := &world{noise: 0.001, slow: map[Side]float64{Candidate: 0.5}, alter: func(s Side, c *bench.CellRecord) {
		c.Allocated, c.Tolerant, c.Measures = nil, true, []verify.Measure{{Name: "zone", Value: 1, Limit: 10}}
		if s == Candidate {
			c.Measures[0].Value = 2
		}
	}}
	want := []string{"not counted: the bytes that a call allocates", "zone 2 of at most 10, the base's 1 of at most 10"}
	if r := run(t, w, 1, cells(1, 0.05), nil); r.Verdict != IsRegression || !slices.Equal(r.Cells[0].Notes, want) {
		t.Errorf("%s, notes %q", r.Verdict, r.Cells[0].Notes)
	}
}

// A flag of one cell is measured again too, and both runs count together.
func TestOneFlagIsMeasuredAgain(t *testing.T) {
	r := run(t, &world{noise: 0.01, slow: map[Side]float64{Candidate: 0.3}}, 1, cells(1, 0.05), nil)
	if c := r.Cells[0]; c.Decision != Regression || c.Second == nil || c.Both == nil || c.Both.Blocks != 20 || len(r.Processes) != 120 {
		t.Errorf("%s, %d processes", c.Decision, len(r.Processes))
	}
	if r := run(t, &world{noise: 0.01}, 1, cells(1, 0.05), nil); len(r.Processes) != 60 {
		t.Errorf("without a flag: %d processes", len(r.Processes))
	}
}

// A cell ends after a process without a result once each side has run.
func TestCellsEndOnceEachSideWasSeen(t *testing.T) {
	for _, side := range []Side{Base, Candidate, Again} {
		w := &world{noise: 0.01, alter: func(s Side, c *bench.CellRecord) {
			if s == side && c.Input == "in0" {
				c.Status = verify.Crashed
			}
		}}
		last, all := 0, 0
		r := run(t, w, 1, cells(2, 0.05), func(g *Gate) {
			g.Progress = func(done, total int, _ Side, _ Cell) { last, all = done, total }
		})
		count := map[Side]int{}
		for _, p := range r.Processes {
			if p.Cell == 0 {
				count[p.Side]++
			}
		}
		if count[Base] != 1 || count[Candidate] != 1 || count[Again] != 1 || len(r.Processes) != 63 || last != 62 || all != 63 {
			t.Errorf("%s crashes: %v of %d processes, progress to %d of %d", side, count, len(r.Processes), last, all)
		}
	}
}

// Processes that are run again are progress too.
func TestProgressOfRepeatedProcesses(t *testing.T) {
	w := &world{noise: 0.001}
	w.alter = func(_ Side, c *bench.CellRecord) {
		if w.n == 20 || w.n == 30 {
			c.Status = verify.Implausible
		}
	}
	last, all := 0, 0
	r := run(t, w, 3, cells(1, 0.05), func(g *Gate) {
		g.Progress = func(done, total int, _ Side, _ Cell) { last, all = done, total }
	})
	if last != 61 || all != 62 || len(r.Processes) != 62 {
		t.Errorf("to %d of %d, of %d processes", last, all, len(r.Processes))
	}
}

// An interrupted gate keeps only the flags that a repeated run has confirmed.
func TestInterruptedFlags(t *testing.T) {
	for after, want := range map[int]string{100: "REGRESSION at first, interrupted before a fresh run", 230: ""} {
		ctx, stop := context.WithCancel(t.Context())
		w := &world{noise: 0.01, slow: map[Side]float64{Candidate: 0.5}, rng: rand.New(rand.NewPCG(1, 1))}
		g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: cells(2, 0.05), Measure: func(ctx context.Context, s Side, c Cell, block int) (bench.Records, error) {
			if w.n == after {
				stop()
			}
			return w.measure(ctx, s, c, block)
		}}
		r, err := g.Run(ctx)
		if err != nil || !r.Interrupted || r.Verdict != IsInconclusive || !strings.HasPrefix(r.Reason, "interrupted; so far: ") || len(r.Processes) != after {
			t.Fatalf("after %d: %v, %+v", after, err, r)
		}
		for _, c := range r.Cells {
			if decision := map[bool]Decision{false: Regression, true: Inconclusive}[want != ""]; c.Decision != decision || c.Reason != want {
				t.Errorf("after %d: %s, %q", after, c.Decision, c.Reason)
			}
		}
	}
}

// A process that is run again can be interrupted as any other.
func TestInterruptedWhileRunAgain(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	w := &world{noise: 0.001, rng: rand.New(rand.NewPCG(1, 1))}
	w.alter = func(_ Side, c *bench.CellRecord) {
		if w.n == 20 {
			c.Status = verify.Implausible
		} else if w.n == 21 {
			stop()
		}
	}
	g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: cells(1, 0.05), Measure: w.measure}
	if r, err := g.Run(ctx); err != nil || !r.Interrupted || w.n != 21 || len(r.Processes) != 20 {
		t.Errorf("%v, %d ran, %+v", err, w.n, r)
	}
}

// A baseline of another machine, or of another card, ends the gate, whatever else it has.
func TestMadeOn(t *testing.T) {
	b := &Baseline{Machine: bench.Machine{CPU: "a CPU", Devices: []string{"a card", "another"}}}
	for _, c := range []struct {
		m      bench.Machine
		device string
		want   string
	}{
		{bench.Machine{CPU: "a CPU"}, "", ""},
		{bench.Machine{CPU: "a CPU", Devices: []string{"another"}}, "another", ""},
		{bench.Machine{CPU: "a CPU"}, "a third", "device: a card; another against a third"},
		{bench.Machine{CPU: "a CPU of 2031"}, "", "machine: "},
	} {
		err := b.madeOn(c.m, c.device)
		var why ErrIncompatible
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &why) || !strings.HasPrefix(why.Why, c.want)) {
			t.Errorf("%+v, %q: %v, want %q", c.m, c.device, err, c.want)
		}
	}
	for text, want := range map[string]string{"": "not a baseline: EOF", "{": "not a baseline: unexpected EOF", "{}": `schema "", want "eccbench/gate-baseline/2"`} {
		if _, err := ReadBaseline(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	of := cells(1, 0.05)
	w := &world{noise: 0.01, rng: rand.New(rand.NewPCG(1, 1))}
	g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: of, Baseline: stored(t, of), Measure: w.measure}
	g.Baseline.Machine.CPU = "a CPU of 2031"
	if r, err := g.Run(t.Context()); r != nil || !errors.As(err, new(ErrIncompatible)) || w.n != 1 {
		t.Errorf("on another machine: %+v, %v, %d ran", r, err, w.n)
	}
}

// A program that does not start is an error, and so is a file without results.
func TestReasonsOfOthers(t *testing.T) {
	c := cells(1, 0.05)[0]
	if p, _ := observe(bench.Records{}, errors.New("exec format error"), c); p.Status != verify.Crashed || p.Reason != "exec format error" {
		t.Errorf("%s: %s", p.Status, p.Reason)
	}
	for text, want := range map[string]string{"": "not a gate's result: EOF", "{}": `schema "", want "` + Schema + `"`} {
		if _, err := ReadResult(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A base without a result is invalid, and so are answers to other inputs.
func TestBasesThatFail(t *testing.T) {
	good := []Process{{Status: verify.Verified, Quick: 1}}
	if f := exact([]Process{{Status: verify.Crashed, Reason: "why"}}, good); f.decision != Inconclusive || f.reason != "the base is CRASHED: why" {
		t.Errorf("%s: %s", f.decision, f.reason)
	}
	c := cells(1, 0.05)[0]
	w := &world{rng: rand.New(rand.NewPCG(1, 1)), alter: func(_ Side, r *bench.CellRecord) { r.Digests = append(r.Digests, "2") }}
	records, err := w.measure(t.Context(), Base, c, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := observe(records, nil, c); p.Status != verify.Verified || len(p.digests) != 1 || p.digests[c.Input] != "1" {
		t.Errorf("%s (%s), digests %v", p.Status, p.Reason, p.digests)
	}
}

// A cell is run again twice at most.
func TestRepeatedTwice(t *testing.T) {
	w := &world{noise: 0.001, alter: func(s Side, c *bench.CellRecord) {
		if s == Candidate {
			c.Status = verify.Implausible
		}
	}}
	r := run(t, w, 1, cells(1, 0.05), nil)
	count := map[bool]int{}
	for _, p := range r.Processes {
		if p.Side == Candidate {
			count[p.Repeated]++
		}
	}
	if r.Verdict != IsFailed || count[true] != 1 || count[false] != 1 {
		t.Errorf("%s, %v", r.Verdict, count)
	}
	// A process is plausible when run again, but the third one is not.
	again := false
	w = &world{noise: 0.001, alter: func(s Side, c *bench.CellRecord) {
		if s == Candidate {
			if again = !again; again {
				c.Status = verify.Implausible
			}
		}
	}}
	r = run(t, w, 1, cells(1, 0.05), nil)
	clear(count)
	for _, p := range r.Processes {
		if p.Side == Candidate {
			count[p.Repeated]++
		}
	}
	if r.Verdict != IsFailed || count[true] != 2 || count[false] != 3 {
		t.Errorf("every other one: %s, %v", r.Verdict, count)
	}
}

// Too few blocks for an estimate of scatter need the least number of blocks.
func TestSettlingOfFewBlocks(t *testing.T) {
	for n, want := range map[int]int{1: 5, 2: 5, 3: 5} { // 3 of no scatter at all
		logs := []float64{0.5, 0.5, 0.5}[:n]
		if got := estimate(logs, 0.05).settle(0.05, 1); got != want {
			t.Errorf("%d blocks: %d to settle, want %d", n, got, want)
		}
	}
}

// A gate whose context has already ended runs nothing.
func TestInterruptedBefore(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	w := &world{rng: rand.New(rand.NewPCG(1, 1))}
	g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: cells(1, 0.05), Measure: w.measure}
	if r, err := g.Run(ctx); err != nil || !r.Interrupted || w.n != 0 {
		t.Errorf("%v, %d ran, %+v", err, w.n, r)
	}
}

// Each cell is compared with the same cell on the other machine, and exact or open cells do not
// change.
func TestConfirmCellByCell(t *testing.T) {
	cell := func(input string, d Decision, reason string) CellResult {
		c := CellResult{Decision: d, Reason: reason}
		c.Impl, c.Input, c.Effect = "i", input, 0.05
		return c
	}
	const bytes = "a call allocates 2 bytes, the base's 1"
	before := &Result{Fingerprint: "f", Cells: []CellResult{cell("a", Regression, ""), cell("b", Improved, ""), cell("c", Regression, ""), cell("d", Improved, ""), cell("e", Regression, ""), cell("g", Same, "")}}
	before.conclude(false)
	r := &Result{Cells: []CellResult{cell("a", Regression, ""), cell("b", Improved, ""), cell("c", Same, ""), cell("d", Regression, bytes), cell("e", Inconclusive, ""), cell("h", Same, "")}}
	r.Confirm(before)
	for i, want := range []CellResult{
		cell("a", Regression, ""), cell("b", Improved, ""), cell("c", Inconclusive, "REGRESSION on the machine f, SAME here"),
		cell("d", Regression, bytes), cell("e", Inconclusive, ""), cell("h", Same, ""),
	} {
		if c := r.Cells[i]; c.Decision != want.Decision || c.Reason != want.Reason {
			t.Errorf("%s: %s, %q, want %s, %q", c.Input, c.Decision, c.Reason, want.Decision, want.Reason)
		}
	}
}

// A gate records its duration.
func TestElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{noise: 0.01, rng: rand.New(rand.NewPCG(1, 1))}
		g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: cells(1, 0.05), Measure: func(ctx context.Context, s Side, c Cell, block int) (bench.Records, error) {
			time.Sleep(time.Second)
			return w.measure(ctx, s, c, block)
		}}
		if r, err := g.Run(t.Context()); err != nil || r.Elapsed != 60 {
			t.Errorf("%v, %v s, want 60", err, r.Elapsed)
		}
	})
}
