package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Fault is a mistake that an engineer could make, with the tests that notice it.
type Fault struct {
	Area, Name, Reason string
	File               string // path below the root
	Before, After      string // Before occurs once in the file
	Tests              string // a package and the names of its tests; all without names
}

func (f *Fault) path() string { return f.Area + "/" + f.Name }

// inKernel reports whether a fault is in the source of a kernel. Its tests compile the kernel for the host and run it,
// which needs clang++.
func (f *Fault) inKernel() bool {
	return strings.HasPrefix(f.File, "kernels/") && filepath.Ext(f.File) != ".go"
}

// readFaults reads the files of a folder, one for each area.
func readFaults(dir string) (all []*Fault, err error) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list, err := parseFaults(strings.TrimSuffix(filepath.Base(name), ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// parseFaults reads faults of this form; the lines after - are replaced by those after +.
//
//	# name
//	The reason.
//	file: internal/stats/stats.go
//	tests: internal/stats TestMedian
//	-	n := len(xs)
//	+	n := len(xs) - 1
func parseFaults(area, text string) (list []*Fault, err error) {
	var f *Fault
	for number, lines := 1, bufio.NewScanner(strings.NewReader(text)); lines.Scan(); number++ {
		line := lines.Text()
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "):
			f = &Fault{Area: area, Name: line[2:]}
			list = append(list, f)
		case f == nil:
			return nil, fmt.Errorf("line %d is before the first fault", number)
		case line[0] == '-':
			f.Before += line[1:] + "\n"
		case line[0] == '+':
			f.After += line[1:] + "\n"
		case key == "file":
			f.File = value
		case key == "tests":
			f.Tests = value
		default:
			f.Reason = strings.TrimPrefix(f.Reason+" "+line, " ")
		}
	}
	for _, f := range list {
		f.Before, f.After = strings.TrimSuffix(f.Before, "\n"), strings.TrimSuffix(f.After, "\n")
		if f.File == "" || f.Reason == "" || f.Before == f.After || f.Tests == "" {
			return nil, fmt.Errorf("%s: want a reason, a file, tests, and changed lines", f.Name)
		}
	}
	return list, nil
}

// A Project is a program in which faults are planted.
type Project struct {
	root    string
	jobs    int
	log     io.Writer
	verbose bool

	scratch  string
	stages   map[string]*Stage       // by the tests of faults
	binaries map[string]func() error // builds the tests of packages
	mu       sync.Mutex
}

// tryFaults builds the declared tests with one fault at a time and runs them. It prints a table by
// area, and returns an error for faults that are not noticed or no longer fit the program.
func (p *Project) tryFaults(ctx context.Context, faults []*Fault, w io.Writer) (err error) {
	if p.scratch, err = os.MkdirTemp("", "faults-"); err != nil {
		return err
	}
	defer os.RemoveAll(p.scratch)
	if err := lacksCompiler(); err != nil {
		all := len(faults)
		faults = slices.DeleteFunc(slices.Clone(faults), (*Fault).inKernel)
		if n := all - len(faults); n > 0 {
			fmt.Fprintf(p.log, "kernels are skipped (%d faults): %v\n", n, err)
		}
	}
	p.stages, p.binaries = map[string]*Stage{}, map[string]func() error{}
	for _, f := range faults {
		p.control(ctx, f)
	}
	missed := make([]error, len(faults))
	err = p.several(ctx, len(faults), func(i int) error {
		missed[i] = p.tryFault(ctx, faults[i])
		if missed[i] != nil {
			fmt.Fprintln(p.log, missed[i])
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	printFaults(w, faults, missed)
	if n := len(slices.DeleteFunc(missed, func(err error) bool { return err == nil })); n > 0 {
		return fmt.Errorf("%d of %d faults are not noticed", n, len(faults))
	}
	return nil
}

// lacksCompiler returns the reason why kernels cannot be compiled for the host, or nil.
func lacksCompiler() (err error) {
	for _, name := range []string{"clang++-19", "clang++"} {
		if _, err = exec.LookPath(name); err == nil {
			return nil
		}
	}
	return err
}

// several calls do for 0 ≤ i < n, with the project's number of parallel calls, until one fails.
func (p *Project) several(ctx context.Context, n int, do func(i int) error) error {
	var wg sync.WaitGroup
	var first error
	next := make(chan int)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range max(1, p.jobs) {
		wg.Go(func() {
			for i := range next {
				// A job that was assigned just before the end does not begin.
				if ctx.Err() != nil {
					continue
				}
				if err := do(i); err != nil {
					p.mu.Lock()
					if first == nil {
						first = err
					}
					p.mu.Unlock()
					stop()
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return first
}

// control prepares the tests of a fault, without the fault. They run when the first fault needs them.
func (p *Project) control(ctx context.Context, f *Fault) {
	if p.stages[f.Tests] != nil {
		return
	}
	dir, names, _ := strings.Cut(f.Tests, " ")
	if p.binaries[dir] == nil {
		p.binaries[dir] = sync.OnceValue(func() error { return p.buildTests(ctx, dir, p.scratch) })
	}
	s := &Stage{Name: f.Tests, dir: filepath.Join(p.root, dir)}
	s.argv = []string{testsIn(p.scratch, dir), "-test.failfast", "-test.timeout=0"} // see try
	if f.inKernel() {
		s.env = []string{"ECCBENCH_REQUIRE_FAKE=1"}
	} else {
		s.argv = append(s.argv, "-test.short")
	}
	if names != "" {
		s.argv = append(s.argv, "-test.run=^("+names+")$")
	}
	s.ready = sync.OnceValue(func() error {
		if err := p.binaries[dir](); err != nil {
			return err
		}
		return s.time(ctx, p.scratch)
	})
	p.stages[f.Tests] = s
}

// testsIn returns the path of the test program of a package in a folder.
func testsIn(folder, dir string) string {
	return filepath.Join(folder, strings.ReplaceAll(dir, "/", "-")+".test")
}

// buildTests builds the tests of a package into a folder.
func (p *Project) buildTests(ctx context.Context, dir, into string, overlay ...string) error {
	args := append([]string{"test", "-c", "-vet=off"}, overlay...) // go vet would reject some faults
	return p.build(ctx, append(args, "-ldflags=-s -w", "-o", testsIn(into, dir), "./"+dir)...)
}

// build runs the go command in the project's folder.
func (p *Project) build(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// tryFault returns nil if the declared check notices the fault.
func (p *Project) tryFault(ctx context.Context, f *Fault) error {
	control := p.stages[f.Tests]
	if err := control.ready(); err != nil {
		return fmt.Errorf("%s/%s: %w", f.Area, f.Name, err)
	}
	into, err := os.MkdirTemp(p.scratch, "fault-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(into)
	s := &Stage{
		Name: control.Name, dir: control.dir, argv: control.argv, env: control.env, takes: control.takes, uses: control.uses,
	}
	if err := p.plant(ctx, f, into, s); err != nil {
		return fmt.Errorf("%s/%s is stale: %w", f.Area, f.Name, err)
	}
	failed, out, err := s.try(ctx, p.scratch)
	if s.late && err == nil { // a busy machine, which delays the unchanged program too, notices nothing
		now := &Stage{Name: control.Name, dir: control.dir, argv: control.argv, env: control.env}
		if err = now.time(ctx, p.scratch); err == nil && now.takes > s.takes {
			s.takes, s.uses = now.takes, now.uses
			failed, out, err = s.try(ctx, p.scratch)
		}
	}
	switch {
	case err != nil:
		return err
	case f.inKernel() && compilerError.MatchString(out):
		return fmt.Errorf("%s/%s is stale: the kernel does not compile\n%s", f.Area, f.Name, out)
	case !failed:
		return fmt.Errorf("%s/%s SURVIVES %s\n%s", f.Area, f.Name, f.Tests, out)
	case p.verbose:
		fmt.Fprintf(p.log, "%s/%s: noticed by %q\n", f.Area, f.Name, failedTest.FindStringSubmatch(out))
	}
	return nil
}

// plant prepares a stage with a fault: its tests with a changed file, or the unchanged tests with changed kernels.
func (p *Project) plant(ctx context.Context, f *Fault, into string, s *Stage) error {
	if f.inKernel() {
		kernels := filepath.Join(into, "kernels")
		text, err := f.changed(p.root)
		if err == nil {
			err = os.CopyFS(kernels, os.DirFS(filepath.Join(p.root, "kernels")))
		}
		s.env = append(slices.Clip(s.env), "ECCBENCH_KERNELS="+kernels)
		return cmp.Or(err, os.WriteFile(filepath.Join(into, filepath.FromSlash(f.File)), text, 0o666))
	}
	overlay, err := f.overlay(p.root, into)
	if err != nil {
		return err
	}
	dir, _, _ := strings.Cut(f.Tests, " ")
	s.argv = append([]string{testsIn(into, dir)}, s.argv[1:]...)
	return p.buildTests(ctx, dir, into, "-overlay="+overlay)
}

// changed returns the text of the file with the fault.
func (f *Fault) changed(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.File)))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), f.Before); n != 1 {
		return nil, fmt.Errorf("%s has %d places like %q; want one", f.File, n, f.Before)
	}
	return []byte(strings.Replace(string(text), f.Before, f.After, 1)), nil
}

// overlay writes the changed file and the list that the go command takes.
func (f *Fault) overlay(root, into string) (string, error) {
	text, err := f.changed(root)
	if err != nil {
		return "", err
	}
	real, changed := filepath.Join(root, filepath.FromSlash(f.File)), filepath.Join(into, filepath.Base(f.File))
	if err := os.WriteFile(changed, text, 0o666); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {real: changed}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(into, "overlay.json")
	return name, os.WriteFile(name, list, 0o666)
}

// printFaults writes the table by area.
func printFaults(w io.Writer, faults []*Fault, missed []error) {
	fmt.Fprint(w, "| area | faults | noticed |\n|---|---|---|\n")
	line := func(area string, in func(*Fault) bool) {
		all, noticed := 0, 0
		for i, f := range faults {
			if in(f) {
				all++
				if missed[i] == nil {
					noticed++
				}
			}
		}
		fmt.Fprintf(w, "| %s | %d | %d |\n", area, all, noticed)
	}
	seen := map[string]bool{}
	for _, f := range faults {
		if !seen[f.Area] {
			seen[f.Area] = true
			line(f.Area, func(g *Fault) bool { return g.Area == f.Area })
		}
	}
	line("all", func(*Fault) bool { return true })
}
