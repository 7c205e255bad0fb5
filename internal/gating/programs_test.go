package gating

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/cli"
	"eccbench/internal/gate"
	"eccbench/internal/peers"
)

// A program that is stuck costs its limit, and its processes end.
func TestStuckProgram(t *testing.T) {
	dir := t.TempDir()
	stuck := filepath.Join(dir, "stuck")
	sleep := fmt.Sprintf("sleep 4321.%d", os.Getpid())
	checktest.Program(t, stuck, []byte("#!/bin/sh\n"+sleep+" &\nwait\n"))
	p := &programs{dir: dir, calm: peers.Calm, side: map[gate.Side]executable{gate.Candidate: {path: stuck}}, limit: 300 * time.Millisecond}
	_, err := p.measure(gate.Protocol{Threads: 1}, "ecc")(context.Background(), gate.Candidate, gate.Cell{Impl: "cpu", Scope: bench.E2E}, 0)
	if err == nil || !strings.Contains(err.Error(), "still running after 300 ms") {
		t.Errorf("error %v", err)
	}
	for {
		left, _ := exec.Command("pgrep", "-f", sleep).Output()
		if len(left) == 0 {
			break
		}
		if end, ok := t.Deadline(); ok && time.Until(end) < 10*time.Second {
			t.Fatalf("processes left: %s", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Both programs run on the same cores in a block, and on others in the next one.
func TestBlockHasItsCores(t *testing.T) {
	cores := peers.Cores()
	if len(cores) < 2 {
		t.Skip("cores are chosen on Linux, and there must be two")
	}
	dir := t.TempDir()
	log, program := filepath.Join(dir, "log"), filepath.Join(dir, "program")
	script := "#!/bin/sh\ngrep Cpus_allowed_list /proc/self/status >> '" + log + "'\n"
	checktest.Program(t, program, []byte(script))
	chosen := 0
	next := func(int) []int { chosen++; return []int{cores[chosen%2]} }
	p := &programs{dir: dir, limit: time.Minute, calm: next, side: map[gate.Side]executable{
		gate.Base: {path: program}, gate.Candidate: {path: program}}}
	measure := p.measure(gate.Protocol{Threads: 1}, "ecc")
	for block := range 2 {
		for _, side := range []gate.Side{gate.Base, gate.Candidate} {
			measure(t.Context(), side, gate.Cell{Impl: "cpu", Scope: bench.E2E}, block)
		}
	}
	seen, err := os.ReadFile(log)
	if l := strings.Fields(string(seen)); err != nil || len(l) != 8 || l[1] != l[3] || l[5] != l[7] || l[1] == l[5] {
		t.Errorf("two programs in two blocks: %q, %v", l, err)
	}
}

// A device is named to programs only for implementations on one, because they reject it for others.
func TestDeviceOfACell(t *testing.T) {
	list := impls.All(impls.Devices())
	p := &programs{benches: list.Benches}
	for impl, want := range map[string]bool{"cpu": false, "extrema": false, "fullsweep": true, "of another version": true} {
		args := p.arguments(gate.Protocol{Device: "1"}, "ecc", gate.Base, gate.Cell{Workload: "ecc", Impl: impl}, "out")
		if got := slices.Contains(args, "--device"); got != want {
			t.Errorf("%s: %q", impl, args)
		}
	}
}

// Revisions and folders are built, and the repository is unchanged.
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
	c := &cli.Program{Stderr: &bytes.Buffer{}}
	for _, want := range []struct{ given, says, commit string }{
		{"v1", "first", do("rev-parse", "v1")},
		{"HEAD", "second", do("rev-parse", "HEAD")},
		{".", "third", do("rev-parse", "HEAD") + "+dirty"},
	} {
		p, err := findPrograms(ctx, c, want.given, "", time.Second)
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
	if _, err := findPrograms(ctx, c, "HEAD", "", time.Second); err == nil || !strings.Contains(err.Error(), "building HEAD") {
		t.Errorf("a revision that does not build: %v", err)
	}
	if trees := do("worktree", "list"); strings.Count(trees, "\n") != 0 {
		t.Errorf("worktrees left by a broken build:\n%s", trees)
	}
}

// A program that was built of changed source is never printed as its commit alone.
func TestDirtyProgramsAreShown(t *testing.T) {
	const commit = "3a7fef1ae004254db58c495ae84dcf6b371a42d9"
	for _, c := range []struct{ name, commit, want string }{
		{"main", commit, "main (3a7fef1ae004)"},
		{"main", commit + "+dirty", "main (3a7fef1ae004+dirty)"},
		{commit, commit, commit},
		{"3a7fef1", commit + "+dirty", "3a7fef1 (+dirty)"},
		{"old", "unknown", "old"},
		{"", commit + "+dirty", "nothing (3a7fef1ae004+dirty)"},
		{"old", "", "old"},
	} {
		if got := describeProgram(gate.Program{Name: c.name, Commit: c.commit}); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.name, c.commit, got, c.want)
		}
	}
}
