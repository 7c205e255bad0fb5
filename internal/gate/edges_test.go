package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// A gate without cells is inconclusive, and so is one that confirms none.
func TestNoCells(t *testing.T) {
	for name, change := range map[string]func(*Gate){
		"of two programs": nil,
		"of the base":     func(g *Gate) { g.Alone = true },
	} {
		r := run(t, &world{noise: 0.01}, 1, nil, change)
		if r.Verdict != IsInconclusive || r.Exit != 13 || r.Reason != "no cells" {
			t.Errorf("%s: %s, exit %d: %s", name, r.Verdict, r.Exit, r.Reason)
		}
	}
	r := &Result{}
	r.Confirm(&Result{Verdict: IsRegression})
	if r.Verdict != IsInconclusive || r.Exit != 13 {
		t.Errorf("of the flags of another: %s, exit %d", r.Verdict, r.Exit)
	}
}

// Scripts rely on these exit codes.
func TestExits(t *testing.T) {
	for v, want := range map[Verdict]int{Pass: 0, Stored: 0, IsRegression: 10, IsWrong: 11, IsFailed: 12, IsInconclusive: 13, Verdict("unheard of"): 13} {
		if got := v.Exit(); got != want {
			t.Errorf("%s exits %d, want %d", v, got, want)
		}
	}
}

// A repeated process counts for its own cell only: another workload has other answers to the same
// input.
func TestRepeatedProcessesAreOfTheirCells(t *testing.T) {
	two := []Cell{{Workload: "w", Impl: "i", Input: "in", Scope: bench.E2E, Effect: 0.05}, {Workload: "v", Impl: "i", Input: "in", Scope: bench.E2E, Effect: 0.05}}
	for _, wrong := range []string{"", "w", "v"} {
		seen := map[string]int{}
		w := &world{noise: 0.001, alter: func(s Side, c *bench.CellRecord) {
			c.Digests = []string{"of " + c.Workload}
			if s != Candidate {
				return
			}
			if seen[c.Workload]++; seen[c.Workload] == 3 {
				c.Verdict = verify.Verdict{Status: verify.Implausible, Reason: "because"}
				if c.Workload == wrong {
					c.Digests = []string{"another"}
				}
			}
		}}
		r := run(t, w, 1, two, nil)
		for i, c := range r.Cells {
			want := Same
			if c.Workload == wrong {
				want = Changed
			}
			if c.Decision != want {
				t.Errorf("with a wrong answer of %q: cell %d is %s (%s), want %s", wrong, i, c.Decision, c.Reason, want)
			}
		}
	}
}

// The number of blocks that would settle a change, computed by hand: (z·sd/away)²·π/3, with z =
// 1.645 + 0.842.
func TestBlocksToSettle(t *testing.T) {
	spread := []float64{-0.02, -0.01, 0, 0.01, 0.02} // its standard deviation is 0.015811
	at := func(mean float64, logs ...float64) *Estimate {
		var list []float64
		for _, d := range logs {
			list = append(list, mean+d)
		}
		return estimate(list, 0.05)
	}
	for _, c := range []struct {
		what  string
		e     *Estimate
		cells int
		want  int
	}{
		{"nothing", nil, 1, 0},
		{"two blocks say nothing of their scatter", at(0.1, 0, 0.02), 1, 5},
		{"nor do they of many cells", at(0.1, 0, 0.02), 51, 10},
		// away 0.1 − log 1.05 = 0.05121: (2.487·0.015811/0.05121)²·π/3 = 0.62
		{"more than there are", at(0.1, spread...), 1, 6},
		// away 0.06 − log 1.05 = 0.01121: 12.89
		{"near the effect", at(0.06, spread...), 1, 13},
		{"near it, faster", at(-0.06, spread...), 1, 13},
		{"inside it", at(0.036, spread...), 1, 10},
		// three blocks have a scatter: away 0.00121, sd 0.01: 442
		{"three blocks", at(0.05, -0.01, 0, 0.01), 1, 443},
		{"four, of which the mean is not the middle one", at(0.06, -0.01, 0, 0, 0.03), 1, 16},
		{"the effect itself", at(math.Log(1.05), spread...), 1, 0},
		{"nearly the effect", at(0.05, spread...), 1, 0},
	} {
		if got := c.e.settle(0.05, c.cells); got != c.want {
			t.Errorf("%s: %d blocks, want %d", c.what, got, c.want)
		}
	}
}

// A fresh run shows a change again when its bound lies beyond none, and not at it.
func TestRepeats(t *testing.T) {
	bounds := func(lo, hi float64) *Estimate { return &Estimate{Lo: &lo, Hi: &hi} }
	for _, c := range []struct {
		e    *Estimate
		d    Decision
		want bool
	}{
		{bounds(0.001, 0.2), Regression, true}, {bounds(0, 0.2), Regression, false}, {bounds(-0.1, -0.001), Regression, false},
		{bounds(-0.2, -0.001), Improved, true}, {bounds(-0.2, 0), Improved, false}, {bounds(0.001, 0.2), Improved, false},
		{&Estimate{}, Regression, false}, {bounds(0.001, 0.2), Same, false},
	} {
		if got := c.e.repeats(c.d); got != c.want {
			t.Errorf("%s of %v: %v, want %v", c.d, c.e.interval(), got, c.want)
		}
	}
}

// A cell's row is found among others, and alone.
func TestRowsAreFound(t *testing.T) {
	c := cells(1, 0.05)[0]
	w := &world{rng: rand.New(rand.NewPCG(1, 1))}
	records, err := w.measure(t.Context(), Candidate, c, 0)
	if err != nil {
		t.Fatal(err)
	}
	for what, list := range map[string][]bench.CellRecord{"behind the ceiling": records.Cells, "alone": records.Cells[1:]} {
		p, row := observe(bench.Records{Runs: records.Runs, Cells: list}, nil, c)
		if p.Status != verify.Verified || row.Impl != c.Impl || row.Workload != c.Workload {
			t.Errorf("%s: %s (%s), row of %s", what, p.Status, p.Reason, row.Impl)
		}
	}
	if p, _ := observe(bench.Records{Cells: records.Cells[:1]}, nil, c); p.Status != verify.Crashed || p.Reason != "no row of i on in0 in its results" {
		t.Errorf("none: %s (%s)", p.Status, p.Reason)
	}
}

// One process per side suffices to show that a call allocates more.
func TestCountsOfOneProcess(t *testing.T) {
	of := func(n int64) []Process {
		return []Process{{Status: verify.Verified, Quick: 1, Allocated: &n}}
	}
	for _, c := range []struct {
		base, candidate []Process
		want            Decision
	}{{of(10), of(11), Regression}, {of(10), of(10), ""}, {of(11), of(10), ""}} {
		if got := exact(c.base, c.candidate); got.decision != c.want {
			t.Errorf("%d bytes, then %d: %q, %s", *c.base[0].Allocated, *c.candidate[0].Allocated, got.decision, got.reason)
		}
	}
}

// An estimate that may be 0 is no slowdown, however large.
func TestSuspects(t *testing.T) {
	for lo, want := range map[float64]bool{-0.01: false, 0: false, 0.01: true} {
		if got := (&Estimate{Change: 0.2, Lo: &lo}).suspect(0.1); got != want {
			t.Errorf("a change from %v on: %v", lo, got)
		}
	}
}

// Noise is printed in percent.
func TestWordsOfNoise(t *testing.T) {
	cell := CellResult{Between: 0.123}
	cell.Impl, cell.Input, cell.Effect = "extrema", "noise", 0.05
	r := &Result{Cells: []CellResult{cell}}
	for what, want := range map[string]string{"base": "the base over itself is +20.0 % in extrema noise", "stored": "processes of one program are 12.3 % apart in extrema noise"} {
		r.Stored, r.Cells[0].Noise = nil, &Estimate{Change: 0.2}
		if what == "stored" {
			r.Stored, r.Cells[0].Noise = new(time.Time), nil
		}
		if got := r.tooNoisy(); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A block counts where both processes of a side have a time.
func TestBlocksAreWhole(t *testing.T) {
	good, bad := Process{Status: verify.Verified, Quick: 2}, Process{Status: verify.Crashed}
	for _, c := range []struct {
		list  []Process
		whole bool
	}{{nil, false}, {[]Process{good}, false}, {[]Process{good, bad}, false}, {[]Process{bad, good}, false}, {[]Process{bad, bad}, false}, {[]Process{good, good}, true}, {[]Process{good, good, good}, false}} {
		seconds, whole := view{0: {Base: c.list}}.seconds(0, Base, quick)
		if whole != c.whole || whole != (seconds == 2) {
			t.Errorf("%v: %v s, whole %v", c.list, seconds, whole)
		}
	}
}

// A missing count of bytes is noted; a cell without kernel launches is not.
func TestWhatIsNotCounted(t *testing.T) {
	list := []Process{{Status: verify.Verified, Quick: 1}}
	if notes := exact(list, list).notes; len(notes) != 1 || notes[0] != "not counted: the bytes that a call allocates" {
		t.Errorf("notes %q", notes)
	}
}

// The ceiling of a call above a second is below one per second.
func TestSlowCeilings(t *testing.T) {
	for ceiling, want := range map[float64]verify.Status{0: verify.Verified, 0.1: verify.Implausible, 0.4: verify.Implausible, 0.5: verify.Verified} {
		c := cells(1, 0.05)[0]
		r := bench.CellRecord{
			Workload: c.Workload, Impl: c.Impl, Input: c.Input, Setting: bench.Setting{Scope: c.Scope}, Verdict: verify.Verdict{Status: verify.Verified},
			Inputs: []string{c.Input}, Digests: []string{"1"}, Samples: []float64{1}, Cost: bench.Cost{Items: 1}, Ceiling: ceiling,
		}
		if p, _ := observe(bench.Records{Cells: []bench.CellRecord{r}}, nil, c); p.Status != want || p.bounded != (ceiling > 0) {
			t.Errorf("one a second of at most %v: %s, bounded %v, want %s", ceiling, p.Status, p.bounded, want)
		}
	}
}

// The devices of a machine are the devices of the rows, each once, for any order of records.
func TestDevicesAreNoted(t *testing.T) {
	w := &world{noise: 0.001}
	w.alter = func(_ Side, c *bench.CellRecord) {
		if c.Input == "in1" {
			c.Device = "a card"
		}
	}
	r := run(t, w, 1, cells(3, 0.05), nil)
	if r.Cells[0].Device != "" || r.Cells[1].Device != "a card" || !slices.Equal(r.Machine.Devices, []string{"a card"}) || r.Machine.CPU != "a CPU" {
		t.Errorf("%q, %q, %+v", r.Cells[0].Device, r.Cells[1].Device, r.Machine)
	}
}

// Progress counts from zero to the number of processes, including repeated ones.
func TestProgress(t *testing.T) {
	of := cells(2, 0.05)
	for what, change := range map[string]func(*Gate){
		"beside a base": func(*Gate) {}, "alone": func(g *Gate) { g.Alone = true }, "against a stored one": func(g *Gate) { g.Baseline = stored(t, of) },
	} {
		last, most := -1, 0
		w := &world{noise: 0.001, slow: map[Side]float64{Candidate: 1}} // which a second round confirms
		r := run(t, w, 1, of, func(g *Gate) {
			change(g)
			g.Progress = func(done, total int, _ Side, _ Cell) {
				if done != last+1 || total <= done {
					t.Errorf("%s: %d of %d after %d", what, done, total, last)
				}
				last, most = done, total
			}
		})
		before := 0
		if r.Stored != nil {
			before = 2 * 2 * 2 * 10
		}
		if now := len(r.Processes) - before; last != now-1 || most != now {
			t.Errorf("%s: ends at %d of %d, %d ran", what, last, most, now)
		}
	}
}

// Each cell has its own decision: one slower and one faster cell do not exchange theirs.
func TestDecisionsAreOfTheirCells(t *testing.T) {
	w := &world{noise: 0.001}
	w.alter = func(s Side, c *bench.CellRecord) {
		if s == Candidate && c.Input != "in1" {
			by := map[string]float64{"in0": 2, "in2": 0.5}[c.Input]
			for i := range c.Samples {
				c.Samples[i] *= by
			}
		}
	}
	r := run(t, w, 1, cells(3, 0.05), nil)
	for i, want := range []Decision{Regression, Same, Improved} {
		if c := r.Cells[i]; c.Decision != want {
			t.Errorf("%s: %s (%+v), want %s", c.Input, c.Decision, c.Change, want)
		}
	}
}

// The row of a cell is that of its input, not the first row of its implementation.
func TestRowsOfOtherInputs(t *testing.T) {
	c := cells(2, 0.05)[1]
	w := &world{rng: rand.New(rand.NewPCG(1, 1))}
	records, err := w.measure(t.Context(), Candidate, c, 0)
	if err != nil {
		t.Fatal(err)
	}
	other := records.Cells[1]
	other.Input, other.Verdict = "in0", verify.Verdict{Status: verify.Wrong}
	records.Cells = []bench.CellRecord{other, records.Cells[1]}
	if p, row := observe(records, nil, c); p.Status != verify.Verified || row.Input != "in1" {
		t.Errorf("%s, the row of %s", p.Status, row.Input)
	}
}

// A wrong answer counts in any process of the candidate, and the candidate cannot allow itself other answers.
func TestAnswersOfTheCandidate(t *testing.T) {
	of := func(digest string, tolerant bool) Process {
		return Process{Status: verify.Verified, Quick: 1, digests: map[string]string{"in": digest}, tolerant: tolerant}
	}
	base, wrong := []Process{of("1", false)}, Process{Status: verify.Wrong, Reason: "level 3"}
	for what, c := range map[string]struct {
		candidate []Process
		want      Decision
	}{
		"wrong in the second process": {[]Process{of("1", false), wrong}, Wrong},
		"tolerant by its own account": {[]Process{of("2", true)}, Changed},
		"the same answers":            {[]Process{of("1", true)}, ""},
	} {
		if got := exact(base, c.candidate); got.decision != c.want {
			t.Errorf("%s: %q (%s), want %q", what, got.decision, got.reason, c.want)
		}
	}
}

// An exact finding needs no second round, even if the times flag the cell too.
func TestExactFindingsAreNotMeasuredAgain(t *testing.T) {
	bytes := int64(1000)
	w := &world{noise: 0.001, slow: map[Side]float64{Candidate: 1}, alter: func(s Side, c *bench.CellRecord) {
		if s == Candidate {
			c.Allocated = &bytes
		}
	}}
	r := run(t, w, 1, cells(1, 0.05), nil)
	if c := r.Cells[0]; c.Decision != Regression || c.Second != nil || len(r.Processes) != 60 {
		t.Errorf("%s (%s), %d processes", c.Decision, c.Reason, len(r.Processes))
	}
}

// A base that is faster than itself is noise, as one that is slower.
func TestNoiseInBothDirections(t *testing.T) {
	for _, change := range []float64{-0.1, 0.1} {
		cell := CellResult{Noise: &Estimate{Change: change}}
		cell.Effect = 0.05
		if list := (&Result{Cells: []CellResult{cell}}).tooNoisy(); len(list) != 1 {
			t.Errorf("the base over itself is %+.2f: %q", change, list)
		}
	}
}
