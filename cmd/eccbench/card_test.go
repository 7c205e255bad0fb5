package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eccbench/internal/cli"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// cardProgram is the variable with the path of the program that TestCard runs, and cardJob the job: small, full.
const (
	cardProgram = "ECCBENCH_CARD_PROGRAM"
	cardJob     = "ECCBENCH_CARD"
)

// A cardRun is a command as a user types it, and the expected contents of its records.
type cardRun struct {
	args   string
	cells  int   // verified ones at least
	memory int64 // the most bytes that a worker may take of its own
	noisy  bool  // an interval that is too wide is no failure
	laws   int   // laws that are tried, at least, after an answer is confirmed
}

// cardRuns returns the commands of a job. The small job reaches the same code as the full one:
// images that repeat a block, and too little memory for a whole image.
func cardRuns(job string) []cardRun {
	const own = 200 << 20
	if job == "full" {
		return []cardRun{{args: "--sizes 128..4096 --dim 3", cells: 12, memory: 3 << 30}}
	}
	little := "--impl extrema --type uint8,float32 --gen noise,grf --memory-limit 512MiB"
	return []cardRun{
		{args: "--dim 3 --sizes 128,1024 --max-time 4s " + little, cells: 16, memory: own, noisy: true},
		{args: "--dim 2 --sizes 1024,32768 --max-time 500ms " + little, cells: 16, memory: own, noisy: true},
		{
			args:  "--dim 3 --sizes 512 --max-time 20s --impl extrema --type float32 --gen grf --memory-limit 256MiB",
			cells: 2, memory: own, noisy: true, laws: 10,
		},
	}
}

// TestCard runs the main job: every row is verified, the exit code is 0, and no worker takes more memory than it may.
func TestCard(t *testing.T) {
	program := os.Getenv(cardProgram)
	if program == "" {
		t.Skip("make card runs it")
	}
	for _, run := range cardRuns(os.Getenv(cardJob)) {
		out := filepath.Join(t.TempDir(), "card.jsonl")
		args := append(strings.Fields(run.args), "--out", out)
		start := time.Now()
		cmd := exec.Command(program, args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("eccbench %s: %v, want exit code 0", run.args, err)
		}
		t.Logf("eccbench %s: %v", run.args, time.Since(start).Round(time.Second))
		records, err := cli.ReadRecords(out)
		if err != nil {
			t.Fatal(err)
		}
		verified, most, laws := 0, int64(0), 0
		for _, c := range records.Cells {
			most = max(most, c.OwnMemory)
			for _, e := range c.Evidence {
				switch {
				case e.Passed && e.Witness != ecc.FingerprintLaw:
					laws++
				case !e.Passed && !strings.HasPrefix(e.Note, "not tried"):
					t.Errorf("%s on %s: %s: %s", c.Impl, c.Input, e.Witness, e.Note)
				}
			}
			switch {
			case c.Status == verify.Verified || c.Status == verify.Noisy && run.noisy:
				verified++
			case c.Status != verify.Skipped:
				t.Errorf("%s on %s: %s: %s", c.Impl, c.Input, c.Status, c.Reason)
			}
		}
		t.Logf("%d rows verified, %d laws passed; a worker takes at most %s of its own", verified, laws, quantity.Bytes(most))
		if verified < run.cells || laws < run.laws || most == 0 || most > run.memory {
			t.Errorf("%d rows verified, want at least %d; %d laws passed, want at least %d; %s of memory, want at most %s",
				verified, run.cells, laws, run.laws, quantity.Bytes(most), quantity.Bytes(run.memory))
		}
	}
}
