package gate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// A world is programs that take a second, on a machine with that much noise
// between processes.
type world struct {
	rng   *rand.Rand
	noise float64 // standard deviation of the log of a process's time
	drift float64 // the slowdown of each process relative to the one before
	slow  map[Side]float64
	alter func(Side, *bench.CellRecord)
	fail  func(Side) error
	n     int
}

func (w *world) measure(_ context.Context, side Side, c Cell, _ int) (bench.Records, error) {
	w.n++
	if w.fail != nil {
		if err := w.fail(side); err != nil {
			return bench.Records{}, err
		}
	}
	s := math.Exp(w.noise*w.rng.NormFloat64() + w.drift*float64(w.n) + math.Log1p(w.slow[side]))
	bytes := int64(240)
	cell := bench.CellRecord{
		Workload: c.Workload, Impl: c.Impl, Input: c.Input, Setting: bench.Setting{Scope: c.Scope}, Run: "r",
		Verdict: verify.Verdict{Status: verify.Verified}, Inputs: []string{c.Input}, Digests: []string{"1"},
		Samples: []float64{s, s / 2, s * 2}, Allocated: &bytes,
	}
	if w.alter != nil {
		w.alter(side, &cell)
	}
	binary := bench.Binary{SHA256: "of the base"}
	if side == Candidate {
		binary.SHA256 = "of the candidate"
	}
	return bench.Records{
		Runs:  []bench.RunRecord{{ID: "r", Binary: binary, Machine: bench.Machine{CPU: "a CPU"}}},
		Cells: []bench.CellRecord{{Workload: "ceiling", Impl: c.Impl, Input: c.Input}, cell},
	}, nil
}

func cells(n int, effect float64) []Cell {
	var list []Cell
	for i := range n {
		list = append(list, Cell{Workload: "w", Impl: "i", Input: fmt.Sprintf("in%d", i), Scope: bench.E2E, Effect: effect})
	}
	return list
}

func run(t *testing.T, w *world, seed uint64, of []Cell, change func(*Gate)) *Result {
	t.Helper()
	w.rng = rand.New(rand.NewPCG(seed, 7))
	g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: of, Seed: seed, Measure: w.measure}
	if change != nil {
		change(g)
	}
	r, err := g.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Exit != r.Verdict.Exit() || r.Reason == "" {
		t.Fatalf("verdict %s with exit %d: %q", r.Verdict, r.Exit, r.Reason)
	}
	return r
}

// The same program against itself is never flagged, however the noise.
func TestNoChangeIsNotFlagged(t *testing.T) {
	for _, noise := range []float64{0.001, 0.01, 0.03, 0.1} {
		settled := 0
		for seed := range uint64(100) {
			r := run(t, &world{noise: noise}, seed, cells(6, 0.05), nil)
			if r.Verdict == Pass {
				settled++
			}
			for _, c := range r.Cells {
				if c.Decision != Same && c.Decision != Inconclusive {
					t.Fatalf("noise %g, seed %d: %s %+v", noise, seed, c.Decision, c.Change)
				}
			}
		}
		if want := map[float64]int{0.001: 100, 0.01: 100, 0.03: 50}[noise]; settled < want {
			t.Errorf("noise %g: %d of 100 gates pass, want at least %d", noise, settled, want)
		}
		if noise == 0.1 && settled > 0 {
			t.Errorf("noise %g: %d gates pass that nothing can be said of", noise, settled)
		}
	}
}

// A slowdown beyond the effect is found, one as large as the effect or within is
// not invented, and never passes for improved.
func TestSlowdowns(t *testing.T) {
	for _, c := range []struct {
		cells               int // the first one is slower
		slow, noise, effect float64
		want                Verdict
		least               int
	}{
		{1, 0.05, 0.01, 0.03, IsRegression, 95},
		{12, 0.05, 0.01, 0.03, IsRegression, 80},
		{12, 0.07, 0.01, 0.03, IsRegression, 95},
		{1, 0.20, 0.03, 0.05, IsRegression, 95},
		{1, 0.20, 0.01, 0.05, IsRegression, 100},
		{1, 0.05, 0.01, 0.05, IsInconclusive, 85},
		{1, 0.01, 0.01, 0.05, Pass, 95},
	} {
		count := map[Verdict]int{}
		for seed := range uint64(100) {
			w := &world{noise: c.noise, alter: func(side Side, r *bench.CellRecord) {
				for i := range r.Samples {
					if side == Candidate && r.Input == "in0" {
						r.Samples[i] *= 1 + c.slow
					}
				}
			}}
			r := run(t, w, seed, cells(c.cells, c.effect), nil)
			count[r.Verdict]++
			if d := r.Cells[0].Decision; d == Improved || c.slow > c.effect && d == Same {
				t.Errorf("%+v: %s", c, d)
			}
		}
		if count[c.want] < c.least {
			t.Errorf("%+v: %v", c, count)
		}
	}
	r := run(t, &world{noise: 0.01, slow: map[Side]float64{Candidate: -0.2}}, 1, cells(2, 0.05), nil)
	if c := r.Cells[0]; r.Verdict != Pass || c.Decision != Improved || c.Second == nil || math.Abs(c.Change.Change+0.2) > 0.02 {
		t.Errorf("a faster candidate: %s, %+v", r.Verdict, c)
	}
}

// A drift from process to process is no change: 0.01 % per process is 2 % over this gate.
func TestDriftIsNoChange(t *testing.T) {
	for seed := range uint64(20) {
		r := run(t, &world{noise: 0.0001, drift: 0.0001}, seed, cells(3, 0.002), nil)
		for _, c := range r.Cells {
			if c.Decision != Same || math.Abs(c.Change.Change) > 0.0003 {
				t.Errorf("seed %d: %s %+v", seed, c.Decision, c.Change)
			}
		}
	}
}

// Processes that are slow for a while hide neither a slowdown nor its absence.
func TestBursts(t *testing.T) {
	for slow, want := range map[float64]Verdict{0: Pass, 0.2: IsRegression} {
		count := map[Verdict]int{}
		for seed := range uint64(50) {
			w := &world{noise: 0.01, slow: map[Side]float64{Candidate: slow}}
			left := 0
			w.alter = func(_ Side, c *bench.CellRecord) {
				if left--; left < -8 && w.rng.Float64() < 0.1 {
					left = w.rng.IntN(4)
				}
				for i := range c.Samples {
					if left > 0 {
						c.Samples[i] *= 1.6
					}
				}
			}
			r := run(t, w, seed, cells(1, 0.05), nil)
			count[r.Verdict]++
			if d := r.Cells[0].Decision; slow == 0 && d == Regression || d == Improved || slow > 0 && d == Same {
				t.Errorf("slower by %g: %s", slow, d)
			}
		}
		if count[want] < 45 {
			t.Errorf("slower by %g: %v", slow, count)
		}
	}
}

// A flag that a fresh run does not show again does not count.
func TestFlagsAreMeasuredAgain(t *testing.T) {
	w := &world{noise: 0.01, slow: map[Side]float64{Candidate: 0.2}}
	first := 2 * 10 * 6
	w.alter = func(Side, *bench.CellRecord) {
		if w.n == first {
			w.slow = nil
		}
	}
	r := run(t, w, 1, cells(2, 0.05), nil)
	if r.Verdict != IsInconclusive || r.Cells[0].Decision != Inconclusive || !strings.Contains(r.Cells[0].Reason, "not confirmed") {
		t.Errorf("%s: %s, %s", r.Verdict, r.Cells[0].Decision, r.Cells[0].Reason)
	}
	if len(r.Processes) != 2*first {
		t.Errorf("%d processes, want %d twice", len(r.Processes), first)
	}
	r = run(t, &world{noise: 0.01, slow: map[Side]float64{Candidate: 0.2}}, 1, cells(2, 0.05), nil)
	if c := r.Cells[0]; r.Verdict != IsRegression || c.Second == nil || c.Second.Change < 0.15 {
		t.Errorf("%s, second %+v", r.Verdict, c.Second)
	}
}

// A base that differs from itself makes the whole gate inconclusive, but wrong
// answers count on any machine.
func TestNoisyMachine(t *testing.T) {
	w := &world{noise: 0.01, slow: map[Side]float64{Candidate: 0.22, Again: 0.2}}
	r := run(t, w, 1, cells(2, 0.05), nil)
	if r.Verdict != IsInconclusive || !strings.Contains(r.Reason, "too noisy") || !strings.Contains(r.Reason, "+20") && !strings.Contains(r.Reason, "+19") {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
	// A difference that noise cannot explain counts in any case.
	far := &world{noise: 0.01, slow: map[Side]float64{Candidate: 1, Again: 0.2}}
	if r := run(t, far, 1, cells(2, 0.05), nil); r.Verdict != IsRegression || !strings.Contains(r.Reason, "noise") {
		t.Errorf("twice as slow on a machine of 20 %% noise: %s: %s", r.Verdict, r.Reason)
	}
	w.alter = func(s Side, c *bench.CellRecord) {
		if s == Candidate && c.Input == "in1" {
			c.Verdict = verify.Verdict{Status: verify.Wrong, Reason: "level 3", Reproduce: "again"}
		}
	}
	r = run(t, w, 1, cells(2, 0.05), nil)
	if r.Verdict != IsWrong || r.Cells[1].Reproduce != "again" {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

// A candidate that fails in any way never passes, however fast it is.
func TestFailingCandidates(t *testing.T) {
	only := func(side Side, change func(*bench.CellRecord)) *world {
		return &world{noise: 0.001, slow: map[Side]float64{Candidate: -0.5}, alter: func(s Side, c *bench.CellRecord) {
			if s == side {
				change(c)
			}
		}}
	}
	status := func(s verify.Status) func(*bench.CellRecord) {
		return func(c *bench.CellRecord) {
			c.Verdict = verify.Verdict{Status: s, Reason: "because"}
			if s == verify.Skipped || s == verify.Crashed || s == verify.Timeout {
				c.Samples, c.Digests = nil, nil
			}
		}
	}
	more := func(n int64) func(*bench.CellRecord) {
		return func(c *bench.CellRecord) { b := *c.Allocated + n; c.Allocated = &b }
	}
	launches := func(n int64) func(*bench.CellRecord) { return func(c *bench.CellRecord) { c.Launches = &n } }
	noBase := func(s Side) error {
		if s == Candidate {
			return nil
		}
		return errors.New("exec format error")
	}
	for name, c := range map[string]struct {
		w    *world
		want Verdict
		cell Decision
	}{
		"no base":              {&world{fail: noBase}, IsFailed, Inconclusive},
		"no base, and wrong":   {&world{fail: noBase, alter: only(Candidate, status(verify.Wrong)).alter}, IsWrong, Wrong},
		"no base, and crashes": {&world{fail: noBase, alter: only(Candidate, status(verify.Crashed)).alter}, IsFailed, Failed},
		"wrong":                {only(Candidate, status(verify.Wrong)), IsWrong, Wrong},
		"another answer":       {only(Candidate, func(c *bench.CellRecord) { c.Digests = []string{"2"} }), IsWrong, Changed},
		"crash":                {only(Candidate, status(verify.Crashed)), IsFailed, Failed},
		"hang":                 {only(Candidate, status(verify.Timeout)), IsFailed, Failed},
		"refusal":              {only(Candidate, status(verify.Skipped)), IsFailed, Failed},
		"no row":               {only(Candidate, func(c *bench.CellRecord) { c.Impl = "other" }), IsFailed, Failed},
		"another scope":        {only(Candidate, func(c *bench.CellRecord) { c.Scope = bench.File }), IsFailed, Failed},
		"no answers":           {only(Candidate, func(c *bench.CellRecord) { c.Digests = nil }), IsFailed, Failed},
		"no samples":           {only(Candidate, func(c *bench.CellRecord) { c.Samples = nil }), IsFailed, Failed},
		"unverified":           {only(Candidate, status(verify.Unverified)), IsFailed, Failed},
		"too fast":             {only(Candidate, status(verify.Implausible)), IsFailed, Failed},
		"no ceiling": {&world{noise: 0.001, slow: map[Side]float64{Candidate: -0.99}, alter: func(s Side, c *bench.CellRecord) {
			if c.Cost.Items = 1; s != Candidate {
				c.Ceiling = 10
			}
		}}, IsFailed, Failed},
		"fewer inputs": {&world{noise: 0.001, alter: func(s Side, c *bench.CellRecord) {
			if s != Candidate {
				c.Inputs, c.Digests = append(c.Inputs, "more"), append(c.Digests, "2")
			}
		}}, IsInconclusive, Inconclusive},
		"counts no bytes":   {only(Candidate, func(c *bench.CellRecord) { c.Allocated = nil }), IsInconclusive, Inconclusive},
		"more bytes":        {only(Candidate, more(1)), IsRegression, Regression},
		"other inputs":      {only(Candidate, func(c *bench.CellRecord) { c.Inputs = []string{"elsewhere"} }), IsInconclusive, Inconclusive},
		"base wrong":        {only(Base, status(verify.Wrong)), IsInconclusive, Inconclusive},
		"base crashes":      {only(Base, status(verify.Crashed)), IsInconclusive, Inconclusive},
		"base changes":      {only(Again, func(c *bench.CellRecord) { c.Digests = []string{"3"} }), IsInconclusive, Inconclusive},
		"nobody can":        {&world{alter: func(_ Side, c *bench.CellRecord) { status(verify.Skipped)(c) }}, IsInconclusive, NotRun},
		"cannot be started": {&world{fail: func(s Side) error { return map[Side]error{Candidate: errors.New("exec format error")}[s] }}, IsFailed, Failed},
	} {
		r := run(t, c.w, 3, cells(2, 0.05), nil)
		if r.Verdict != c.want || r.Cells[0].Decision != c.cell || r.Cells[0].Reason == "" {
			t.Errorf("%s: %s (%s), cell %s (%s); want %s and %s", name, r.Verdict, r.Reason, r.Cells[0].Decision, r.Cells[0].Reason, c.want, c.cell)
		}
		if r.Exit == 0 {
			t.Errorf("%s: it passes", name)
		}
	}
	w := only(Candidate, launches(4))
	w.alter = func(s Side, c *bench.CellRecord) { launches(map[Side]int64{Base: 3, Again: 3, Candidate: 4}[s])(c) }
	if r := run(t, w, 3, cells(1, 0.05), nil); r.Verdict != IsRegression || !strings.Contains(r.Cells[0].Reason, "launches 4 kernels, the base's 3") {
		t.Errorf("one launch more: %s, %s", r.Verdict, r.Cells[0].Reason)
	}
	// Once is enough, and the runtime's own allocations in one process are not.
	w = &world{noise: 0.001}
	w.alter = func(s Side, c *bench.CellRecord) {
		if w.n == 50 {
			more(512)(c)
		}
	}
	if r := run(t, w, 3, cells(1, 0.05), nil); r.Verdict != Pass {
		t.Errorf("some bytes in one process: %s, %s", r.Verdict, r.Reason)
	}
	// Nor is a ceiling that was measured too low in one process.
	w.n, w.alter = 0, func(_ Side, c *bench.CellRecord) {
		if w.n == 20 || w.n == 30 {
			status(verify.Implausible)(c)
		}
	}
	if r := run(t, w, 3, cells(1, 0.05), nil); r.Verdict != Pass || len(r.Processes) != 62 {
		t.Errorf("implausible once: %s, %s, %d processes", r.Verdict, r.Reason, len(r.Processes))
	}
	// The answers of such a process count.
	w.n, w.alter = 0, func(s Side, c *bench.CellRecord) {
		if s == Candidate && w.n < 8 {
			status(verify.Implausible)(c)
			c.Digests = []string{"9"}
		}
	}
	if r := run(t, w, 3, cells(1, 0.05), nil); r.Verdict != IsWrong {
		t.Errorf("another answer in a process that is run again: %s", r.Verdict)
	}
	w.n, w.alter = 0, func(s Side, c *bench.CellRecord) {
		if s == Candidate && w.n > 50 {
			c.Digests = []string{"9"}
		}
	}
	if r := run(t, w, 3, cells(1, 0.05), nil); r.Verdict != IsWrong {
		t.Errorf("one late wrong answer: %s", r.Verdict)
	}
}

// The order follows from the seed, is mirrored in each block, and covers every cell. More cells
// need more blocks; the advised number can settle the gate.
func TestFewestBlocks(t *testing.T) {
	for cells, want := range map[int]int{1: 5, 6: 7, 51: 10, 52: 11} {
		if got := Fewest(cells); got != want {
			t.Errorf("%d cells: %d blocks, want %d", cells, got, want)
		}
	}
	w := &world{noise: 0.001, slow: map[Side]float64{Candidate: 9}}
	r := run(t, w, 3, cells(6, 0.05), func(g *Gate) { g.Protocol.Blocks = 5 })
	if c := r.Cells[0]; r.Verdict != IsInconclusive || c.Settle != 7 {
		t.Fatalf("%s, %d blocks to settle, want 7", r.Verdict, c.Settle)
	}
	if r := run(t, w, 3, cells(6, 0.05), func(g *Gate) { g.Protocol.Blocks = 7 }); r.Verdict != IsRegression {
		t.Errorf("of as many: %s", r.Verdict)
	}
}

func TestOrder(t *testing.T) {
	sides := []Side{Base, Candidate, Again}
	a, b := order(1, 1, 10, []int{0, 1, 2}, sides), order(1, 1, 10, []int{0, 1, 2}, sides)
	firsts, firstCells := map[Side]int{}, map[int]int{}
	for i, s := range a {
		if s.block != b[i].block || s.cell != b[i].cell || !slices.Equal(s.sides, b[i].sides) {
			t.Fatal("one seed gives two orders")
		}
		mirrored := slices.Clone(s.sides)
		slices.Reverse(mirrored)
		if len(s.sides) != 6 || !slices.Equal(mirrored, s.sides) {
			t.Errorf("block %d: %v", s.block, s.sides)
		}
		firsts[s.sides[0]]++
		if i%3 == 0 {
			firstCells[s.cell]++
		}
	}
	if len(a) != 30 || len(firsts) != 3 || len(firstCells) != 3 {
		t.Errorf("%d steps, first sides %v, first cells %v", len(a), firsts, firstCells)
	}
	if c := order(2, 1, 10, []int{0, 1, 2}, sides); slices.EqualFunc(a, c, func(x, y step) bool { return x.cell == y.cell && slices.Equal(x.sides, y.sides) }) {
		t.Error("two seeds give one order")
	}
}

// Blocks have the numbers from 0 on, which name cores: of base, candidate and stored base.
func TestBlocksAreNumbered(t *testing.T) {
	of := cells(1, 0.05)
	for _, baseline := range []*Baseline{nil, stored(t, of)} {
		w, seen := &world{noise: 0.01, rng: rand.New(rand.NewPCG(1, 1))}, map[Side][]int{}
		g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: of, Baseline: baseline,
			Measure: func(ctx context.Context, s Side, c Cell, block int) (bench.Records, error) {
				seen[s] = append(seen[s], block)
				return w.measure(ctx, s, c, block)
			}}
		if _, err := g.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for side, blocks := range seen {
			for i, block := range blocks[:20] {
				if block != i/2 {
					t.Fatalf("%s: process %d is of block %d", side, i, block)
				}
			}
		}
	}
}

// An interrupted gate is inconclusive and keeps the finished processes.
func TestInterrupted(t *testing.T) {
	for _, after := range []int{0, 3, 40, 130} {
		ctx, cancel := context.WithCancel(context.Background())
		w := &world{noise: 0.01, slow: map[Side]float64{Candidate: 0.5}, rng: rand.New(rand.NewPCG(1, 1))}
		g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: cells(2, 0.05), Measure: func(ctx context.Context, s Side, c Cell, block int) (bench.Records, error) {
			if w.n == after {
				cancel()
			}
			return w.measure(ctx, s, c, block)
		}}
		r, err := g.Run(ctx)
		if err != nil || !r.Interrupted || r.Exit != 13 || len(r.Processes) != after {
			t.Fatalf("after %d: %v, %+v", after, err, r)
		}
		for _, c := range r.Cells {
			if c.Decision != Inconclusive || c.Reason == "" && c.Change == nil {
				t.Errorf("after %d: %s, %s", after, c.Decision, c.Reason)
			}
		}
		if after == 40 && r.Cells[0].Change.Blocks+r.Cells[1].Change.Blocks != 6 {
			t.Errorf("after 40 processes: %+v", r.Cells)
		}
	}
}

// Times that no ratio can be made of decide nothing, and the gate ends.
func TestTimesWithoutRatio(t *testing.T) {
	for _, s := range []float64{0, math.NaN(), math.Inf(1), -1} {
		w := &world{noise: 0.01, rng: rand.New(rand.NewPCG(1, 1)), alter: func(_ Side, c *bench.CellRecord) { c.Samples = []float64{s, s, s} }}
		g := &Gate{Protocol: Protocol{Blocks: 5}, Cells: cells(1, 0.05), Measure: w.measure}
		r, err := g.Run(t.Context())
		if err != nil || r.Verdict != IsFailed || !strings.Contains(r.Cells[0].Reason, "samples that are no times") {
			t.Errorf("%v s: %v, %s %s, %+v", s, err, r.Verdict, r.Reason, r.Cells)
		}
	}
}

// Answers with limits are judged by their own records. Other bytes are no change, a larger error
// than the base's is noted, and a wrong answer is wrong.
func TestAnswersWithinLimits(t *testing.T) {
	for _, c := range []struct {
		tolerant bool
		error    float64
		status   verify.Status
		want     Decision
		note     string
	}{
		{false, 0, verify.Verified, Changed, ""},
		{true, 1e-6, verify.Verified, Same, ""},
		{true, 9e-6, verify.Verified, Same, "largest error 9e-06 of at most 1e-05, the base's 1e-06 of at most 1e-05"},
		{true, 2e-5, verify.Wrong, Wrong, ""},
	} {
		n := 0
		w := &world{noise: 0.001, alter: func(s Side, r *bench.CellRecord) {
			n++
			r.Digests, r.Tolerant = []string{fmt.Sprint(n)}, c.tolerant
			r.Measures = []verify.Measure{{Name: "largest error", Value: 1e-6, Limit: 1e-5}}
			if s == Candidate {
				r.Measures[0].Value, r.Status = c.error, c.status
			} else if !c.tolerant {
				r.Digests = []string{"1"}
			}
		}}
		r := run(t, w, 1, cells(1, 0.05), nil)
		if d := r.Cells[0]; d.Decision != c.want || c.note != "" && !slices.Contains(d.Notes, c.note) || c.note == "" && slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "error") }) {
			t.Errorf("%+v: %s (%s), notes %q", c, d.Decision, d.Reason, d.Notes)
		}
	}
}
