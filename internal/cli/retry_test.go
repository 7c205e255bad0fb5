package cli

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// A resumed run keeps the cells that crashed or ran out of time, and reports it. With Retry it
// measures them again, and readers take the later record.
func TestRetry(t *testing.T) {
	flags := RecordFlags{Out: filepath.Join(t.TempDir(), "r.jsonl")}
	cell := func(impl string, status verify.Status) bench.CellRecord {
		return bench.CellRecord{Schema: bench.Schema, Kind: bench.KindCell, Impl: impl, Verdict: verify.Verdict{Status: status}}
	}
	record := func(want string, cells ...bench.CellRecord) *Recording {
		t.Helper()
		var said bytes.Buffer
		rec, err := flags.Record(1, &said)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Close()
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q, want %q", &said, want)
		}
		for _, c := range cells {
			if err := rec.Keep(c); err != nil {
				t.Fatal(err)
			}
		}
		return rec
	}
	record("", cell("a", verify.Verified), cell("b", verify.Crashed), cell("c", verify.Timeout), cell("d", verify.Skipped))
	flags.Resume = true
	if rec := record("4 cells are kept, 2 of which crashed or ran out of time; --retry"); len(rec.done) != 4 {
		t.Errorf("%d cells are done, want 4", len(rec.done))
	}
	flags.Retry = true
	rec := record("2 cells are kept, 2 that crashed or ran out of time are measured again", cell("b", verify.Verified), cell("c", verify.Timeout))
	if len(rec.done) != 2 || len(rec.All.Cells) != 4 {
		t.Errorf("%d cells are done of %d, want 2 of 4", len(rec.done), len(rec.All.Cells))
	}
	records, err := ReadRecords(flags.Out)
	var text string
	for _, c := range records.Cells {
		text += c.Impl + " " + string(c.Status) + ", "
	}
	if want := "a VERIFIED, d SKIPPED, b VERIFIED, c TIMEOUT, "; err != nil || text != want {
		t.Errorf("%s (%v), want %s", text, err, want)
	}
	flags.Resume = false
	if flags.Check() == nil {
		t.Error("--retry is taken without --resume")
	}
}

// A resumed run measures again the cells of another program, and keeps their records.
func TestResumeAfterAnotherProgram(t *testing.T) {
	flags := RecordFlags{Out: filepath.Join(t.TempDir(), "r.jsonl")}
	rec, err := flags.Record(1, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	other := rec.run
	other.ID, other.Binary.SHA256 = "other", strings.Repeat("ab", 32)
	cell := func(impl, run string) bench.CellRecord {
		c := bench.CellRecord{Schema: bench.Schema, Kind: bench.KindCell, Impl: impl, Run: run}
		c.Status = verify.Verified
		return c
	}
	err = errors.Join(rec.Keep(cell("a", "")), rec.log.Append(other), rec.log.Append(cell("b", "other")), rec.Close())
	if err != nil {
		t.Fatal(err)
	}
	flags.Resume = true
	var said bytes.Buffer
	if rec, err = flags.Record(1, &said); err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	_, a := rec.FinishedCell(cell("a", "").Key())
	_, b := rec.FinishedCell(cell("b", "").Key())
	if !a || b || len(rec.All.Cells) != 2 || !strings.Contains(said.String(), "1 cells of") {
		t.Errorf("own cell done: %v, other's: %v, %d cells; %q", a, b, len(rec.All.Cells), &said)
	}
}

// Records of a file have the hash of the program, and others on request.
func TestHashOfRecords(t *testing.T) {
	for want, flags := range map[int][]RecordFlags{
		0: {{}}, 64: {{Hash: true}, {Out: filepath.Join(t.TempDir(), "r.jsonl")}},
	} {
		for _, f := range flags {
			rec, err := f.Record(1, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Close()
			if got := rec.All.Stations()[rec.run.ID].Program; len(got) != want {
				t.Errorf("%+v: %q, want %d characters", f, got, want)
			}
		}
	}
}
