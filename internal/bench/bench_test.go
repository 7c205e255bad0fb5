package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"eccbench/internal/regular"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

func sampleRun() RunRecord {
	return RunRecord{
		Schema: Schema, Kind: KindRun, ID: "0123456789abcdef", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Argv: []string{"eccbench"}, Seed: 1,
		Binary:  Binary{Commit: "unknown", SHA256: strings.Repeat("ab", 32), Go: "go1.26", OS: "linux", Arch: "amd64/v1"},
		Machine: Machine{Host: "h", CPU: "c", Cores: 2, Caches: []string{"L1d 48K"}, Governor: "n/a", CgroupCPU: "n/a", Kernel: "linux 6"},
	}
}

func sampleCell() CellRecord {
	s := stats.Summarise([]float64{0.25, 0.5})
	bytes, kernels := int64(0), int64(3)
	return CellRecord{
		Schema: Schema, Kind: KindCell, Run: "0123456789abcdef", Workload: "w", Impl: "i", Where: "cpu", Input: "in", Setting: Setting{Scope: E2E, Threads: 2, ISA: "avx2", Devices: "0,2"}, Wall: 0.5, Device: "2 × d", UUIDs: []string{"GPU-0", "GPU-2"},
		Cost:    Cost{Items: 8, Unit: "vox", Bytes: 32, Class: "gen=x", Size: "2x2x2"},
		Verdict: verify.Verdict{Status: verify.Verified, Evidence: []verify.Evidence{{Input: "in", Witness: "closed form", Passed: true, Independent: true}}},
		Inputs:  []string{"in"}, Digests: []string{strings.Repeat("0", 32)}, Samples: []float64{0.25, 0.5}, Seconds: &s, Allocated: &bytes, Launches: &kernels, PeakRSS: 4096, DeviceMemory: 96, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// An estimate is accepted up to the limit, and without one.
func TestAllow(t *testing.T) {
	for _, c := range []Conditions{{}, {Time: 2 * time.Second, Memory: 2000}} {
		if err := errors.Join(c.Allow(2*time.Second, "%d voxels", 7), c.AllowMemory(2000, "%d voxels", 7)); err != nil {
			t.Error(err)
		}
	}
	c := Conditions{Time: 2*time.Second - 1, Memory: 1999}
	if err := c.Allow(2*time.Second, "%d voxels", 7); !errors.As(err, new(TooLong)) || !strings.Contains(err.Error(), "(7 voxels)") {
		t.Error(err)
	}
	if err := c.AllowMemory(2000, "%d voxels", 7); err == nil || err.Error() != "needs 1.95 KiB (7 voxels), the limit is 1.95 KiB" {
		t.Error(err)
	}
}

func validate(t *testing.T, record any) error {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("eccbench-1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(v)
}

func TestSchema(t *testing.T) {
	if err := validate(t, sampleRun()); err != nil {
		t.Error(err)
	}
	if err := validate(t, sampleCell()); err != nil {
		t.Error(err)
	}
	for what, spoil := range map[string]func(*CellRecord){
		"another schema":                 func(c *CellRecord) { c.Schema = "eccbench/2" },
		"another kind":                   func(c *CellRecord) { c.Kind = "tale" },
		"no verdict":                     func(c *CellRecord) { c.Status = "" },
		"a number without evidence":      func(c *CellRecord) { c.Evidence = nil },
		"a number without samples":       func(c *CellRecord) { c.Samples = nil },
		"a number of a cell not run":     func(c *CellRecord) { c.Status, c.Reason = verify.Skipped, "no" },
		"a cell not run without reason":  func(c *CellRecord) { c.Status, c.Samples, c.Seconds = verify.Crashed, nil, nil },
		"a sample that took no time":     func(c *CellRecord) { c.Samples[0] = 0 },
		"a scope that does not exist":    func(c *CellRecord) { c.Scope = "lap" },
		"a digest that is not one":       func(c *CellRecord) { c.Digests[0] = "x" },
		"no threads":                     func(c *CellRecord) { c.Threads = 0 },
		"an input of no items":           func(c *CellRecord) { c.Cost.Items = 0 },
		"an implementation from nowhere": func(c *CellRecord) { c.Where = "abacus" },
	} {
		c := sampleCell()
		spoil(&c)
		if validate(t, c) == nil {
			t.Errorf("the schema accepts %s", what)
		}
	}
}

func TestRate(t *testing.T) {
	rate, lo, hi, ok := sampleCell().Rate()
	if !ok || rate != 8/0.375 || lo != 16 || hi != 32 {
		t.Errorf("rate %v, %v to %v, %v", rate, lo, hi, ok)
	}
	if _, _, _, ok := (CellRecord{}).Rate(); ok {
		t.Error("a cell without samples has a rate")
	}
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	log, err := CreateLog(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append(sampleRun()), log.Append(sampleCell()), log.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateLog(path); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("overwriting: %v", err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Cut anywhere, the file continues with whole records.
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		log, before, err := ResumeLog(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := errors.Join(log.Append(sampleCell()), log.Close()); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		after, err := ReadRecords(f)
		f.Close()
		lines := bytes.Count(whole[:cut], []byte("\n"))
		kept := len(after.Cells) == len(before.Cells)+1 && len(after.Runs) == len(before.Runs)
		if err != nil || len(before.Runs)+len(before.Cells) != lines || !kept {
			t.Fatalf("cut at %d: %d lines, %d records before, %d cells after, %v", cut, lines, len(before.Runs)+len(before.Cells), len(after.Cells), err)
		}
	}
}

// A file that is no results file is rejected and keeps every byte.
func TestResumeLeavesOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	record, err := json.Marshal(steadyCell())
	if err != nil {
		t.Fatal(err)
	}
	ours := string(record) + "\n"
	for what, text := range map[string]string{
		"a note":                 "call Ann about the scans",
		"a note with a newline":  "call Ann about the scans\n",
		"minified JSON":          `{"a":[1,2,3]}`,
		"another schema":         `{"schema":"eccbench/2","kind":"cell"}`,
		"binary":                 "\x93NUMPY\x01\x00\x00\xff\x00",
		"zeros":                  strings.Repeat("\x00", 4096),
		"empty lines":            "\n\n",
		"empty lines and a note": "\n\nnote",
		"a note after records":   ours + "call Ann about the scans",
		"a line after records":   ours + "call Ann about the scans\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if log, _, err := ResumeLog(path); err == nil {
			t.Errorf("%s is continued", what)
			log.Close()
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%s: %d of %d bytes are left, %v", what, len(after), len(text), err)
		}
	}
	for what, text := range map[string]string{"nothing": "", "a torn first record": ours[:30], "zeros after a record": ours + "\x00\x00\x00"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		log, _, err := ResumeLog(path)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		log.Close()
	}
}

// One program writes to a results file at a time, and every write appends.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	first, err := CreateLog(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := ResumeLog(path); !errors.Is(err, regular.ErrLocked) {
			t.Fatalf("a second writer: %v", err)
		}
		if err := first.Append(steadyCell()); err != nil {
			t.Fatal(err)
		}
		// As if another program had ignored the lock.
		other, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(steadyCell())
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.Write(append(line, '\n'))
		if err := errors.Join(err, other.Close(), first.Append(steadyCell()), first.Close()); err != nil {
			t.Fatal(err)
		}
		var records Records
		if first, records, err = ResumeLog(path); err != nil || len(records.Cells)%3 != 0 || len(records.Cells) == 0 {
			t.Fatalf("%d cells, %v, want three each time", len(records.Cells), err)
		}
	}
	first.Close()
}

func TestReadRecordsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{}\n":    `line 1: schema "", want "eccbench/1"`,
		"hello\n": "line 1: not a record",
		"[]\n":    "line 1: not a record: its content is a JSON array",
		`{"schema":"eccbench/1","kind":"cell","samples":["1"]}` + "\n": "line 1: not a record: its samples is a JSON string",
		`{"schema":"eccbench/2"}` + "\n":                               `line 1: schema "eccbench/2"`,
		"\n" + `{"schema":"eccbench/1"}` + "\n":                        `line 2: kind ""`,
	} {
		if _, err := ReadRecords(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full on this system")
	}
	log, err := CreateLog("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Append(sampleRun()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want a full disk", err)
	}
	if _, _, err := ResumeLog("/dev/full"); err == nil {
		t.Error("a device was resumed")
	}
}

func TestTrace(t *testing.T) { synctest.Test(t, trace) }

func trace(t *testing.T) {
	var none *Trace
	none.Span("a")()
	if none.Spans() != nil {
		t.Error("a nil trace has spans")
	}
	trace := &Trace{}
	end := trace.Span("a")
	time.Sleep(time.Millisecond)
	end()
	trace.Span("b")()
	trace.Add("c", time.Second)
	trace.Add("c", -time.Second/4)
	none.Add("c", time.Second)
	if s := trace.Spans(); len(s) != 3 || s["c"] != 0.75 || s["a"] != 1e-3 || s["b"] != 0 {
		t.Errorf("spans %v", s)
	}
}

// A compressed file is read as its contents. It is not continued, and a truncated one is an error.
func TestCompressedRecords(t *testing.T) {
	t.Run("zstd", func(t *testing.T) {
		readsCompressed(t, func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		})
	})
	t.Run("gzip", func(t *testing.T) {
		readsCompressed(t, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	})
}

func readsCompressed(t *testing.T, compressor func(io.Writer) io.WriteCloser) {
	var plain, file bytes.Buffer
	for range 3 {
		if err := json.NewEncoder(&plain).Encode(steadyCell()); err != nil {
			t.Fatal(err)
		}
	}
	w := compressor(&file)
	_, err := w.Write(plain.Bytes())
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if recs, err := ReadRecords(bytes.NewReader(file.Bytes())); err != nil || len(recs.Cells) != 3 {
		t.Errorf("%d cells, %v, want three", len(recs.Cells), err)
	}
	for cut := 4; cut < file.Len(); cut++ {
		if recs, err := ReadRecords(bytes.NewReader(file.Bytes()[:cut])); err == nil {
			t.Fatalf("cut to %d bytes: %d cells and no error", cut, len(recs.Cells))
		}
	}
	path := filepath.Join(t.TempDir(), "r.jsonl.zst")
	if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ResumeLog(path); err == nil {
		t.Error("a compressed file is continued")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, file.Bytes()) {
		t.Errorf("it was changed, %v", err)
	}
}

// Records of overlapping calls, without a valid timeline, are read as their sums.
func TestOldTimelinesAreAddedUp(t *testing.T) {
	one, many := steadyCell(), steadyCell()
	one.Timeline = []Interval{{"copy", 0, 1}, {"count", 0.5, 2}, {"copy", 1, 3}}
	many.Spans = map[string]float64{"file": 7}
	many.Timeline = []Interval{{"copy", 0, 1}, {"count", 1, 2}, {"copy", 0.5, 3}, {"count", 3, 3.5}}
	var file bytes.Buffer
	for _, c := range []CellRecord{one, many} {
		if err := json.NewEncoder(&file).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	recs, err := ReadRecords(&file)
	if err != nil {
		t.Fatal(err)
	}
	if c := recs.Cells[0]; len(c.Timeline) != 3 || len(c.Spans) != 0 {
		t.Errorf("a timeline is read as %v and %v", c.Timeline, c.Spans)
	}
	if c := recs.Cells[1]; c.Timeline != nil || !maps.Equal(c.Spans, map[string]float64{"file": 7, "copy": 3.5, "count": 1.5}) {
		t.Errorf("calls that began apart are read as %v and %v", c.Timeline, c.Spans)
	}
}

// Records that were written before there were fields for them have the instruction set
// and the state of the caches among the flags.
func TestOldRecordsTellByTheirFlags(t *testing.T) {
	old, other := steadyCell(), steadyCell()
	old.Flags, old.ISA, other.ISA = []string{"hot", "avx2", "n=2"}, "", ""
	var file bytes.Buffer
	for _, c := range []CellRecord{old, other} {
		if err := json.NewEncoder(&file).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	recs, err := ReadRecords(&file)
	if err != nil {
		t.Fatal(err)
	}
	if c := recs.Cells[0]; c.ISA != "avx2" || !c.Hot || len(c.Flags) != 1 || c.Flags[0] != "n=2" || c.Key() == recs.Cells[1].Key() {
		t.Errorf("read as %q with flags %v", c.ISA, c.Flags)
	}
	if c := recs.Cells[1]; c.ISA != "" || c.Hot {
		t.Errorf("a cell without either has %q, %v", c.ISA, c.Hot)
	}
}

// Old and new spellings of parameters give the same cells.
func TestOldRecordsHaveDecimals(t *testing.T) {
	old, now := steadyCell(), steadyCell()
	old.Workload, now.Workload = "gvf-steady", "gvf-steady"
	old.Input, now.Input = "gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=8x8", "gvf-steady/tol=1e-4/mu=0.05/boundary=0/of=noise/shape=8x8"
	for _, c := range []*CellRecord{&old, &now} {
		c.Inputs, c.Digests = []string{c.Input}, c.Digests[:1]
		c.Evidence = []verify.Evidence{{Input: c.Input, Witness: "definition", Passed: true, Independent: true}}
	}
	old.Cost.Class, now.Cost.Class = "tol=4/mu=50/boundary=replicate/gen=noise", "tol=1e-4/mu=0.05/boundary=replicate/gen=noise"
	var file bytes.Buffer
	for _, c := range []CellRecord{old, now} {
		if err := json.NewEncoder(&file).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	recs, err := ReadRecords(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range recs.Cells {
		if c.Key() != now.Key() || c.Inputs[0] != now.Input || c.Cost.Class != now.Cost.Class {
			t.Errorf("read as %s of %v, class %s", c.Input, c.Inputs, c.Cost.Class)
		}
	}
}

// A small compressed file can expand without end, so a line and a whole results file have limits.
func TestEndlessResults(t *testing.T) {
	var file bytes.Buffer
	w, err := zstd.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	piece := bytes.Repeat([]byte(" "), 1<<20)
	for range longestLine>>20 + 1 {
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecords(bytes.NewReader(file.Bytes())); err == nil || !strings.Contains(err.Error(), "line 1: longer than") {
		t.Errorf("%d bytes of one line: %v", file.Len(), err)
	}
	for most, want := range map[int64]string{longestLine + 1<<20: "", longestLine: "more than 67108864 bytes"} {
		r, err := decompress(bytes.NewReader(file.Bytes()), most)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, r)
		r.Close()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("at most %d bytes: %v, want %q", most, err, want)
		}
	}
}

// A failed cell is dropped if the same program measured it again on the same machine, and only then.
func TestFailedCellsAreSuperseded(t *testing.T) {
	var file bytes.Buffer
	add := func(machine string, status verify.Status) (kept int) {
		run, cell := sampleRun(), steadyCell()
		run.ID, run.Machine.CPU = fmt.Sprint(file.Len()), machine
		cell.Run, cell.Status = run.ID, status
		for _, record := range []any{run, cell} {
			line, err := json.Marshal(record)
			if err != nil {
				t.Fatal(err)
			}
			file.Write(append(line, '\n'))
		}
		records, err := ReadRecords(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		return len(records.Cells)
	}
	for i, c := range []struct {
		machine string
		status  verify.Status
		want    int
	}{
		{"A", verify.Crashed, 1}, {"B", verify.Verified, 2}, {"A", verify.Crashed, 2}, {"A", verify.Verified, 2},
		{"A", verify.Crashed, 3},
	} {
		if got := add(c.machine, c.status); got != c.want {
			t.Errorf("after record %d, %s on %s: %d cells, want %d", i, c.status, c.machine, got, c.want)
		}
	}
}
