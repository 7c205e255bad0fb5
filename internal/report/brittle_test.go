package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// A disk is a writer that is full from one write on.
type disk struct{ room int }

var errFull = errors.New("no space left on device")

func (d *disk) Write(p []byte) (int, error) {
	if d.room--; d.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// In every output, an error of any write and all later ones is returned.
func TestNoFailedWriteIsLost(t *testing.T) {
	recs := sorting()
	spans := recs.Cells[1]
	spans.Spans, spans.PeakRSS = map[string]float64{"read": 1e-4}, 1<<20
	step := Step{Name: "a", X: []float64{0, 1}, Y: []float64{1, 2}}
	figures, err := Figures(rising(), "read")
	if err != nil {
		t.Fatal(err)
	}
	other := sorting()
	other.Cells[2].Run, other.Runs = "s", append(other.Runs, bench.RunRecord{ID: "s", Machine: bench.Machine{CPU: "another"}})
	differing := Compare(recs, other)
	print := map[string]func(io.Writer) error{
		"gobench":  func(w io.Writer) error { return GoBench(w, recs) },
		"a page":   func(w io.Writer) error { return HTML(w, Page{Files: []PageFile{{Records: recs}}}) },
		"steps":    func(w io.Writer) error { return Steps(w, "title", "", "x", "y", step) },
		"figures":  func(w io.Writer) error { return Throughput(w, Markdown, rising(), figures...) },
		"visible":  func(w io.Writer) error { _, err := Visible(w).Write([]byte("text")); return err },
		"nothing":  func(w io.Writer) error { return Comparisons(w, Text, "a", "b", nil) },
		"rows.csv": func(w io.Writer) error { return Throughput(w, CSV, Rows(recs, "read")) },
	}
	for _, f := range []Format{Text, Markdown, JSON} {
		print["rows as "+string(f)] = func(w io.Writer) error { return Throughput(w, f, Rows(recs, "read")) }
		print["comparisons as "+string(f)] = func(w io.Writer) error { return Comparisons(w, f, "a", "b", differing) }
	}
	for _, f := range []Format{Text, Markdown} {
		print["machines as "+string(f)] = func(w io.Writer) error { return Machines(w, f, other) }
		print["memory as "+string(f)] = func(w io.Writer) error { return Memory(w, f, []bench.CellRecord{spans}) }
		print["spans as "+string(f)] = func(w io.Writer) error { return Spans(w, f, []bench.CellRecord{spans}) }
	}
	for what, to := range print {
		for room := 0; ; room++ {
			d := &disk{room}
			if err := to(d); err == nil {
				if d.room < 0 || room == 0 {
					t.Errorf("%s: no error, though it fails from write %d on", what, room)
				}
				break
			} else if !errors.Is(err, errFull) || room > 10000 {
				t.Errorf("%s, write %d: %v", what, room, err)
				break
			}
		}
	}
}

// Cells that agree in fewer settings are paired after cells that agree in more, in any order of the
// file.
func TestComparePairsByWhatIsAlike(t *testing.T) {
	a := sorting()
	a.Cells = a.Cells[2:3]
	cell := &a.Cells[0]
	cell.Threads, cell.ISA, cell.Options = 8, "avx2", "precision=fp16"
	of := func(scope bench.Scope, threads int, isa string, hot bool, options string) bench.CellRecord {
		c := *cell
		c.Setting = bench.Setting{Scope: scope, Threads: threads, ISA: isa, Hot: hot, Options: options}
		return c
	}
	chain := []bench.CellRecord{ // each agrees in more settings than the previous ones
		of(bench.Kernel, 8, "avx2", false, "precision=fp16"),
		of(bench.E2E, 4, "avx2", false, "precision=fp16"),
		of(bench.E2E, 8, "avx512", false, "precision=fp16"),
		of(bench.E2E, 8, "avx2", true, "precision=fp16"),
		of(bench.E2E, 8, "avx2", false, ""),
		of(bench.E2E, 8, "avx2", false, "precision=fp16"),
	}
	for i := range chain[1:] {
		for _, list := range [][]bench.CellRecord{{chain[i], chain[i+1]}, {chain[i+1], chain[i]}} {
			got := Compare(a, bench.Records{Runs: a.Runs, Cells: list})
			if len(got) != 2 || got[0].A == nil || got[0].B == nil || got[0].B.Setting != chain[i+1].Setting || got[1].Note != "only in B" {
				t.Errorf("of %+v and %+v: %+v", list[0].Setting, list[1].Setting, got)
			}
		}
	}
}

// A row with hot caches has a flag, and so has its curve if there is a row with cold caches too.
func TestHotRowsSaySo(t *testing.T) {
	recs := sorting()
	cold, other := recs.Cells[2], recs.Cells[3]
	hot := cold
	hot.Hot = true
	avx2 := hot
	avx2.ISA = "avx2"
	for _, c := range []struct {
		cells []bench.CellRecord
		want  []string
	}{
		{[]bench.CellRecord{hot}, []string{"quick"}},
		{[]bench.CellRecord{hot, other}, []string{"quick", "twice"}},
		{[]bench.CellRecord{avx2}, []string{"quick"}},
		{[]bench.CellRecord{hot, cold}, []string{"quick hot", "quick"}},
	} {
		rows := Rows(bench.Records{Runs: recs.Runs, Cells: c.cells}, "")
		var got []string
		for _, c := range curves(rows, "") {
			got = append(got, c.name)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("curves %q, want %q", got, c.want)
		}
		if !slices.Contains(rows[0].Flags, "hot") || len(rows) > 1 && len(rows[1].Flags) > 0 {
			t.Errorf("flags of rows: %+v", rows)
		}
	}
}

// A figure without hollow points explains none.
func TestHollowPointsAreExplained(t *testing.T) {
	for marked, want := range map[string]string{"": "\n![a](b)\n", "~?": "\n![a](b)\n\nHollow points are the numbers marked ~ ?.\n"} {
		var b strings.Builder
		if err := (Figure{Title: "a", Link: "b", marked: marked}).markdown(&b); err != nil || b.String() != want {
			t.Errorf("%v, %q, want %q", err, b.String(), want)
		}
	}
}

// A ratio has an interval where both of its ends are known.
func TestRatiosWithoutAnInterval(t *testing.T) {
	for _, c := range []struct {
		Comparison
		want string
	}{
		{Comparison{}, "—"}, {Comparison{Ratio: 2, Lo: 1}, "2.000×"}, {Comparison{Ratio: 2, Hi: 3}, "2.000×"}, {Comparison{Ratio: 2, Lo: 1, Hi: 3}, "2.000× [1.000, 3.000]"},
	} {
		if got := c.ratio(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Hot and cold rows are peers, except in scope file.
func TestPeers(t *testing.T) {
	for _, scope := range []bench.Scope{bench.E2E, bench.Kernel, bench.File} {
		cold, hot := Row{Setting: bench.Setting{Scope: scope}}, Row{Setting: bench.Setting{Scope: scope, Hot: true}}
		if got := cold.peers() == hot.peers(); got != (scope != bench.File) {
			t.Errorf("scope %s: hot and cold rows are peers: %v", scope, got)
		}
	}
}

// Cells that did not run make no table, and no runs make no machines.
func TestNothingRan(t *testing.T) {
	var b strings.Builder
	row := Row{Impl: "a", Class: "gen=any", Size: "8x8x8", Status: verify.Skipped, Reason: "no card", Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
	if err := Throughput(&b, Text, []Row{row}); err != nil || b.String() != "gen=any, scope e2e, 2 threads\na 8³: SKIPPED: no card\n" {
		t.Errorf("%v, %q", err, b.String())
	}
	if v, err := viewPage(Page{}); err != nil || len(v.Machines)+len(v.Tables)+len(v.Forests)+len(v.Downloads) > 0 {
		t.Errorf("%v, %+v", err, v)
	}
}

// A < that begins a tag of HTML is escaped, and no other.
func TestTagsAreEscaped(t *testing.T) {
	for _, c := range "azmAZM/!?" {
		if got, want := Prose(Markdown, "1<"+string(c)), "1&lt;"+string(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, c := range "`{@[ 09-=é" {
		if got, want := Prose(Markdown, "1<"+string(c)), "1<"+string(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for text, want := range map[string]string{"<": "<", "(": "(", "](": `]\(`, "a(": "a("} {
		if got := Prose(Markdown, text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
