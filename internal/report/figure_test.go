package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// rising are the rows of a ceiling and four implementations over three sizes,
// and of one class with a single size.
func rising() []Row {
	row := func(impl string, items int64, size string, status verify.Status, rate float64) Row {
		r := Row{
			Workload: "sort", Impl: impl, Where: "cpu", Input: "numbers/" + size, Class: "gen=numbers/kind=any", Size: size, Items: items,
			Unit: "numbers/s", Setting: bench.Setting{Scope: bench.Kernel, Threads: 2}, Status: status, Rate: rate, Lo: rate * 0.9, Hi: rate * 1.2,
		}
		if !quotable(status) {
			r.Rate, r.Lo, r.Hi = 0, 0, 0
		}
		if impl == "read" {
			r.Workload = "read"
		}
		return r
	}
	var rows []Row
	for i, size := range []string{"10x10x10", "20x20x20", "40x20x40"} {
		items := []int64{1000, 8000, 32000}[i]
		f := float64(i + 1)
		rows = append(rows,
			row("read", items, size, verify.Verified, 4e9*f),
			row("quick", items, size, verify.Verified, 1e9*f),
			row("loud", items, size, []verify.Status{verify.Noisy, verify.Verified, verify.Mistrusted}[i], 5e8*f),
			row("liar", items, size, verify.Wrong, 9e9),
			row("magic", items, size, verify.Implausible, 9e9))
	}
	lone := row("quick", 1000, "10x10x10", verify.Verified, 1e9)
	lone.Class = "gen=lone"
	return append(rows, lone)
}

// The plot of a table has the right rows, and equal bytes each time.
func TestFigures(t *testing.T) {
	figures, err := Figures(rising(), "read")
	if err != nil || len(figures) != 1 {
		t.Fatalf("%d figures, %v, want one: a table of one size has none", len(figures), err)
	}
	f := figures[0]
	if want := "gen-numbers-kind-any-scope-kernel-2-threads.svg"; f.File != want {
		t.Errorf("file %s, want %s", f.File, want)
	}
	golden(t, f.File, f.SVG)
	again, err := Figures(rising(), "read")
	if err != nil || !bytes.Equal(again[0].SVG, f.SVG) {
		t.Errorf("the same rows give other bytes, %v", err)
	}
	svg := string(f.SVG)
	for _, want := range []string{">read (ceiling)<", ">quick<", ">loud ~?<", ">10³<", ">20³<", ">40x20x40<", ">Gnumbers/s<", "stroke-dasharray="} {
		if !strings.Contains(svg, want) {
			t.Errorf("the plot lacks %s", want)
		}
	}
	for _, not := range []string{"liar", "magic"} {
		if strings.Contains(svg, not) {
			t.Errorf("the plot draws %s, which has no number", not)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(f.SVG)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}

// Markdown links each figure below its table, and text none.
func TestThroughputWithFigures(t *testing.T) {
	rows := rising()
	figures, err := Figures(rows, "read")
	if err != nil {
		t.Fatal(err)
	}
	figures[0].Link = "plots/a.svg"
	var b bytes.Buffer
	if err := Throughput(&b, Markdown, rows, figures...); err != nil {
		t.Fatal(err)
	}
	golden(t, "figures.md", b.Bytes())
	if n := strings.Count(b.String(), "](plots/a.svg)"); n != 1 {
		t.Errorf("%d links, want 1", n)
	}
	b.Reset()
	if err := Throughput(&b, Text, rows, figures...); err != nil || strings.Contains(b.String(), "svg") {
		t.Errorf("text: %v\n%s", err, b.String())
	}
}

// Extreme rows can be drawn: an infinite interval, one point at each size, many implementations,
// two tables of similar names.
func TestFiguresAtExtremes(t *testing.T) {
	rows := rising()[:15]
	for i := range rows {
		rows[i].Lo, rows[i].Hi = 0, math.Inf(1)
	}
	for i := range 20 {
		r := rows[1]
		r.Impl = strings.Repeat("x", i+1)
		rows = append(rows, r)
	}
	for _, r := range rows[:15] {
		r.Class = "gen=numbers kind=any"
		rows = append(rows, r)
		r.Class = "gen=numbers,kind=any"
		rows = append(rows, r)
	}
	figures, err := Figures(rows, "read")
	if err != nil || len(figures) != 2 {
		t.Fatalf("%d figures, %v", len(figures), err)
	}
	if figures[0].File == figures[1].File {
		t.Errorf("two figures are called %s", figures[0].File)
	}
	// An interval without an end is drawn as none.
	for i, r := range rows {
		rows[i].Lo, rows[i].Hi = r.Rate, r.Rate
	}
	if plain, err := Figures(rows, "read"); err != nil || !bytes.Equal(plain[0].SVG, figures[0].SVG) {
		t.Errorf("drawn otherwise than without an interval: %v", err)
	}
	rows[0].Rate = math.Inf(1)
	if _, err := Figures(rows, "read"); err == nil || !strings.Contains(err.Error(), figures[0].Title) {
		t.Errorf("a rate without an end: %v", err)
	}
	if none, err := Figures(nil, "read"); err != nil || len(none) != 0 {
		t.Errorf("of nothing: %v, %v", none, err)
	}
}

// Step functions have names if there are several. Invalid ones are an error.
func TestSteps(t *testing.T) {
	one := Step{Name: "one", X: []float64{0, 3}, Y: []float64{1, -1}}
	for names, steps := range map[string][]Step{"": {one}, ">one<,>two<": {one, {Name: "two", X: one.X, Y: one.Y}}} {
		var b bytes.Buffer
		if err := Steps(&b, "a <title>", "a note", "x", "y", steps...); err != nil {
			t.Fatal(err)
		}
		for _, want := range append(strings.Split(names, ","), ">a &lt;title&gt;</text>", `>a note</text>`, `>x</text>`, `>y</text>`, `class="zero"`) {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the plot lacks %s:\n%s", want, b.String())
			}
		}
		if names == "" && strings.Contains(b.String(), ">one<") {
			t.Error("a single step function has a legend")
		}
	}
	if err := Steps(io.Discard, "none", "", "x", "y"); err == nil {
		t.Error("nothing was plotted")
	}
}

func TestShort(t *testing.T) {
	for size, want := range map[string]string{"512x512x512": "512³", "64x64": "64²", "3x4x5": "3x4x5", "512x512x256": "512x512x256", "64x32": "64x32", "64": "64", "n": "n", "2x2x2x2": "2x2x2x2"} {
		if got := short(size); got != want {
			t.Errorf("%s: %s, want %s", size, got, want)
		}
	}
}

// The card of the machines that runs were measured on.
func TestMachines(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := bench.RunRecord{
		ID: "a", Time: at, Binary: bench.Binary{Commit: "abc", Go: "go1.26", OS: "linux", Arch: "amd64/v1"},
		Machine: bench.Machine{CPU: "A CPU", Cores: 2, Caches: []string{"L1d 48K", "L2 1024K"}, Memory: 8 << 30, Governor: "n/a", Kernel: "linux 6"},
	}
	later := one
	later.ID, later.Time = "b", at.Add(time.Hour)
	later.Machine.Load[0] = 3
	card := one
	card.ID, card.Time, card.Machine.CPU = "c", at.AddDate(0, 0, 1), "Another CPU"
	card.Machine.Devices = []string{"A card"}
	cells := []bench.CellRecord{{Run: "c", Device: "A card"}, {Run: "c", Device: "Another card"}, {Run: "c"}, {Run: "z", Device: "No card"}}
	for _, c := range []struct {
		name string
		f    Format
		runs []bench.RunRecord
	}{{"machine.text", Text, []bench.RunRecord{later, one}}, {"machines.md", Markdown, []bench.RunRecord{one, card, later}}} {
		var b bytes.Buffer
		if err := Machines(&b, c.f, bench.Records{Runs: c.runs, Cells: cells}); err != nil {
			t.Fatal(err)
		}
		golden(t, c.name, b.Bytes())
	}
}

// A row's drawing has the band of no change, the line at 1, the interval and the value.
func TestForestDrawing(t *testing.T) {
	f := forest{Rows: []forestRow{{value: 1.1, lo: 1, hi: 1.2, band: 1.03}}}
	f.draw()
	want := `<svg class="forest" aria-hidden="true" width="260" height="22" viewBox="0 0 260 22"><rect class="band" x="110.2" y="0" width="39.6" height="22"/>` +
		`<line class="none" x1="130.0" x2="130" y1="0" y2="22"/><line class="interval" x1="130.0" x2="252.0" y1="11" y2="11"/><circle class="value" cx="193.8" cy="11" r="4"/></svg>`
	if got := string(f.Rows[0].Drawing); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Each card of a run's cells is named once, for its machine alone.
func TestCardsOfMachines(t *testing.T) {
	runs := []bench.RunRecord{{ID: "a", Machine: bench.Machine{CPU: "A CPU"}}, {ID: "b", Machine: bench.Machine{CPU: "Another CPU"}}}
	cells := []bench.CellRecord{{Run: "a", UUIDs: []string{"GPU-1", "GPU-2"}}, {Run: "b", UUIDs: []string{"GPU-3"}}, {Run: "a", UUIDs: []string{"GPU-2", "GPU-4"}}}
	_, lines := machines(bench.Records{Runs: runs, Cells: cells})
	if want := []string{"UUID", "GPU-1, GPU-2, GPU-4", "GPU-3"}; !slices.Equal(lines[0], want) {
		t.Errorf("%q, want %q", lines[0], want)
	}
}

// A line connects sizes in ascending order, in whichever order they were measured.
func TestPointsAreInOrder(t *testing.T) {
	rows := rising()[:15]
	want, err := Figures(rows, "read")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Figures(slices.Concat(rows[10:], rows[:5], rows[5:10]), "read")
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile(`<path d="[^"]*"`)
	if lines := paths.FindAll(want[0].SVG, -1); len(lines) < 3 || !slices.EqualFunc(lines, paths.FindAll(got[0].SVG, -1), bytes.Equal) {
		t.Errorf("the %d lines are others where the largest size was measured first", len(lines))
	}
}

// A faster change is drawn to the left of no change and a slower one to the right, in proportion.
// Nothing lies outside the drawing.
func TestForestSides(t *testing.T) {
	f := forest{Rows: []forestRow{{value: 0.5, lo: 0.25, hi: 1}, {value: 2, lo: 1, hi: 4, band: 1.05}, {value: 1}, {value: 2, hi: 4}, {value: 2, lo: 1}, {}}}
	f.draw()
	for i, want := range [][]string{
		{`x1="8.0" x2="130.0"`, `cx="69.0"`}, {`x1="130.0" x2="252.0"`, `cx="191.0"`, `class="band" x="125.7" y="0" width="8.6"`}, {`cx="130.0"`}, {`cx="191.0"`}, {`cx="191.0"`}, nil,
	} {
		for _, w := range want {
			if !strings.Contains(string(f.Rows[i].Drawing), w) {
				t.Errorf("no %s in %s", w, f.Rows[i].Drawing)
			}
		}
		drawn := string(f.Rows[i].Drawing)
		if strings.Contains(drawn, `class="interval"`) != (i < 2) || strings.Contains(drawn, "<circle") != (i < 5) {
			t.Errorf("row %d has no whole interval, or no value: %s", i, drawn)
		}
	}
}
