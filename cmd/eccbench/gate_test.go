//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"eccbench/internal/cli"
	"eccbench/internal/gate"
)

// gated requires a file to be the result of a gate with a verdict: gated FILE
// VERDICT
func gated(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gated FILE VERDICT")
	}
	text := ts.ReadFile(args[0])
	var r gate.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	if string(r.Verdict) != args[1] {
		ts.Fatalf("%s: cli.Verdict %s (%s), want %s", args[0], r.Verdict, r.Reason, args[1])
	}
}

// locate sets a variable to the path of one of the test's programs: locate VAR
// PROGRAM
func locate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: locate VAR PROGRAM")
	}
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	ts.Setenv(args[0], path)
}

// A gate whose output has lost its reader ends like an interrupted one, and leaves no folder.
func TestGateWithoutReader(t *testing.T) {
	for name, lose := range map[string]func(*exec.Cmd, *os.File){
		"errors": func(cmd *exec.Cmd, w *os.File) { cmd.Stderr = w },
		"both":   func(cmd *exec.Cmd, w *os.File) { cmd.Stdout, cmd.Stderr = w, w },
		"output": func(cmd *exec.Cmd, w *os.File) { cmd.Stdout = w },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := program(t, "gate", "--impl", "cpu", "--sizes", "8", "--blocks", "5", "--max-time", "1ms", "--out", filepath.Join(dir, "gate.json"))
			cmd.Args = append(cmd.Args, "--base", cmd.Path, "--cand", cmd.Path)
			cmd.Env, cmd.Dir = append(os.Environ(), "TMPDIR=."), dir
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			lose(cmd, w)
			r.Close()
			err = cmd.Run()
			w.Close()
			if err == nil {
				t.Error("no error")
			}
			if left, err := filepath.Glob(filepath.Join(dir, "eccbench-gate-*")); err != nil || len(left) > 0 {
				t.Errorf("%q is left, %v", left, err)
			}
		})
	}
}

// An interrupted gate keeps the finished processes, and leaves no process running.
func TestInterruptedGate(t *testing.T) {
	dir := t.TempDir()
	cmd := program(t, "gate", "--impl", "waiter", "--sizes", "16", "--max-time", "5ms", "--out", filepath.Join(dir, "gate.json"))
	cmd.Args = append(cmd.Args, "--base", cmd.Path, "--cand", cmd.Path)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, waiting+"=4")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the fifth process", func() bool {
		list, _ := filepath.Glob(filepath.Join(dir, "eccbench-waiter-*"))
		return len(list) >= 5
	})
	cmd.Process.Signal(syscall.SIGINT)
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != cli.ExitInconclusive {
		t.Fatalf("%v, want exit code %d\n%s", err, cli.ExitInconclusive, stderr.String())
	}
	data, err := os.ReadFile(filepath.Join(dir, "gate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r gate.Result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || r.Verdict != gate.IsInconclusive || len(r.Processes) != 4 {
		t.Errorf("%s with %d processes: %s", r.Verdict, len(r.Processes), r.Reason)
	}
	if !strings.Contains(stdout.String(), "INCONCLUSIVE: interrupted") {
		t.Errorf("stdout:\n%s", stdout.String())
	}
	// A worker ends after its parent has ended.
	await(t, "the end of all processes", func() bool {
		left, _ := exec.Command("pgrep", "-f", cmd.Path).Output()
		return len(left) == 0
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "eccbench-gate-*")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}
