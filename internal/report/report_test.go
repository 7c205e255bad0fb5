package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sorting is a run of another question, with every status.
func sorting() bench.Records {
	cell := func(impl, where string, items int64, status verify.Status, reason string, samples ...float64) bench.CellRecord {
		c := bench.CellRecord{
			Schema: bench.Schema, Kind: bench.KindCell, Run: "r", Workload: "sort", Impl: impl, Where: where,
			Input: "numbers/n=" + strings.Repeat("1", int(items/1000)), Setting: bench.Setting{Scope: bench.E2E, Threads: 2},
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
	again := cell("twice", "cpu", 2000, verify.Verified, "", ten(3.2e-6)...)
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

// A process without a measured ceiling does not count for the ceiling of its row.
func TestRowOfProcessesWithoutACeiling(t *testing.T) {
	recs := sorting()
	for i, c := range recs.Cells {
		if c.Impl == "twice" && c.Process == 1 {
			recs.Cells[i].Ceiling = 0
		}
	}
	for _, r := range Rows(recs, "read") {
		if r.Impl == "twice" && math.Abs(r.Ceiling-r.Rate/4e9) > 1e-9 {
			t.Errorf("%v of the ceiling, want %v", r.Ceiling, r.Rate/4e9)
		}
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
	rows := Rows(sorting(), "read")
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

// A note above the rows of larger inputs explains that they are streamed, in the output format.
func TestThroughputSaysWhatIsStreamed(t *testing.T) {
	recs := sorting()
	large := recs.Cells[2]
	large.Scope, large.Flags, large.Cost.Items = bench.File, []string{"streamed"}, 2*large.Cost.Items
	recs.Cells = append(recs.Cells, large)
	const why = "\nthe inputs of these rows do not fit in memory together: the clock runs over making or reading them too\n"
	for f, after := range map[Format]string{Text: " implementation", Markdown: "\n| implementation"} {
		var b strings.Builder
		if err := Throughput(&b, f, Rows(recs, "")); err != nil || strings.Count(b.String(), why+after) != 1 {
			t.Errorf("%s: %v, no %q in\n%s", f, err, why+after, b.String())
		}
	}
}

func TestFormats(t *testing.T) {
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("%s is read as %s, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || err.Error() != `format "xml": want one of text, md, csv, json` {
		t.Error(err)
	}
}

// No number appears without a verdict: a row that is not quotable has no number in any format.
func TestNoNumberWithoutAVerdict(t *testing.T) {
	for _, r := range Rows(sorting(), "read") {
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
	for _, r := range Rows(sorting(), "read") {
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
	for _, r := range Rows(noisy, "read") {
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
	for _, r := range Rows(other, "read") {
		if r.Impl == "card" && r.Speedup != 0 {
			t.Error("a ratio mixes scopes")
		}
	}
	slow := sorting()
	for i, c := range slow.Cells {
		if c.Seconds != nil { // less than a number in a second
			s := *c.Seconds
			s.Median, s.Lo, s.Hi = s.Median*1e10, s.Lo*1e10, s.Hi*1e10
			slow.Cells[i].Seconds = &s
		}
	}
	if i := slices.IndexFunc(Rows(slow, "read"), func(r Row) bool { return r.Impl == "card" && r.Speedup > 1.99 && r.Speedup < 2.01 }); i < 0 {
		t.Error("slow rows have no ratio")
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

// The export contains all settings that distinguish rows of a cell, and omitted rows are counted.
func TestGoBenchTellsRowsApart(t *testing.T) {
	recs := sorting()
	cell := recs.Cells[2]
	cell.ISA, cell.Hot, cell.Device, cell.Devices = "avx2", true, "a card", "all"
	cell.Cost.Size = "a b\x01"
	var b bytes.Buffer
	if err := GoBench(&b, bench.Records{Runs: recs.Runs, Cells: []bench.CellRecord{cell}}); err != nil {
		t.Fatal(err)
	}
	machine := recs.Runs[0].Machine.Fingerprint()
	want := "Unit numbers/s better=higher\nUnit e2e-ns/op better=lower\n" +
		"goos: linux\ngoarch: amd64/v1\ncpu: A CPU\nmachine: " + machine + "\nscope: e2e\nthreads: 2\ndevices: all\nisa: avx2\ndevice: a card\nhot: true\n\n" +
		"BenchmarkSort/impl=quick/gen=numbers/kind=any/size=a_b_ 10 1.0010010010010009e+09 numbers/s 1998.0000000000002 e2e-ns/op\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := LeftOut(recs), "1 WRONG, 1 UNVERIFIED"; !strings.HasPrefix(got, want) {
		t.Errorf("left out %q, want %q", got, want)
	}
}

// CSV has the station of a row, so that rows of two machines are not taken for two of one.
func TestCSVTellsMachinesApart(t *testing.T) {
	recs := sorting()
	other := recs.Runs[0]
	other.ID, other.Machine.Cores = "s", 7
	cell := recs.Cells[2]
	cell.Run, cell.Device = "s", "a card"
	recs.Runs, recs.Cells = append(recs.Runs, other), []bench.CellRecord{recs.Cells[2], cell}
	recs.Runs[1].Binary.SHA256 = "abc"
	var b bytes.Buffer
	if err := Throughput(&b, CSV, Rows(recs, "")); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 3 {
		t.Fatalf("%q, %v", lines, err)
	}
	for i, want := range [][]string{
		{"machine", "program", "device"}, {recs.Runs[0].Machine.Fingerprint(), "", ""}, {other.Machine.Fingerprint(), "abc", "a card"},
	} {
		if got := lines[i][len(lines[i])-3:]; !slices.Equal(got, want) {
			t.Errorf("line %d ends with %q, want %q", i, got, want)
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
		// Six processes each, because benchstat makes no statement about fewer.
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

// Cells of two machines or of two programs are different rows, whatever else they have in common.
// Processes of one row with very different times are NOISY.
func TestRowsAreOfOneProgramOnOneMachine(t *testing.T) {
	const rate = 1e9 // of the first
	recs := func(machines, programs []string, times ...float64) bench.Records {
		var r bench.Records
		for i, times := range times {
			id := strings.Repeat("0", 15) + string(rune('a'+i))
			run := bench.RunRecord{ID: id, Binary: bench.Binary{SHA256: programs[i]}, Machine: bench.Machine{CPU: machines[i], Cores: 2}}
			run.Machine.Devices = []string{"a card " + id} // which a machine may have more or less of
			s := stats.Summarise(slices.Repeat([]float64{2e-6 * times}, 10))
			r.Runs = append(r.Runs, run)
			r.Cells = append(r.Cells, bench.CellRecord{
				Run: id, Workload: "sort", Impl: "quick", Where: "cpu", Input: "x", Setting: bench.Setting{Scope: bench.E2E, Threads: 2}, Process: i,
				Cost: bench.Cost{Items: 2000, Unit: "numbers", Class: "gen=numbers", Size: "n"}, Verdict: verify.Verdict{Status: verify.Verified}, Seconds: &s,
			})
		}
		return r
	}
	for _, c := range []struct {
		what      string
		recs      bench.Records
		processes []int
		status    verify.Status
	}{
		{"one program on one machine", recs([]string{"A", "A"}, []string{"p", "p"}, 1, 1.01), []int{2}, verify.Verified},
		{"far apart", recs([]string{"A", "A"}, []string{"p", "p"}, 1, 5), []int{2}, verify.Noisy},
		{"two machines", recs([]string{"A", "B"}, []string{"p", "p"}, 1, 5), []int{1, 1}, verify.Verified},
		{"two programs", recs([]string{"A", "A"}, []string{"p", "q"}, 1, 5), []int{1, 1}, verify.Verified},
	} {
		var processes []int
		rows := Rows(c.recs, "")
		for _, r := range rows {
			processes = append(processes, r.Processes)
			if r.Status != c.status {
				t.Errorf("%s: %s (%s), want %s", c.what, r.Status, r.Reason, c.status)
			}
			if why := "the intervals of 2 processes span ±120 %"; r.Status == verify.Noisy && r.Reason != why {
				t.Errorf("%s: %s, want %s", c.what, r.Reason, why)
			}
		}
		if !slices.Equal(processes, c.processes) {
			t.Errorf("%s: rows of %v processes, want %v", c.what, processes, c.processes)
		}
		if rows[0].Rate != rate && len(rows) > 1 {
			t.Errorf("%s: %g numbers/s, want the first's own", c.what, rows[0].Rate)
		}
		of := sections(rows)
		if len(of) != len(rows) {
			t.Errorf("%s: %d tables of %d rows", c.what, len(of), len(rows))
		}
		for i, s := range of {
			want := "gen=numbers, scope e2e, 2 threads"
			if len(of) > 1 {
				want += fmt.Sprintf(", machine %d", i+1)
			}
			if s.title != want {
				t.Errorf("%s: a table of %q, want %q", c.what, s.title, want)
			}
		}
	}
}

// The host's time of a row is the median of its processes that have one. It is missing if the
// number is not shown.
func TestWallsOfRows(t *testing.T) {
	recs := sorting()
	of := func(status verify.Status, walls ...float64) float64 {
		var cells []bench.CellRecord
		for i, wall := range walls {
			c := recs.Cells[2]
			c.Process, c.Wall, c.Status = i, wall, status
			cells = append(cells, c)
		}
		return Rows(bench.Records{Runs: recs.Runs, Cells: cells}, "")[0].Wall
	}
	if got := of(verify.Verified, 3, 0, 5, 4); got != 4 {
		t.Errorf("%v, want 4", got)
	}
	if got := of(verify.Wrong, 3, 5); got != 0 {
		t.Errorf("%v of a WRONG row", got)
	}
}

// Cells of two devices are two rows. A cell that never reached its device is a process of the other
// cells' row.
func TestRowsAreOfOneDevice(t *testing.T) {
	cell := func(device string, process int, status verify.Status) bench.CellRecord {
		return bench.CellRecord{Run: "r", Impl: "card", Device: device, Process: process, Verdict: verify.Verdict{Status: status}}
	}
	rows := Rows(bench.Records{Cells: []bench.CellRecord{
		cell("", 0, verify.Crashed), cell("one", 1, verify.Verified), cell("two", 0, verify.Verified), cell("one", 2, verify.Verified),
	}}, "")
	if len(rows) != 2 || rows[0].Device != "one" || rows[0].Processes != 3 || rows[0].Status != verify.Crashed || rows[1].Status != verify.Verified {
		t.Errorf("rows %+v", rows)
	}
}

// Two right answers within limits may have other digests; exact ones may not.
func TestCompareAsksWhetherAnswersMayDiffer(t *testing.T) {
	a, b := sorting(), sorting()
	for i := range b.Cells {
		for _, c := range []*bench.CellRecord{&a.Cells[i], &b.Cells[i]} {
			c.Inputs = []string{"x"}
		}
		a.Cells[i].Digests, b.Cells[i].Digests = []string{"1"}, []string{"2"}
	}
	divided := func() (n int) {
		for _, c := range Compare(a, b) {
			if c.Ratio > 0 {
				n++
			}
		}
		return n
	}
	if n := divided(); n != 0 {
		t.Errorf("%d cells with other answers are divided", n)
	}
	for i := range b.Cells {
		a.Cells[i].Tolerant, b.Cells[i].Tolerant = true, true
	}
	if divided() == 0 {
		t.Error("no cell is divided whose answers may differ within limits")
	}
}

// For answers that may differ within limits, each measure has a column with its worst value and its
// limit. An option of the method is a flag, and makes a separate row.
func TestThroughputWithinLimits(t *testing.T) {
	recs := sorting()
	plain := recs.Cells[1]
	plain.Workload, plain.Tolerant, plain.Cost.Unit, plain.Cost.Class = "jacobi", true, "vox·it", "gen=line"
	half := plain
	half.Options = "precision=fp16"
	exact := plain
	exact.Impl = "exact"
	plain.Measures = []verify.Measure{{Name: "largest error", Value: 2e-7, Limit: 1e-5}, {Name: "residual", Value: 0.5, Limit: 1, Unit: "%"}}
	again := plain
	again.Process, again.Measures = 1, []verify.Measure{{Name: "largest error", Value: 9e-7, Limit: 1e-5}, {Name: "residual", Value: 0.25, Limit: 1, Unit: "%"}}
	half.Measures = []verify.Measure{{Name: "largest error", Value: 3e-6, Limit: 1e-5}, {Name: "angle", Value: 3e-6, Limit: 1e-5, Aside: true}}
	recs.Cells = []bench.CellRecord{plain, again, half, exact}
	var b bytes.Buffer
	if err := Throughput(&b, Text, Rows(recs, "")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "angle") {
		t.Errorf("a measure that is aside is in the table:\n%s", b.String())
	}
	for _, want := range []string{
		`Mvox·it/s +% of ceiling +× best CPU +largest error +residual +flags`,
		`plain .* 9e-07 of at most 1e-05 +0\.5 % of at most 1 % +n=3 p=2`,
		`plain .* 3e-06 of at most 1e-05 +— +precision=fp16 n=3`,
		`exact .* — +— +n=3`,
	} {
		if !regexp.MustCompile(want).Match(b.Bytes()) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// The rate of a row of several processes is the median of theirs, which one slow process does not change.
func TestRowsHaveTheMedianOfTheirProcesses(t *testing.T) {
	recs := sorting()
	cell := recs.Cells[slices.IndexFunc(recs.Cells, func(c bench.CellRecord) bool { return c.Impl == "quick" })]
	of := func(micros ...float64) Row {
		recs.Cells = nil
		for i, us := range micros {
			s := stats.Summarise([]float64{us * 1e-6})
			cell.Process, cell.Samples, cell.Seconds = i, []float64{us * 1e-6}, &s
			recs.Cells = append(recs.Cells, cell)
		}
		return Rows(recs, "read")[0]
	}
	near := func(got, want float64) bool { return math.Abs(got/want-1) < 1e-9 }
	if r := of(1, 1, 8); !near(r.Rate, 2e9) {
		t.Errorf("%v per second of 2000 numbers in 1, 1 and 8 µs, want 2e9", r.Rate)
	}
	// The first and the last of seven are the 95 % interval of their median.
	if r := of(4, 1, 2, 7, 3, 6, 5); !near(r.Rate, 2e9/4) || !near(r.Lo, 2e9/7) || !near(r.Hi, 2e9) {
		t.Errorf("%v [%v, %v] per second of 2000 numbers in 1 to 7 µs, want 5e8 [2.86e8, 2e9]", r.Rate, r.Lo, r.Hi)
	}
}

// The best CPU row is one of the same number of threads.
func TestSpeedupOfTheSameThreads(t *testing.T) {
	recs := sorting()
	fast := recs.Cells[slices.IndexFunc(recs.Cells, func(c bench.CellRecord) bool { return c.Impl == "quick" })]
	s := *fast.Seconds
	s.Median, s.Lo, s.Hi = s.Median/10, s.Lo/10, s.Hi/10
	fast.Threads, fast.Seconds = 64, &s
	recs.Cells = append(recs.Cells, fast)
	for _, r := range Rows(recs, "read") {
		if r.Impl == "card" && (r.Speedup < 1.99 || r.Speedup > 2.01) {
			t.Errorf("with a row of 64 threads, the card is %v times the best CPU row of 2, want 2", r.Speedup)
		}
	}
}

// Processes that are far apart make a row NOISY although each of them is precise.
func TestProcessesFarApartAreNoisy(t *testing.T) {
	recs := sorting()
	cell := recs.Cells[slices.IndexFunc(recs.Cells, func(c bench.CellRecord) bool { return c.Impl == "quick" })]
	for second, want := range map[float64]verify.Status{1.1e-6: verify.Verified, 1.5e-6: verify.Noisy} {
		recs.Cells = nil
		for i, seconds := range []float64{1e-6, second} {
			s := stats.Summarise([]float64{seconds})
			cell.Process, cell.Samples, cell.Seconds = i, []float64{seconds}, &s
			recs.Cells = append(recs.Cells, cell)
		}
		if r := Rows(recs, "read")[0]; r.Status != want {
			t.Errorf("processes of 1 and %v µs: %s, want %s", second*1e6, r.Status, want)
		}
	}
}

// Fewer than six processes whose medians agree have the intervals of all. From six on the spread of
// their medians counts.
func TestFewProcessesSpanTheirIntervals(t *testing.T) {
	recs := sorting()
	cell := recs.Cells[slices.IndexFunc(recs.Cells, func(c bench.CellRecord) bool { return c.Impl == "quick" })]
	for _, c := range []struct {
		n      int
		last   int // processes of the status
		status verify.Status
		width  float64 // of the interval of each
		row    verify.Status
		rate   string
		reason string
	}{
		{2, 1, verify.Verified, 0.05, verify.Verified, "2.000 ±5.0%", ""},
		{5, 1, verify.Verified, 0.2, verify.Noisy, "2.000~ ±20%", "the intervals of 5 processes span ±20 %"},
		{2, 1, verify.Noisy, 0.2, verify.Noisy, "2.000~ ±20%", "the intervals of 2 processes span ±20 %"},
		{6, 1, verify.Verified, 0.2, verify.Verified, "2.000", ""},
		{6, 1, verify.Noisy, 0.2, verify.Noisy, "2.000~", "noisy in 1 of 6 processes; the first: the interval is wide"},
		{6, 6, verify.Noisy, 0.2, verify.Noisy, "2.000~", "noisy in 6 of 6 processes; the first: the interval is wide"},
		{2, 1, verify.Wrong, 0.2, verify.Wrong, "—", "the interval is wide"},
	} {
		recs.Cells = nil
		for i := range c.n {
			s := stats.Summarise([]float64{1e-6})
			s.Lo, s.Hi = 1e-6*(1-c.width), 1e-6*(1+c.width)
			cell.Process, cell.Seconds = i, &s
			recs.Cells = append(recs.Cells, cell)
			if last := &recs.Cells[i]; i >= c.n-c.last && c.status != verify.Verified {
				last.Status, last.Reason = c.status, "the interval is wide"
			}
		}
		r := Rows(recs, "read")[0]
		if rate := r.rate(quantity.ScaleOf(math.Inf(1), "")); r.Status != c.row || rate != c.rate || r.Reason != c.reason {
			t.Errorf("%d processes, ±%.0f %%: %s %s (%s), want %s %s (%s)", c.n, 100*c.width, r.Status, rate, r.Reason, c.row, c.rate, c.reason)
		}
	}
}
