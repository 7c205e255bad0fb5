package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/workloads/ecc/ecctest"
)

// The slowdown for tests of the gate (internal/resident/slow.go) costs time only: no recorded
// allocation, no launch. By the stand-in's events a kernel takes a millisecond, so that no other is
// needed; by the host's clock the waits must take longer.
func TestSlowdownIsTimeAlone(t *testing.T) {
	if !ecctest.Long() {
		t.Skip("half of the program is compiled again")
	}
	driver := fakeDriver(t)
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("building a slowed program needs go: %v", err)
	}
	dir := t.TempDir()
	cells := map[string]map[string]bench.CellRecord{}
	tags := "slow5"
	if _, more, ok := strings.Cut(os.Getenv("GOFLAGS"), "-tags="); ok { // the other packages have the tags of the test's build
		tags += "," + strings.Fields(more)[0]
	}
	build := exec.Command(tool, "build", "-tags", tags, "-ldflags=-s -w", "-o", filepath.Join(dir, "slow5"), ".")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for tag, program := range map[string]string{"none": "eccbench-timed", "slow5": filepath.Join(dir, "slow5")} {
		out := filepath.Join(dir, tag+".jsonl")
		runFake(t, driver, "slow_us:3000", cli.ExitWrong, program, "--scope", "kernel", "--impl", "fullsweep,tiled,extrema-gpus", "--devices", "all", "--sizes", "16", "--max-samples", "3", "--max-time", "10ms", "-q", "--out", out)
		cells[tag] = readCells(t, out)
	}
	for impl, base := range cells["none"] {
		slow := cells["slow5"][impl]
		if base.Allocated == nil || slow.Allocated == nil || *base.Allocated != *slow.Allocated {
			t.Errorf("%s: bytes that a call allocates: %v, slowed %v", impl, value(base.Allocated), value(slow.Allocated))
		}
		if base.Launches == nil || slow.Launches == nil || *base.Launches != *slow.Launches || *base.Launches == 0 {
			t.Errorf("%s: kernels that a call launches: %v, slowed %v", impl, value(base.Launches), value(slow.Launches))
		}
		if base.Seconds == nil || slow.Seconds == nil || math.Abs(slow.Seconds.Median/base.Seconds.Median-1.05) > 0.005 {
			t.Errorf("%s: a call takes %+v, slowed %+v, want a twentieth more", impl, base.Seconds, slow.Seconds)
		}
	}
	if len(cells["none"]) != 3 {
		t.Errorf("%d implementations were measured, want 3", len(cells["none"]))
	}
}

func value(n *int64) any {
	if n == nil {
		return "not recorded"
	}
	return *n
}

// readCells are the records of implementations on a device, by name, but for the
// ceiling's.
func readCells(t *testing.T, path string) map[string]bench.CellRecord {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]bench.CellRecord{}
	for line := range strings.Lines(string(text)) {
		var r bench.CellRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind == bench.KindCell && !strings.HasPrefix(r.Impl, "memread") {
			cells[r.Impl] = r
		}
	}
	return cells
}
