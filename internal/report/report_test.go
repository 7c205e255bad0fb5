package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sorting is a run of another question, with every status.
func sorting() bench.Records {
	cell := func(impl, where string, items int64, status verify.Status, reason string, samples ...float64) bench.CellRecord {
		c := bench.CellRecord{
			Schema: bench.Schema, Kind: bench.KindCell, Run: "r", Workload: "sort", Impl: impl, Where: where,
			Input: "numbers/n=" + strings.Repeat("1", int(items/1000)), Scope: bench.E2E, Threads: 2,
			Cost:    bench.Cost{Items: items, Unit: "numbers", Bytes: 4 * items, Class: "gen=numbers/kind=any", Size: "n"},
			Verdict: verify.Verdict{Status: status, Reason: reason}, Samples: samples,
		}
		if len(samples) > 0 {
			s := stats.Summarise(samples)
			c.Seconds, c.Ceiling = &s, 4e9
		}
		if status == verify.Wrong {
			c.Reproduce = "sorter verify --impl liar"
		}
		return c
	}
	ten := func(s float64) []float64 {
		var x []float64
		for i := range 10 {
			x = append(x, s*(1+0.002*float64(i-5)))
		}
		return x
	}
	ceiling := cell("read", "cpu", 2000, verify.Verified, "", ten(5e-7)...)
	ceiling.Workload = "read"
	again := cell("twice", "cpu", 2000, verify.Verified, "", ten(4e-6)...)
	again.Process = 1
	flagged := cell("plain", "cpu", 2000, verify.Verified, "", 1e-3, 1e-3, 1e-3)
	flagged.Flags = []string{"n=3"}
	return bench.Records{
		Runs: []bench.RunRecord{{ID: "r", Binary: bench.Binary{OS: "linux", Arch: "amd64/v1"}, Machine: bench.Machine{CPU: "A CPU"}}},
		Cells: []bench.CellRecord{
			ceiling, flagged,
			cell("quick", "cpu", 2000, verify.Verified, "", ten(2e-6)...),
			cell("twice", "cpu", 2000, verify.Verified, "", ten(3e-6)...), again,
			cell("card", "gpu", 2000, verify.Verified, "", ten(1e-6)...),
			cell("liar", "cpu", 2000, verify.Wrong, "place 3: want 4, got 5", ten(1e-9)...),
			cell("lonely", "cpu", 2000, verify.Unverified, "no affordable witness", ten(2e-6)...),
			cell("easy", "cpu", 2000, verify.Mistrusted, "the input is sorted", ten(2e-6)...),
			cell("loud", "cpu", 2000, verify.Noisy, "±30 %", ten(2e-6)...),
			cell("magic", "cpu", 2000, verify.Implausible, "9 times the ceiling", ten(2e-8)...),
			cell("shy", "cpu", 2000, verify.Skipped, "too many numbers"),
			cell("frail", "cpu", 2000, verify.Crashed, "the worker ended with signal: killed"),
			cell("slow", "cpu", 2000, verify.Timeout, "still measuring after 1.00 s"),
		},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
	}
}

func TestThroughput(t *testing.T) {
	rows := Rows(sorting().Cells, "read")
	for _, f := range Formats() {
		var b bytes.Buffer
		if err := Throughput(&b, f, rows); err != nil {
			t.Fatal(err)
		}
		golden(t, "throughput."+string(f), b.Bytes())
		switch f {
		case CSV:
			if lines, err := csv.NewReader(&b).ReadAll(); err != nil || len(lines) != len(rows)+1 {
				t.Errorf("%d lines of CSV, %v", len(lines), err)
			}
		case JSON:
			var back []Row
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != len(rows) {
				t.Errorf("%d rows of JSON, %v", len(back), err)
			}
		}
	}
}

// No number without a verdict: what is not quotable has no number in any format.
func TestNoNumberWithoutAVerdict(t *testing.T) {
	for _, r := range Rows(sorting().Cells, "read") {
		has := r.Rate != 0 || r.Lo != 0 || r.Hi != 0 || r.Ceiling != 0 || r.Speedup != 0
		switch r.Status {
		case verify.Verified:
			if !has || Mark(r.Status) != "" {
				t.Errorf("%s has no plain number", r.Impl)
			}
		case verify.Unverified, verify.Mistrusted, verify.Noisy:
			if Mark(r.Status) == "" {
				t.Errorf("%s has an unmarked number", r.Impl)
			}
		default:
			if has {
				t.Errorf("%s is %s and has a number: %+v", r.Impl, r.Status, r)
			}
		}
	}
}

// The only denominator of a speed-up is the best verified CPU row.
func TestSpeedup(t *testing.T) {
	for _, r := range Rows(sorting().Cells, "read") {
		if r.Impl == "card" && (r.Speedup < 1.99 || r.Speedup > 2.01) {
			t.Errorf("the card is %v times the best CPU row, want 2", r.Speedup)
		}
		if r.Impl == "read" && r.Speedup != 0 {
			t.Error("the ceiling has a speed-up")
		}
	}
	noisy := sorting()
	faster := noisy.Cells[slices.IndexFunc(noisy.Cells, func(c bench.CellRecord) bool { return c.Impl == "quick" })]
	summary := *faster.Seconds
	summary.Median, summary.Lo, summary.Hi = summary.Median/10, summary.Lo/20, summary.Hi/5
	faster.Impl, faster.Seconds, faster.Status = "noisy", &summary, verify.Noisy
	noisy.Cells = append(noisy.Cells, faster)
	for _, r := range Rows(noisy.Cells, "read") {
		if r.Speedup != 0 {
			t.Errorf("%s is %v times a CPU row that is not the fastest", r.Impl, r.Speedup)
		}
	}
	other := sorting()
	for i := range other.Cells {
		if other.Cells[i].Where == "gpu" {
			other.Cells[i].Scope = bench.Kernel
		}
	}
	for _, r := range Rows(other.Cells, "read") {
		if r.Impl == "card" && r.Speedup != 0 {
			t.Error("a ratio mixes scopes")
		}
	}
}

func TestGoBench(t *testing.T) {
	var b bytes.Buffer
	if err := GoBench(&b, sorting()); err != nil {
		t.Fatal(err)
	}
	golden(t, "run.gobench", b.Bytes())
	for _, impl := range []string{"liar", "lonely", "easy", "loud", "magic"} {
		if strings.Contains(b.String(), impl) {
			t.Errorf("%s was exported: only verified cells are", impl)
		}
	}
}

// Stock benchstat reads the export and compares two runs.
func TestBenchstat(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to run benchstat with")
	}
	dir := t.TempDir()
	for _, name := range []string{"old.txt", "new.txt"} {
		recs := sorting()
		if name == "new.txt" {
			for i := range recs.Cells {
				if s := recs.Cells[i].Seconds; s != nil {
					s.Median /= 2
				}
			}
		}
		// Six processes each: benchstat says nothing about fewer.
		var b bytes.Buffer
		for range 6 {
			if err := GoBench(&b, recs); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "tool", "benchstat", filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"numbers/s", "sec/op", "impl=quick", "+100.00%", "-50.00%", "cpu: A CPU", "scope: e2e"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("benchstat does not print %q:\n%s", want, out)
		}
	}
}

func TestSteps(t *testing.T) {
	var b bytes.Buffer
	if err := Steps(&b, "a title", "x", "y", Step{X: []float64{0, 1, 2}, Y: []float64{3, -1, 1}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "<svg") || !strings.Contains(b.String(), "a title") {
		t.Errorf("plot:\n%s", b.String())
	}
}
