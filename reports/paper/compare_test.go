package paper

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/report"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// cell returns a record of a row of Wang's table 1 with a time in seconds.
func cell(r Row, impl, where string, scope bench.Scope, at Place, status verify.Status, seconds float64) bench.CellRecord {
	input, err := r.Input(ECC, scope, at)
	if err != nil {
		panic(err)
	}
	samples := make([]float64, 20)
	for i := range samples {
		samples[i] = seconds
	}
	s := stats.Summarise(samples)
	return bench.CellRecord{
		Run: "1", Workload: ECC, Impl: impl, Where: where, Input: input, Setting: bench.Setting{Scope: scope}, Startup: 0.5,
		Cost:    bench.Cost{Items: r.Voxels(), Unit: "vox", Bytes: r.Bytes()},
		Verdict: verify.Verdict{Status: status, Reason: "a reason"}, Samples: samples, Seconds: &s,
	}
}

func TestLines(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	tab := p.Tables[0]
	r := tab.Rows[3] // uniform noise 512³: CPU 4.97 s, GPU 0.85 s, 6.55 Gvox/s
	disk := Place{Store: "/store"}
	cached := cell(r, "chunked", "gpu", bench.File, disk, verify.Verified, 0.3)
	cached.Flags = []string{"cached"}
	kernel := cell(r, "tiled", "gpu", bench.Kernel, disk, verify.Verified, 0.01)
	kernel.Ceiling = 4 * 134217728 / 0.01
	reader := cell(r, "memread", "cpu", bench.File, disk, verify.Verified, 1.6)
	reader.Workload = "memread"
	other := cell(r, "memread", "cpu", bench.File, disk, verify.Verified, 0.5)
	other.Workload = "memread"
	for _, c := range []struct {
		name         string
		cells        []bench.CellRecord
		column       string
		ratio, share float64
		why, here    string
	}{
		{"from a disk, the start included", []bench.CellRecord{reader, cell(r, "cpu", "cpu", bench.File, disk, verify.Verified, 2)}, "cpu_overall", 4.97 / 2.5, 0.8, "", ""},
		{"from a disk that other runs read, too", []bench.CellRecord{other, reader, cell(r, "cpu", "cpu", bench.File, disk, verify.Verified, 2), other}, "cpu_overall", 4.97 / 2.5, 0.8, "", ""},
		{"made as it is read", []bench.CellRecord{cell(r, "cpu", "cpu", bench.File, Place{}, verify.Verified, 2)}, "cpu_overall", 0, 0, "not read from a disk", ""},
		{"in memory", []bench.CellRecord{cell(r, "cpu", "cpu", bench.E2E, Place{}, verify.Verified, 2)}, "cpu_overall", 0, 0, "from host memory", ""},
		{"from a disk rather than in memory", []bench.CellRecord{cell(r, "cpu", "cpu", bench.File, disk, verify.Verified, 2), cell(r, "cpu", "cpu", bench.E2E, Place{}, verify.Verified, 1)}, "cpu_overall", 4.97 / 2.5, 0, "", ""},
		{"the last of two", []bench.CellRecord{cell(r, "cpu", "cpu", bench.File, disk, verify.Verified, 2), cell(r, "cpu", "cpu", bench.File, disk, verify.Verified, 1)}, "cpu_overall", 4.97 / 1.5, 0, "", ""},
		{"a file in memory", []bench.CellRecord{cached}, "gpu_overall", 0, 0, "comes from memory", ""},
		{"a rate", []bench.CellRecord{kernel}, "kernel_rate", 134217728 / 0.01 / 6.55e9, 0.25, "", ""},
		{"no number without a verdict", []bench.CellRecord{cell(r, "cpu", "cpu", bench.File, disk, verify.Wrong, 2)}, "cpu_overall", 0, 0, "", "WRONG"},
		{"nothing", nil, "gpu_overall", 0, 0, "", "no device"},
		{"another row's", []bench.CellRecord{cell(tab.Rows[4], "cpu", "cpu", bench.File, disk, verify.Verified, 2)}, "cpu_overall", 0, 0, "", "no device"},
	} {
		lines := p.Lines(tab, c.cells, "memread", func(_, impl string) bool { return impl != "extrema" && impl != "extrema-gpu" }, func(Series, Row, string) string { return "no device" })
		found := false
		for _, l := range lines {
			if l.Series.Column != c.column || l.Row.Label != r.Label || l.Row.Data != r.Data {
				continue
			}
			found = true
			if math.Abs(l.Ratio-c.ratio) > 1e-9 || math.Abs(l.Share-c.share) > 1e-9 || !strings.Contains(l.Why, c.why) || c.why == "" && l.Why != "" {
				t.Errorf("%s: ratio %v, share %v, %q; want %v, %v, %q", c.name, l.Ratio, l.Share, l.Why, c.ratio, c.share, c.why)
			}
			if c.here != "" && (l.Measured != 0 || l.state() != c.here) {
				t.Errorf("%s: measured %v, %q, want %q", c.name, l.Measured, l.state(), c.here)
			}
		}
		if !found || len(lines) != 3*len(tab.Rows) {
			t.Errorf("%s: %d lines, found %v", c.name, len(lines), found)
		}
	}
}

// The published share of a GPU's bandwidth is that of reading each voxel once.
func TestPublishedShare(t *testing.T) {
	for id, want := range map[string]float64{"wang2022": 6.55 * 4 / 448, "saxena2025": 134217728 * 4 / 5.61e-3 / 768e9} {
		p, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, tab := range p.Tables {
			for _, l := range p.Lines(tab, nil, "memread", func(_, impl string) bool { return impl == "tiled" || impl == "fullsweep" }, func(Series, Row, string) string { return "" }) {
				if l.Note == "" && l.Row.Label == "512³" && l.Row.Data == "uniform noise" && math.Abs(l.PublishedShare-want) > 1e-9 {
					t.Errorf("%s: %v, want %v", id, l.PublishedShare, want)
				}
			}
		}
	}
}

// An implementation that joins the list joins the table.
func TestPrint(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	tab := p.Tables[0]
	c := cell(tab.Rows[3], "extrema-gpu", "gpu", bench.Kernel, Place{}, verify.Noisy, 0.01)
	c.Device = "a device"
	recs := bench.Records{Runs: []bench.RunRecord{{ID: "1", Machine: bench.Machine{CPU: "a processor", Cores: 3}}}, Cells: []bench.CellRecord{c}}
	var b bytes.Buffer
	lines := p.Lines(tab, recs.Cells, "memread", func(_, impl string) bool { return true }, func(Series, Row, string) string { return "a reason that is too long for a cell" })
	if err := p.Print(&b, report.Markdown, tab, lines, recs, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"**wang2022, table 1 (page 63:11): a single image on disk**", "- measured on: a processor, 3 cores; a device;",
		"| 13.42 Gvox/s~ ", "- extrema-gpu uniform noise 512³: NOISY~: a reason", "- uniform noise 2048³: not run: a reason that is too long",
		"| VICTRE (stand-in) ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestEmptyColumnsAreLeftOut(t *testing.T) {
	row := func(texts ...string) (r report.QuoteRow) {
		for _, t := range texts {
			r.Cells = append(r.Cells, report.QuoteCell{Text: t})
		}
		return r
	}
	s := report.QuoteSection{Header: []string{"size", "flags", "here", "parts"}, Rows: []report.QuoteRow{row("1", "", "", ""), row("2", "", "", "read")}}
	leaveOut(&s, "flags", "parts")
	if got := fmt.Sprint(s.Header, s.Rows); got != "[size here parts] [{ [{1 <nil>} { <nil>} { <nil>}] } { [{2 <nil>} { <nil>} {read <nil>}] }]" {
		t.Error(got)
	}
}

// Only the parts of a pipeline that read the image have a share of the rate at
// which a device reads it.
func TestPipelineShares(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	table, err := p.Table(2)
	if err != nil {
		t.Fatal(err)
	}
	r := table.Rows[1] // ten iterations
	image, err := r.Generated()
	if err != nil {
		t.Fatal(err)
	}
	seconds := stats.Summarise([]float64{10e-3})
	record := func(workload, impl, input string, scope bench.Scope, items int64) bench.CellRecord {
		c := bench.CellRecord{Workload: workload, Impl: impl, Where: "gpu", Setting: bench.Setting{Scope: scope}, Input: input, Seconds: &seconds, Samples: []float64{10e-3},
			Cost: bench.Cost{Items: items}, Spans: map[string]float64{"ecc": 4e-3, "gaussian": 2e-3, "vcec": 1e-3}}
		c.Status = verify.Verified
		return c
	}
	cells := []bench.CellRecord{
		record(Smooth, "smooth-gpu", "smooth/iterations=10/of="+image, bench.Device, 10*r.Voxels()),
		record("memread", "memread-gpu", image, bench.Kernel, 100*r.Voxels()), // 0.1 ms for one image
	}
	want := map[string]float64{"ecc": 0.25, "gaussian": 0.5, "ecc_memory": 0, "average": 0}
	for _, l := range p.Lines(table, cells, "memread", func(string, string) bool { return true }, func(Series, Row, string) string { return "" }) {
		if l.Row.Label != r.Label || l.Measured == 0 {
			continue
		}
		if w, ok := want[l.Series.Column]; ok && math.Abs(l.Share-w) > 1e-9 {
			t.Errorf("%s: %v, want %v", l.Series.Column, l.Share, w)
		}
		delete(want, l.Series.Column)
	}
	if len(want) > 0 {
		t.Errorf("no lines of %v", want)
	}
}

// A line that was not run has the source of the other lines of its row.
func TestStandInsAreNamed(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	tab := p.Tables[0]
	r := tab.Rows[10] // VICTRE
	cells := []bench.CellRecord{cell(r, "cpu", "cpu", bench.File, Place{Data: "/data"}, verify.Verified, 2)}
	for _, l := range p.Lines(tab, cells, "memread", func(string, string) bool { return true }, func(Series, Row, string) string { return "not run" }) {
		if _, real := l.Row.File(); !real {
			continue
		}
		want := l.Row.Data + " (stand-in)"
		if l.Row.Label == r.Label {
			want = l.Row.Data
		}
		if l.data() != want {
			t.Errorf("%s %s: %s, want %s", l.Impl, l.Row.Label, l.data(), want)
		}
	}
}

// The parts of a call are the host's, and the device's at the same time.
func TestPartsOfACall(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Tables[0].Rows[3]
	c := cell(r, "chunked", "gpu", bench.File, Place{Store: "/store"}, verify.Verified, 0.3)
	c.Spans = map[string]float64{"read": 0.2}
	c.Timeline = []bench.Interval{{Name: "copy", To: 0.01}, {Name: "count", From: 0.01, To: 0.0115}, {Name: "copy", From: 0.01, To: 0.02}}
	for _, l := range p.Lines(p.Tables[0], []bench.CellRecord{c}, "memread", func(string, string) bool { return true }, func(Series, Row, string) string { return "" }) {
		if l.Impl != "chunked" || !l.matches(r) {
			continue
		}
		if got := l.parts(); got != "start 500 ms, copy 20.0 ms, count 1.50 ms, read 200 ms" {
			t.Error(got)
		}
		return
	}
	t.Error("no such line")
}

// Rows are summarised by implementation, without marked ones.
func TestDiskShares(t *testing.T) {
	got := diskShares([]Line{
		{Impl: "a", Share: 0.95, Measured: 1}, {Impl: "b", Share: 0.2, Measured: 1},
		{Impl: "a", Share: 0.5, Measured: 1}, {Impl: "a", Share: 1.2, Measured: 1},
		{Impl: "a", Share: 0.1, Measured: 1, Mark: "~"}, {Impl: "c"},
	})
	want := []string{
		"a: 2 of 3 rows that read a disk do so at 90 % of its rate or more; they are at 50.0 to 120 %, their median at 95.0 %",
		"b: 0 of 1 rows that read a disk do so at 90 % of its rate or more; they are at 20.0 %, their median at 20.0 %",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
