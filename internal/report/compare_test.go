package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// faster is the sorting run with every time divided.
func faster(by float64) bench.Records {
	r := sorting()
	for i, c := range r.Cells {
		if c.Seconds == nil {
			continue
		}
		var samples []float64
		for _, s := range c.Samples {
			samples = append(samples, s/by)
		}
		s := stats.Summarise(samples)
		r.Cells[i].Samples, r.Cells[i].Seconds = samples, &s
	}
	return r
}

func find(t *testing.T, list []Comparison, impl string) Comparison {
	t.Helper()
	for _, c := range list {
		if c.Impl == impl {
			return c
		}
	}
	t.Fatalf("no comparison of %s", impl)
	return Comparison{}
}

func TestCompare(t *testing.T) {
	a, b := sorting(), faster(1.25)
	b.Cells[3].Scope, b.Cells[4].Scope = bench.File, bench.File // "twice"
	list := Compare(a, b)
	for _, c := range list {
		quoted := c.A != nil && c.B != nil && c.A.Rate > 0 && c.B.Rate > 0 && c.Impl != "twice"
		if quoted != (c.Ratio > 0) || quoted && (c.Ratio < 1.2499 || c.Ratio > 1.2501 || !(c.Lo <= c.Ratio && c.Ratio <= c.Hi)) {
			t.Errorf("%s: ratio %v [%v, %v], want 1.25", c.Impl, c.Ratio, c.Lo, c.Hi)
		}
		if !quoted && c.Note == "" {
			t.Errorf("%s has no ratio and no reason", c.Impl)
		}
	}
	if n := find(t, list, "liar").Note; n != "WRONG in A, WRONG in B" {
		t.Errorf("liar: %q", n)
	}
	if n := find(t, list, "loud").Note; n != "NOISY in A, NOISY in B, 1 process each" {
		t.Errorf("loud: %q", n)
	}
	if n := find(t, Compare(a, faster(1.25)), "twice").Note; n != "2 processes each" {
		t.Errorf("twice: %q", n)
	}
	for _, f := range []Format{Text, Markdown} {
		var b bytes.Buffer
		if err := Comparisons(&b, f, "a.jsonl", "b.jsonl", list); err != nil {
			t.Fatal(err)
		}
		golden(t, "compare."+string(f), b.Bytes())
	}
	var out bytes.Buffer
	var back []Comparison
	if err := Comparisons(&out, JSON, "a", "b", list); err != nil || json.Unmarshal(out.Bytes(), &back) != nil || len(back) != len(list) {
		t.Errorf("%v, %d of %d comparisons as JSON", err, len(back), len(list))
	}
}

// Nothing is divided across scopes, threads, machines or answers.
func TestCompareRefuses(t *testing.T) {
	for want, change := range map[string]func(*bench.Records){
		"scope e2e against kernel":                                func(r *bench.Records) { r.Cells[2].Scope = bench.Kernel },
		"2 threads against 1":                                     func(r *bench.Records) { r.Cells[2].Threads = 1 },
		"caches cold against hot":                                 func(r *bench.Records) { r.Cells[2].Hot = true },
		"instruction set none against avx2":                       func(r *bench.Records) { r.Cells[2].ISA = "avx2" },
		"another machine: CPU A CPU against B, cores 0 against 3": func(r *bench.Records) { r.Runs[0].Machine.CPU, r.Runs[0].Machine.Cores = "B", 3 },
		"another machine: device none against a card":             func(r *bench.Records) { r.Cells[2].Device = "a card" },
		"the answers to in differ":                                func(r *bench.Records) { r.Cells[2].Inputs, r.Cells[2].Digests = []string{"in"}, []string{"2"} },
	} {
		a, b := sorting(), sorting()
		a.Cells[2].Inputs, a.Cells[2].Digests = []string{"in"}, []string{"1"}
		change(&b)
		c := find(t, Compare(a, b), "quick")
		if c.Ratio != 0 || c.Lo != 0 || c.Hi != 0 || !strings.HasSuffix(c.Note, "not comparable: "+want) {
			t.Errorf("ratio %v, note %q, want none and %q", c.Ratio, c.Note, want)
		}
	}
}

// Every reason is printed under the table, with the cells that it is of.
func TestComparisonsPrintEveryReason(t *testing.T) {
	a, b := sorting(), sorting()
	for i, c := range b.Cells {
		switch c.Impl {
		case "quick", "plain":
			b.Cells[i].Threads = 1
		case "card":
			b.Cells[i].Hot = true
		}
	}
	var out bytes.Buffer
	if err := Comparisons(&out, Text, "a", "b", Compare(a, b)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not comparable: 2 threads against 1\n", "not comparable: caches cold against hot\n"} {
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("%d times %q in\n%s", n, want, out.String())
		}
	}
}

// A cell finds the one of its own machine among several, and the others have no partner.
func TestComparePairsMachines(t *testing.T) {
	a, b := sorting(), sorting()
	b.Runs = append(b.Runs, bench.RunRecord{ID: "s", Machine: bench.Machine{CPU: "another"}})
	elsewhere := b.Cells[2]
	elsewhere.Run = "s"
	b.Cells = append([]bench.CellRecord{elsewhere}, b.Cells...)
	list := Compare(a, b)
	if c := find(t, list, "quick"); c.Ratio != 1 || c.B.Machine != c.A.Machine {
		t.Errorf("ratio %v: %q", c.Ratio, c.Note)
	}
	if last := list[len(list)-1]; last.Note != "only in B" || last.Impl != "quick" {
		t.Errorf("of another machine: %+v", last)
	}
}

// A cell finds the one of its own scope, wherever that is.
func TestComparePairsAlike(t *testing.T) {
	a, b := sorting(), sorting()
	kernel := b.Cells[2]
	kernel.Scope = bench.Kernel
	b.Cells = append([]bench.CellRecord{kernel}, b.Cells...)
	list := Compare(a, b)
	if c := find(t, list, "quick"); c.Ratio != 1 {
		t.Errorf("e2e has the ratio %v: %q", c.Ratio, c.Note)
	}
	if last := list[len(list)-1]; last.Scope != bench.Kernel || last.Note != "only in B" {
		t.Errorf("the kernel scope: %+v", last)
	}
	if list = Compare(bench.Records{Runs: a.Runs, Cells: a.Cells[:1]}, bench.Records{Runs: a.Runs, Cells: a.Cells[1:2]}); len(list) != 2 || list[0].Note != "only in A" || list[1].Note != "only in B" {
		t.Errorf("nothing in common: %+v", list)
	}
	if a.Cells[0].Status != verify.Verified {
		t.Error("the records were changed")
	}
}

// Rows of two instruction sets are two rows, two curves, and pair each with its like.
func TestInstructionSetsStandApart(t *testing.T) {
	a := sorting()
	wide, narrow := a.Cells[2], a.Cells[2]
	wide.ISA, narrow.ISA = "avx512", "avx2"
	narrow.Seconds = a.Cells[3].Seconds
	larger := wide
	larger.Input, larger.Cost.Items = larger.Input+"1", 2*larger.Cost.Items
	a.Cells = []bench.CellRecord{wide, narrow, larger}
	rows := Rows(a, "")
	if len(rows) != 3 || rows[0].Rate == rows[1].Rate || rows[0].Processes != 1 || rows[1].Flags[0] != "avx2" {
		t.Fatalf("rows: %+v", rows)
	}
	if c := curves(rows, ""); len(c) != 2 || c[0].name != "quick avx512" || c[1].name != "quick avx2" || len(c[0].points) != 2 {
		t.Errorf("curves: %+v", c)
	}
	b := bench.Records{Runs: a.Runs, Cells: []bench.CellRecord{narrow, wide}}
	for _, c := range Compare(a, b) {
		if c.B != nil && c.Ratio != 1 {
			t.Errorf("%s %s: ratio %v, %q", c.Impl, c.ISA, c.Ratio, c.Note)
		}
	}
}

// Cells without an equal counterpart are paired with the nearest one: other caches before another
// instruction set.
func TestComparePairsNearest(t *testing.T) {
	a, b := sorting(), sorting()
	a.Cells = a.Cells[2:3]
	a.Cells[0].ISA = "avx2"
	other, hot := a.Cells[0], a.Cells[0]
	other.ISA, hot.Hot = "avx512", true
	b.Cells = []bench.CellRecord{other, hot}
	if c := Compare(a, b)[0]; c.B == nil || !c.B.Hot {
		t.Errorf("paired with %+v", c.B)
	}
}

// Different answers of one implementation do not affect another's comparison.
func TestCompareOneAnswer(t *testing.T) {
	a, b := sorting(), sorting()
	for i := range a.Cells {
		for _, r := range []bench.Records{a, b} {
			r.Cells[i].Inputs, r.Cells[i].Digests = []string{"x"}, []string{r.Cells[i].Impl}
			if r.Cells[i].Impl == "liar" {
				r.Cells[i].Digests = []string{"of " + string(rune('a'+i))}
			}
		}
	}
	b.Cells = slices.Clone(b.Cells)
	b.Cells[6].Digests = []string{"another"} // the liar's
	for _, c := range Compare(a, b) {
		if differ := strings.HasSuffix(c.Note, "the answers to x differ"); differ != (c.Impl == "liar") {
			t.Errorf("%s: %q", c.Impl, c.Note)
		}
	}
}

// A ratio has its interval below 1 too, and of rates that are.
func TestRatiosOfSlowRates(t *testing.T) {
	list := Compare(faster(1e-12), faster(0.5e-12))
	c := find(t, list, "quick")
	if got, want := c.ratio(), regexp.MustCompile(`^0\.5000× \[0\.49.*, 0\.50.*\]$`); c.B.Rate > 1 || !want.MatchString(got) {
		t.Errorf("%v/s: %s, want %s", c.B.Rate, got, want)
	}
}

// A ratio has an interval where both rates have one.
func TestRatiosOfRatesWithoutIntervals(t *testing.T) {
	with, without := &side{Row: Row{Rate: 2, Lo: 1, Hi: 4}}, &side{Row: Row{Rate: 2}}
	open := &side{Row: Row{Rate: 2, Hi: 4}}
	for _, c := range []struct {
		x, y   *side
		lo, hi float64
	}{{with, with, 0.25, 4}, {with, open, 0, 4}, {with, without, 0, 0}, {without, with, 0, 0}, {open, with, 0, 0}, {without, without, 0, 0}} {
		if got := compare(c.x, c.y); got.Ratio != 1 || got.Lo != c.lo || got.Hi != c.hi {
			t.Errorf("%+v over %+v: %v [%v, %v], want 1 [%v, %v]", c.y.Row, c.x.Row, got.Ratio, got.Lo, got.Hi, c.lo, c.hi)
		}
	}
}
