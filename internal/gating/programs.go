package gating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/gate"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/regular"
	"eccbench/internal/runner"
	"eccbench/internal/worker"
)

// programs are the two programs of a gate, and the folder in which they run.
type programs struct {
	dir  string
	side map[gate.Side]executable
	// benches tell where an implementation runs.
	benches []runner.Bench
	// peers are the compared peers; without peers, the programs themselves are compared.
	peers map[gate.Side]*peers.Peer
	runs  int // results files so far
	// calm chooses cores for all processes of a cell in a block: the last one's.
	calm  func(n int) []int
	cell  gate.Cell
	block int
	cores []int
	// limit stops a program that hangs; its own limits are shorter.
	limit time.Duration
}

// An executable is an existing or newly built eccbench.
type executable struct {
	given, path string
	commit      string // "" if unknown
}

// findPrograms finds or builds the two programs; "" means none. Each process runs two cells of
// three phases. A phase ends within twice the time limit and some grace.
func findPrograms(ctx context.Context, c *cli.Program, base, candidate string,
	timeLimit time.Duration) (*programs, error) {
	dir, err := regular.MkdirTemp("eccbench-gate-")
	if err == nil {
		dir, err = filepath.Abs(dir) // of a relative $TMPDIR: the programs run in the folder
	}
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	p := &programs{dir: dir, benches: c.Benches, calm: peers.Calm, side: map[gate.Side]executable{}}
	p.limit = 6 * (2*timeLimit + 10*time.Second)
	for _, side := range []gate.Side{gate.Base, gate.Candidate} {
		given := base
		if side == gate.Candidate {
			given = candidate
		}
		if given == "" {
			continue
		}
		found, err := p.find(ctx, side, given, c.Stderr)
		if err != nil {
			p.close()
			return nil, err
		}
		p.side[side] = found
	}
	p.side[gate.Again] = p.side[gate.Base]
	return p, nil
}

// find returns the program that an argument names: an executable file, a folder with source, or a
// revision of the repository around the working directory.
func (p *programs) find(ctx context.Context, side gate.Side, given string, log io.Writer) (executable, error) {
	info, err := os.Stat(given)
	switch {
	case err == nil && info.Mode().IsRegular():
		if info.Mode()&0o111 == 0 {
			return executable{}, cli.Usagef("%s: not a program that can be run", given)
		}
		path, err := filepath.Abs(given)
		return executable{given: given, path: path}, err
	case err == nil && info.IsDir():
		if _, err := os.Stat(filepath.Join(given, "go.mod")); err != nil {
			return executable{}, cli.Usagef("%s: a folder without a go.mod, so not the source of a program", given)
		}
		commit, err := git(ctx, given, "rev-parse", "HEAD")
		if status, e := git(ctx, given, "status", "--porcelain"); err == nil && (e != nil || status != "") {
			commit += "+dirty"
		}
		path, err := p.build(ctx, side, given, given, log)
		return executable{given, path, commit}, err
	}
	commit, err := git(ctx, ".", "rev-parse", "--verify", "--quiet", given+"^{commit}")
	if err != nil {
		return executable{},
			cli.Usagef("%s: neither a program, nor a folder with its source, nor a revision of the repository here", given)
	}
	tree := filepath.Join(p.dir, string(side)+"-source")
	if _, err := git(ctx, ".", "worktree", "add", "--detach", "--force", tree, commit); err != nil {
		return executable{}, fmt.Errorf("checking out %s: %w", given, err)
	}
	path, err := p.build(ctx, side, tree, given, log)
	// A context that has ended must not leave the repository with the worktree.
	if _, e := git(context.WithoutCancel(ctx), ".", "worktree", "remove", "--force", tree); err == nil && e != nil {
		err = fmt.Errorf("removing the worktree of %s: %w", given, e)
	}
	return executable{given, path, commit}, err
}

func (p *programs) build(ctx context.Context, side gate.Side, source, given string, log io.Writer) (string, error) {
	fmt.Fprintf(log, "building %s\n", given)
	out := filepath.Join(p.dir, "eccbench-"+string(side))
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, "./cmd/eccbench")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", given, err, firstLines(output))
	}
	return out, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, firstLines(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}

// firstLines returns the first lines of a program's output, on one line.
func firstLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[:min(len(lines), 5)], "; ")
}

func (p *programs) close() { os.RemoveAll(p.dir) }

// measure runs one cell in a fresh process with eccbench run, which every version of the program
// has, and reads its records. The first workload is every program's default.
func (p *programs) measure(how gate.Protocol, first string) gate.Measure {
	return func(ctx context.Context, side gate.Side, cell gate.Cell, block int) (bench.Records, error) {
		p.runs++
		out := filepath.Join(p.dir, fmt.Sprintf("%d.jsonl", p.runs))
		defer os.Remove(out)
		args := p.arguments(how, first, side, cell, out)
		limited, cancel := context.WithTimeout(ctx, p.limit)
		defer cancel()
		cmd := exec.CommandContext(limited, p.side[side].path, args...)
		cmd.Dir, cmd.Env = p.dir, append(os.Environ(), cli.Judge+"="+cli.Inside)
		// A group of its own: an interrupt from the terminal is this program's to
		// handle. Its workers end when it does.
		cmd.SysProcAttr = worker.OwnGroup()
		cmd.Cancel = func() error { worker.KillGroup(cmd.Process.Pid); return nil }
		cmd.WaitDelay = 5 * time.Second
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		died := peers.OnCores(p.coresOf(cell, block, how.Threads), cmd.Start)
		if died == nil {
			died = cmd.Wait()
		}
		if limited.Err() != nil {
			return bench.Records{}, fmt.Errorf("still running after %s", quantity.Duration(p.limit))
		}
		return results(out, died, firstLines(stderr.Bytes()))
	}
}

// results reads the results of a process, given its end and its errors.
func results(path string, died error, said string) (bench.Records, error) {
	file, _, err := regular.Open(path)
	if err != nil {
		why := fmt.Sprintf("it wrote no results (%v): %s", ended(died), said)
		return bench.Records{}, errors.New(strings.TrimSuffix(why, ": "))
	}
	defer file.Close()
	records, err := bench.ReadRecords(file)
	if err == nil && len(records.Cells) == 0 {
		err = fmt.Errorf("no rows (%v): %s", ended(died), said)
	}
	if err == nil && code(died) != code(cli.Verdict(records.Cells)) {
		err = fmt.Errorf("its end contradicts its rows: %v: %s", ended(died), said)
	}
	if err != nil {
		return bench.Records{}, fmt.Errorf("its results: %w", err)
	}
	for i := range records.Runs {
		records.Runs[i].Machine.Cores = runtime.NumCPU() // the process has some of them
	}
	return records, nil
}

// arguments returns the arguments of eccbench that measure a cell and write its results to out.
func (p *programs) arguments(how gate.Protocol, first string, side gate.Side, cell gate.Cell, out string) []string {
	args := []string{
		"run", "--impl", cell.Impl, "--input", cell.Input, "--scope", string(cell.Scope),
		"--threads", strconv.Itoa(how.Threads), "--max-time", how.MaxTime.String(), "--max-samples",
		strconv.Itoa(how.MaxSamples),
		"--time-limit", how.TimeLimit.String(), "--out", out, "--quiet",
	}
	if cell.Workload != first { // a program without a choice of workloads asks the first
		args = append(args, "--workload", cell.Workload)
	}
	if peer := p.peers[side]; peer != nil {
		args = append(args, "--admit=false", "--peer", peer.Name+"="+peer.Line())
	}
	if how.Device != "" && !p.isOnHost(cell) { // a program rejects it for a CPU implementation
		args = append(args, "--device", how.Device)
	}
	if how.Hot {
		args = append(args, "--hot")
	}
	return args
}

// isOnHost reports whether a cell is about a CPU implementation of this program.
func (p *programs) isOnHost(cell gate.Cell) bool {
	b, err := runner.Find(p.benches, cell.Workload)
	return err == nil && slices.ContainsFunc(b.Abouts(), func(a bench.About) bool {
		return a.Name == cell.Impl && a.Where == "cpu"
	})
}

// coresOf returns the cores for a process of a cell in a block.
func (p *programs) coresOf(cell gate.Cell, block, threads int) []int {
	if p.cell != cell || p.block != block {
		p.cell, p.block, p.cores = cell, block, p.calm(threads)
	}
	return p.cores
}

// code returns the exit code of an error, 0 for none and -1 for a signal.
func code(err error) int {
	var exit *exec.ExitError
	var verdict cli.VerdictError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case errors.As(err, &verdict):
		return verdict.Code
	case err != nil:
		return -1
	}
	return 0
}

func ended(died error) string {
	if died == nil {
		return "exit status 0"
	}
	return died.Error()
}

// describe completes the descriptions of the programs in the records by the given ones.
func (p *programs) describe(r *gate.Result) {
	for of, side := range map[*gate.Program]gate.Side{&r.Base: gate.Base, &r.Candidate: gate.Candidate} {
		given, ok := p.side[side]
		if !ok {
			continue
		}
		if peer := p.peers[side]; peer != nil {
			*of = gate.Program{Name: peer.Line(), Commit: peer.Version, SHA256: peer.SHA256}
			continue
		}
		of.Name = given.given
		if given.commit != "" {
			of.Commit = given.commit
		}
		if sum, err := regular.Hash(given.path); of.SHA256 == "" && err == nil {
			of.SHA256 = sum // of a program without records
		}
	}
}

// requireSame requires the programs to equal the programs of another gate, or to be built from one
// commit.
func (p *programs) requireSame(before *gate.Result) error {
	for side, old := range map[gate.Side]gate.Program{gate.Base: before.Base, gate.Candidate: before.Candidate} {
		sum, err := regular.Hash(p.side[side].path)
		if err != nil {
			return err
		}
		commit := p.side[side].commit
		if sum != old.SHA256 && (commit == "" || commit != old.Commit || strings.HasSuffix(commit, "+dirty")) {
			return fmt.Errorf("its %s was %s (commit %s, sha256 %.16s…), not %s",
				side, old.Name, old.Commit, old.SHA256, p.side[side].given)
		}
	}
	return nil
}
