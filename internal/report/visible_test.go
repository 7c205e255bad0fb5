package report

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// No control sequence of a terminal passes, however the text is split, and all other text does.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":              "plain\ttext\n",
		"Größe ×² → 日本 🙂\n":          "Größe ×² → 日本 🙂\n",
		"\x1b[2Jgone\a\r\x00\x7f":    "␛[2Jgone␇␍␀␡",
		"\u009b2J":                   "\ufffd2J",
		"a\u202egpj.exe\u2069\u061c": `a\u202egpj.exe\u2069\u061c`,
		"\x9b2J \xff \xe2\x82 end.":  "\ufffd2J \ufffd \ufffd\ufffd end.",
	} {
		for size := 1; size <= len(text); size++ {
			var b bytes.Buffer
			w := Visible(&b)
			for piece := range slices.Chunk([]byte(text), size) {
				if n, err := w.Write(piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if b.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, b.String(), want)
			}
			if got := b.String(); strings.ContainsAny(got, "\x1b\a\r\x00\x7f\u009b") || strings.Contains(got, "\x9b2") {
				t.Errorf("%q in pieces of %d: %q", text, size, got)
			}
		}
	}
}

// No cell of CSV is a formula; numbers and other text are unchanged.
func TestCSVHasNoFormulas(t *testing.T) {
	records := evilRecords()
	for i := range records.Cells {
		c := &records.Cells[i]
		c.Status, c.Impl, c.Reason, c.Flags = verify.Wrong, "=HYPERLINK(1)", "@SUM(1)", []string{"+1+1", "-1"}
	}
	rows := Rows(records, "")
	var b bytes.Buffer
	if err := Throughput(&b, CSV, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{",'=HYPERLINK(1),", ",'+1+1 -1,", ",'@SUM(1)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	for text, want := range map[string]string{
		"": "", "a=1": "a=1", "-1.5e3": "-1.5e3", "+2": "+2", "-": "'-", "\t=1": "'\t=1", "-1+2": "'-1+2",
	} {
		if got := csvCell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A failed write is an error.
func TestVisibleFails(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if n, err := Visible(w).Write([]byte("text")); n != 0 || err != io.ErrClosedPipe {
		t.Error(n, err)
	}
}

// evil is a name that would be HTML, a link, another column and another line, and that a
// terminal would obey.
const evil = "x|y<script>alert(1)</script>[a](http://b)\n\x1b[31mz"

func evilRecords() bench.Records {
	run := bench.RunRecord{ID: "r", Machine: bench.Machine{CPU: evil, Host: evil, Kernel: evil, Devices: []string{evil}}, Binary: bench.Binary{Commit: evil}}
	cell := bench.CellRecord{
		Run: "r", Workload: "w" + evil, Impl: evil, Input: evil, Setting: bench.Setting{Scope: bench.E2E, Threads: 1}, Device: evil, Flags: []string{evil}, PeakRSS: 1, Spans: map[string]float64{evil: 1},
		Cost:    bench.Cost{Items: 8, Unit: "vox", Bytes: 8, Class: "gen=" + evil, Size: evil},
		Verdict: verify.Verdict{Status: verify.Wrong, Reason: evil, Reproduce: evil},
	}
	return bench.Records{Runs: []bench.RunRecord{run}, Cells: []bench.CellRecord{cell}}
}

// In Markdown no name makes a column, a tag or a link, and in a page no name makes a tag.
func TestNamesMakeNoMarkup(t *testing.T) {
	all := evilRecords()
	rows := Rows(all, "")
	for what, print := range map[string]func(io.Writer) error{
		"table":   func(w io.Writer) error { return Throughput(w, Markdown, rows) },
		"machine": func(w io.Writer) error { return Machines(w, Markdown, all) },
		"memory":  func(w io.Writer) error { return Memory(w, Markdown, all.Cells) },
		"spans":   func(w io.Writer) error { return Spans(w, Markdown, all.Cells) },
		"compare": func(w io.Writer) error { return Comparisons(w, Markdown, evil, evil, Compare(all, all)) },
		"page": func(w io.Writer) error {
			return HTML(w, Page{Title: evil, Files: []PageFile{{Name: "r", Records: all}}})
		},
	} {
		var b bytes.Buffer
		if err := print(Visible(&b)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := b.String()
		prose := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(got, "")
		for _, raw := range []string{"<script>alert", "](http", "\x1b"} {
			if strings.Contains(prose, raw) && !(what == "page" && raw == "](http") {
				t.Errorf("%s: %q in\n%s", what, raw, got)
			}
		}
		columns := 0
		for line := range strings.Lines(got) {
			if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); what != "page" && line[0] == '|' {
				if columns == 0 {
					columns = n
				}
				if n != columns {
					t.Errorf("%s: %d columns in %q, want %d", what, n, line, columns)
				}
			}
		}
	}
}

// In prose only markup is changed: the brackets of a link, and tags.
func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"(as is)": "(as is)", "a (b) [c] (d)": "a (b) [c] (d)", "[c](d)": `[c]\(d)`, "](d": `]\(d`, "a < b <c": "a < b &lt;c", "<": "<",
	} {
		if got := Prose(Markdown, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The description of a machine is complete.
func TestCard(t *testing.T) {
	r := bench.RunRecord{Machine: bench.Machine{
		CPU: "a processor", Cores: 3, Caches: []string{"L1d 1K", "L2 2K"}, Memory: 3 << 30, CgroupBytes: 1 << 30, Governor: "performance", Kernel: "linux 6",
	}, Binary: bench.Binary{Commit: "0123", Go: "go1.26", OS: "linux", Arch: "amd64/v1"}}
	want := [][2]string{
		{"CPU", "a processor"}, {"cores", "3"}, {"caches", "L1d 1K, L2 2K"}, {"memory", "3.00 GiB"}, {"cgroup memory", "1.00 GiB"},
		{"governor", "performance"}, {"kernel", "linux 6"}, {"commit", "0123"}, {"program", "go1.26 linux/amd64/v1"},
	}
	var got [][2]string
	for names, values := card(r); len(names) > 0; names, values = names[1:], values[1:] {
		got = append(got, [2]string{names[0], values[0]})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A page has no control characters, although its writer does not filter them.
func TestPageHasNoControlCharacters(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, Page{Title: "a\x1b[31m\a", Files: []PageFile{{Name: "r\x07", Records: evilRecords()}}}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\a") {
		t.Error("control characters in the page")
	}
}

func TestLeftOut(t *testing.T) {
	all := bench.Records{}
	for _, s := range []verify.Status{verify.Verified, verify.Noisy, verify.Noisy, verify.Wrong, verify.Skipped} {
		c := bench.CellRecord{Verdict: verify.Verdict{Status: s}}
		if s != verify.Skipped {
			c.Seconds = &stats.Summary{Median: 1}
		}
		all.Cells = append(all.Cells, c)
	}
	if got, want := LeftOut(all), "1 WRONG, 2 NOISY"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := LeftOut(bench.Records{Cells: all.Cells[:1]}); got != "" {
		t.Errorf("%q, want nothing", got)
	}
}
