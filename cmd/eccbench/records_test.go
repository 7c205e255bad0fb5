//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/cli"
	"eccbench/internal/verify"
)

func itoa(n int) string { return strconv.Itoa(n) }

// program is a command that runs this test binary as eccbench.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A copy, because a program finds itself by its file, and the name of this file
	// selects the program.
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // for tests that run it as another user
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "eccbench-planted")
	if err := os.Link(self, copied); err != nil {
		data, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		checktest.Program(t, copied, data)
	}
	cmd := exec.Command(copied, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	return cmd
}

// waiterOf is a file of the nth process of the implementation waiter of a program.
func waiterOf(cmd *exec.Cmd, n int) func() bool {
	return func() bool {
		list, _ := filepath.Glob(filepath.Join(filepath.Dir(cmd.Path), "eccbench-waiter-*"))
		return len(list) >= n
	}
}

// A run that is killed and resumed has every cell, and each once.
func TestKilledRunResumes(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "r.jsonl")
	args := []string{"run", "--impl", "cpu,waiter", "--sizes", "4..32", "--max-time", "10ms", "--max-samples", "10", "--out", out, "-q"}
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, waiting+"=2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the third worker that waits", waiterOf(cmd, 3))
	cmd.Process.Kill()
	cmd.Wait()
	before, err := cli.ReadRecords(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Cells) != 8 {
		t.Fatalf("%d cells before the run was killed, want 8", len(before.Cells))
	}
	// A torn line, as a kill in the middle of a write leaves it.
	f, err := os.OpenFile(out, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"schema":"eccbench/1","kind":"ce`)
	f.Close()
	if output, err := program(t, append(args, "--resume")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	after, err := cli.ReadRecords(out)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[bench.CellKey]int{}
	for _, c := range after.Cells {
		seen[c.Key()]++
		if c.Ceiling == 0 {
			t.Errorf("%v has no ceiling", c.Key())
		}
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("%v was run %d times", key, n)
		}
	}
	if len(seen) != 12 || len(after.Runs) != 2 {
		t.Errorf("%d cells and %d runs, want 12 and 2", len(seen), len(after.Runs))
	}
}

// Cells of another program or another machine are measured again, and have a table of their own.
func TestResumeKeepsStationsApart(t *testing.T) {
	for _, field := range []string{"sha256", "cpu"} {
		out := filepath.Join(t.TempDir(), "r.jsonl")
		args := []string{"run", "--impl", "cpu", "--sizes", "16", "--max-time", "5ms", "--out", out, "-q"}
		if output, err := program(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		other := regexp.MustCompile(`"`+field+`":"[^"]{4}`).ReplaceAll(data, []byte(`"`+field+`":"0000`))
		other = regexp.MustCompile(`,"sum":"[^"]*"`).ReplaceAll(other, nil) // as from before records had sums
		if bytes.Equal(other, data) {
			t.Fatalf("no field %s in the record", field)
		}
		if err := os.WriteFile(out, other, 0o666); err != nil {
			t.Fatal(err)
		}
		output, err := program(t, append(args, "--resume")...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		for _, want := range []string{"machine 1", "machine 2", "2 cells of " + out + " were measured by another program or on another machine"} {
			if !bytes.Contains(output, []byte(want)) {
				t.Errorf("another %s: no %q in\n%s", field, want, output)
			}
		}
		records, err := cli.ReadRecords(out)
		if err != nil || len(records.Cells) != 4 {
			t.Errorf("another %s: %d cells, %v, want 4", field, len(records.Cells), err)
		}
	}
}

// A run whose program is replaced continues with the program that started it.
func TestReplacedProgram(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r.jsonl")
	cmd := program(t, "run", "--impl", "waiter,naive,cpu", "--sizes", "16", "--max-time", "10ms", "--out", out, "-q")
	cmd.Env = append(cmd.Env, waiting+"=0", hold+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the worker that waits", waiterOf(cmd, 1))
	other := cmd.Path + ".new"
	checktest.Program(t, other, []byte("#!/bin/sh\nexit 3\n"))
	if err := os.Rename(other, cmd.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(cmd.Path), released), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	records, err := cli.ReadRecords(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(records.Cells) != 4 {
		t.Errorf("%d cells, want four", len(records.Cells))
	}
	for _, c := range records.Cells {
		if c.Status != verify.Verified && c.Status != verify.Noisy {
			t.Errorf("%s: %s %s", c.Impl, c.Status, c.Reason)
		}
	}
}

// An interrupted run keeps the finished cells, and leaves no worker running.
func TestInterruptedRun(t *testing.T) {
	// Under nohup a hang-up is ignored, here and in child processes. After Notify a started program
	// handles it as usual.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(by.String(), func(t *testing.T) { t.Parallel(); interruptedRun(t, by) })
	}
}

func interruptedRun(t *testing.T, by syscall.Signal) {
	out := filepath.Join(t.TempDir(), "r.jsonl")
	cmd := program(t, "run", "--impl", "cpu,waiter", "--sizes", "16", "--max-time", "10ms", "--out", out, "-q")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(cmd.Env, waiting+"=0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the worker that waits", waiterOf(cmd, 1))
	cmd.Process.Signal(by)
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != cli.ExitInconclusive {
		t.Fatalf("%v, want exit code %d\n%s", err, cli.ExitInconclusive, stderr.String())
	}
	if !strings.Contains(stdout.String(), "cpu") || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("stdout:\n%s\nstderr:\n%s", stdout.String(), stderr.String())
	}
	records, err := cli.ReadRecords(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(records.Cells) != 2 {
		t.Errorf("%d cells, want the ceiling and cpu", len(records.Cells))
	}
	for _, cell := range records.Cells {
		if cell.Status != verify.Verified && cell.Status != verify.Noisy {
			t.Errorf("%s: %s %s", cell.Impl, cell.Status, cell.Reason)
		}
	}
	if left, _ := exec.Command("pgrep", "-f", cmd.Path).Output(); len(left) > 0 {
		t.Errorf("processes left: %s", left)
	}
}
