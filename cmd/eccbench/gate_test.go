package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"eccbench/internal/bench"
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
	line, err := json.Marshal(r)
	if err == nil {
		err = validate(line, "gate/gate-1.schema.json")
	}
	if err != nil {
		ts.Fatalf("%s: schema: %v", args[0], err)
	}
	if string(r.Verdict) != args[1] {
		ts.Fatalf("%s: verdict %s (%s), want %s", args[0], r.Verdict, r.Reason, args[1])
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

// An interrupted gate leaves what had ended, and no process behind.
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
	if cmd.ProcessState.ExitCode() != exitInconclusive {
		t.Fatalf("%v, want exit code %d\n%s", err, exitInconclusive, stderr.String())
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
	// A worker ends when it sees that its parent has gone.
	await(t, "the end of all processes", func() bool {
		left, _ := exec.Command("pgrep", "-f", cmd.Path).Output()
		return len(left) == 0
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "eccbench-gate-*")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}

// A program that is stuck costs its limit, and its processes end.
func TestStuckProgram(t *testing.T) {
	dir := t.TempDir()
	stuck := filepath.Join(dir, "stuck")
	sleep := fmt.Sprintf("sleep 4321.%d", os.Getpid())
	if err := os.WriteFile(stuck, []byte("#!/bin/sh\n"+sleep+" &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &programs{dir: dir, side: map[gate.Side]executable{gate.Candidate: {path: stuck}}, limit: 300 * time.Millisecond}
	_, err := p.measure(gate.Protocol{Threads: 1})(context.Background(), gate.Candidate, gate.Cell{Impl: "cpu", Scope: bench.E2E})
	if err == nil || !strings.Contains(err.Error(), "still running after 300 ms") {
		t.Errorf("error %v", err)
	}
	await(t, "the end of all processes", func() bool {
		left, _ := exec.Command("pgrep", "-f", sleep).Output()
		return len(left) == 0
	})
}

// Revisions and folders are built; the repository is left as it was.
func TestRevisionsAreBuilt(t *testing.T) {
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("building revisions needs %s: %v", tool, err)
		}
	}
	repo := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	do := func(args ...string) string {
		t.Helper()
		out, err := git(ctx, repo, append([]string{"-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	says := func(word string) string { return "package main\n\nfunc main() { print(\"" + word + "\") }\n" }
	do("init", "-q")
	write("go.mod", "module eccbench\n\ngo 1.26\n")
	write("cmd/eccbench/main.go", says("first"))
	do("add", ".")
	do("commit", "-qm", "first")
	do("tag", "v1")
	write("cmd/eccbench/main.go", says("second"))
	do("commit", "-qam", "second")
	write("cmd/eccbench/main.go", says("third")) // not committed
	t.Chdir(repo)
	c := command{stderr: &bytes.Buffer{}}
	for _, want := range []struct{ given, says, commit string }{
		{"v1", "first", do("rev-parse", "v1")},
		{"HEAD", "second", do("rev-parse", "HEAD")},
		{".", "third", do("rev-parse", "HEAD") + "+dirty"},
	} {
		p, err := c.findPrograms(ctx, want.given, "", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		got := p.side[gate.Base]
		out, err := exec.Command(got.path).CombinedOutput()
		if err != nil || string(out) != want.says || got.commit != want.commit {
			t.Errorf("%s says %q (%v), commit %s; want %+v", want.given, out, err, got.commit, want)
		}
		p.close()
		if _, err := os.Stat(got.path); err == nil {
			t.Errorf("%s is left", got.path)
		}
	}
	if trees := do("worktree", "list"); strings.Count(trees, "\n") != 0 {
		t.Errorf("worktrees left:\n%s", trees)
	}
	write("cmd/eccbench/main.go", "package main\n\nfunc main() { undefined() }\n")
	do("commit", "-qam", "broken")
	if _, err := c.findPrograms(ctx, "HEAD", "", time.Second); err == nil || !strings.Contains(err.Error(), "building HEAD") {
		t.Errorf("a revision that does not build: %v", err)
	}
	if trees := do("worktree", "list"); strings.Count(trees, "\n") != 0 {
		t.Errorf("worktrees left by a broken build:\n%s", trees)
	}
}
