package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Project is a program whose mutants are run.
type Project struct {
	root    string
	command string // folder of the program with the command verify, or ""
	targets []Target
	inputs  []string
	seed    string
	each    int // number of mutants of a target, 0 for all
	jobs    int
	log     io.Writer
	verbose bool
	lazy    bool          // tests run only for mutants that verify does not notice
	quick   bool          // the package's own tests are first, and end the mutant if they notice it
	list    []*Mutant     // only these mutants, if any
	limit   time.Duration // time after which no mutant begins, and running ones end soon; 0 for no limit

	scratch  string
	stages   map[string]*Stage
	program  func() error            // builds the program
	binaries map[string]func() error // builds the tests of packages
	mu       sync.Mutex
	building atomic.Int64 // processor time of builds in nanoseconds
}

// A Result tells which stage noticed a mutant.
type Result struct {
	*Mutant
	Verify, Tests string // the stage that noticed it, or ""
	Reached       bool   // a stage reached it
	ByVerify      bool   // verify reached it
	asked         bool   // verify is one of the stages
}

// Run samples mutants, builds them, and runs each as time permits. If it is interrupted, it returns
// the results of the finished mutants.
func (p *Project) Run(ctx context.Context) (*Results, error) {
	began := time.Now()
	var err error
	if p.scratch, err = os.MkdirTemp("", "mutate-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(p.scratch)
	p.stages, p.binaries = map[string]*Stage{}, map[string]func() error{}
	results := &Results{targets: p.targets, places: map[string]int{}}

	var dirs []string
	for _, t := range p.targets {
		if t.dir != "" && !slices.Contains(dirs, t.dir) {
			dirs = append(dirs, t.dir)
		}
	}
	packages := map[string]*Package{}
	if len(dirs) > 0 {
		if packages, err = load(p.root, dirs); err != nil {
			return nil, err
		}
	}
	chosen := map[string][]*Mutant{} // by the folder of the package
	var samples [][]*Mutant
	var kernels []*Mutant
	wanted := map[string]int{} // for kernels, by target
	functions, id := 0, 0
	numbered := map[any]*function{}
	for _, t := range p.targets {
		var all []*Mutant
		switch {
		case t.dir == "":
			if all, err = kernelMutants(p.root, t.Name); err != nil {
				return nil, err
			}
		case t.part == "":
			all = packages[t.dir].mutants()
		default:
			all = packages[t.dir].asmMutants(t.part)
		}
		if p.list != nil {
			all = slices.DeleteFunc(all, func(m *Mutant) bool { return !slices.ContainsFunc(p.list, m.same) })
		}
		candidates := all
		shuffle(candidates, p.seed, (*Mutant).content)
		want := p.sample(t, len(candidates))
		results.places[t.Name] = len(candidates)
		if t.dir == "" {
			kernels = append(kernels, candidates...)
			wanted[t.Name] = want
			continue
		}
		// Mutants that do not compile are replaced by the next ones.
		var good []*Mutant
		for taken := 0; taken < want && len(candidates) > 0; {
			n := min(len(candidates), 2*(want-taken)+4)
			part := candidates[:n]
			candidates = candidates[n:]
			for _, m := range part {
				id++
				m.ID, m.Target = id, t.Name
				key := any(m.function.decl)
				if fn := numbered[key]; fn != nil {
					m.function = fn
				} else {
					functions++
					m.function.index = functions
					numbered[key] = m.function
				}
			}
			bad, err := packages[t.dir].refused(part)
			if err != nil {
				return nil, err
			}
			for _, m := range part {
				if !bad[m] && taken < want {
					taken++
					good = append(good, m)
				}
			}
		}
		chosen[t.dir] = append(chosen[t.dir], good...)
		samples = append(samples, good)
	}
	overlay, err := p.overlay(packages, chosen)
	if err != nil {
		return nil, err
	}
	byTarget := map[string][]*Stage{}
	for _, t := range p.targets {
		if t.dir == "" {
			continue
		}
		byTarget[t.Name] = p.prepare(ctx, t, overlay)
	}
	order := interleave(samples)
	results.All = make([]*Result, len(order))
	if p.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		ending := time.AfterFunc(p.limit+late-time.Since(began), stop)
		defer ending.Stop()
	}
	err = p.several(ctx, len(order), func(i int) error {
		if p.limit > 0 && time.Since(began) > p.limit {
			return nil
		}
		r, err := p.try(ctx, order[i], byTarget[order[i].Target])
		if err == nil {
			results.All[i] = r
		}
		return err
	})
	results.All = slices.DeleteFunc(results.All, func(r *Result) bool { return r == nil })
	if results.left = len(order) - len(results.All); results.left == 0 && len(kernels) > 0 {
		err = p.tryKernels(ctx, kernels, wanted, results)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	for _, s := range p.stages {
		if s.broken != "" {
			results.Broken = append(results.Broken, s.broken)
		}
	}
	slices.Sort(results.Broken)
	results.took = time.Since(began)
	results.used = map[string]time.Duration{"": time.Duration(p.building.Load())}
	for _, s := range p.stages {
		results.used[s.Kind] += time.Duration(s.used.Load())
	}
	return results, nil
}

// late is the time after the limit until running mutants end.
const late = 40 * time.Second

// interleave merges samples so that each part of the list has the same share of every sample.
func interleave(samples [][]*Mutant) []*Mutant {
	var all []*Mutant
	at := map[*Mutant]float64{}
	for _, s := range samples {
		for i, m := range s {
			at[m] = (float64(i) + 0.5) / float64(len(s))
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *Mutant) int { return cmp.Compare(at[a], at[b]) })
	return all
}

// sample returns the number of mutants to run for a target with most mutants.
func (p *Project) sample(t Target, most int) int {
	if p.each == 0 {
		return most
	}
	share := t.share
	if share == 0 {
		share = 100
	}
	return min(most, (p.each*share+99)/100)
}

// overlay writes the rewritten files and their list for the go command.
func (p *Project) overlay(packages map[string]*Package, chosen map[string][]*Mutant) (string, error) {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for dir, mutants := range chosen {
		files, _ := packages[dir].rewrite(mutants)
		for name, text := range files {
			to := filepath.Join(p.scratch, "overlay", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return "", err
			}
			if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
				return "", err
			}
			list.Replace[filepath.Join(p.root, filepath.FromSlash(name))] = to
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	name := filepath.Join(p.scratch, "overlay.json")
	return name, os.WriteFile(name, data, 0o666)
}

// build runs the go command in the project's folder.
func (p *Project) build(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.root
	out, err := cmd.CombinedOutput()
	p.building.Add(int64(processorTime(cmd)))
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// prepare lists the stages that may notice the mutants of a target. They are built and measured
// when the first mutant reaches them.
func (p *Project) prepare(ctx context.Context, t Target, overlay string) (list []*Stage) {
	add := func(s *Stage, binary func() error) {
		if known := p.stages[s.Name]; known != nil {
			list = append(list, known)
			return
		}
		s.cores = max(2, runtime.NumCPU()/max(1, p.jobs))
		s.ready = sync.OnceValue(func() error {
			if err := binary(); err != nil {
				return err
			}
			if err := s.measure(ctx, p.scratch); err != nil {
				return err
			}
			if p.verbose {
				fmt.Fprintf(p.log, "%s: %.1f s, %.1f s of the processor, comes to %d functions%s\n", s.Name, s.takes.Seconds(), s.uses.Seconds(), len(s.reached), s.broken)
			}
			return nil
		})
		p.stages[s.Name] = s
		list = append(list, s)
	}
	program := filepath.Join(p.scratch, "program")
	if p.program == nil {
		p.program = sync.OnceValue(func() error {
			return p.build(ctx, "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "./"+p.command)
		})
	}
	for _, args := range t.verify {
		argv := append([]string{program, "verify", "--quiet", "--fail-fast", "--time-limit", "20s"}, args...)
		name := "verify " + strings.Join(args, " ")
		if !t.own {
			given := slices.Clone(argv)
			for _, in := range p.inputs {
				given = append(given, "--input", in)
			}
			add(&Stage{Kind: byVerify, Name: name, dir: p.scratch, argv: given}, p.program)
			name += " of all"
		}
		if t.own || t.whole {
			add(&Stage{Kind: byVerify, Name: name, dir: p.scratch, argv: argv}, p.program)
		}
	}
	for _, name := range t.tests {
		dir, test, one := strings.Cut(name, " ")
		binary := filepath.Join(p.scratch, strings.ReplaceAll(dir, "/", "-")+".test")
		argv := []string{binary, "-test.failfast", "-test.timeout=10m"}
		if one {
			argv = append(argv, "-test.run=^"+test+"$")
		}
		if !strings.HasSuffix(test, "OnHost") { // none of these is short
			argv = append(argv, "-test.short")
		}
		if p.binaries[dir] == nil {
			p.binaries[dir] = sync.OnceValue(func() error {
				// One command compiles the packages of the program, instead of every test in
				// parallel.
				if p.command != "" {
					if err := p.program(); err != nil {
						return err
					}
				}
				// go vet would reject mutants.
				return p.build(ctx, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+dir)
			})
		}
		add(&Stage{Kind: byTests, Name: "tests of " + name, dir: filepath.Join(p.root, dir), argv: argv}, p.binaries[dir])
	}
	tests := func(s *Stage) bool { return s.Kind == byTests }
	switch first := slices.IndexFunc(list, tests); {
	case p.quick && first > 0:
		own := list[first]
		list = slices.Insert(slices.Delete(list, first, first+1), 0, own)
	case p.lazy && t.tested && first > 0:
		list = slices.Concat(list[first:], list[:first])
	}
	return list
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

// try runs the stages that reach a mutant. It runs each kind until one fails. It stops earlier if
// one kind is only for mutants that the other does not notice, or if any failure is enough.
func (p *Project) try(ctx context.Context, m *Mutant, stages []*Stage) (*Result, error) {
	r := &Result{Mutant: m}
	for _, s := range stages {
		noticed := &r.Tests
		if s.Kind == byVerify {
			noticed = &r.Verify
		}
		if *noticed != "" || p.lazy && (r.Verify != "" || r.Tests != "") || p.quick && r.Tests != "" {
			continue
		}
		if err := s.ready(); err != nil {
			return nil, err
		}
		if s.useless || !s.reached[m.function.index] {
			continue
		}
		r.Reached = true
		r.ByVerify = r.ByVerify || s.Kind == byVerify
		failed, _, err := s.try(ctx, m.ID, p.scratch)
		if err != nil {
			return nil, err
		}
		if failed {
			*noticed = s.Name
		}
	}
	r.asked = slices.ContainsFunc(stages, func(s *Stage) bool { return s.Kind == byVerify })
	p.say(r)
	return r, nil
}

func (p *Project) say(r *Result) {
	if !p.verbose {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	what := "SURVIVES"
	if by := strings.Trim(r.Verify+", "+r.Tests, ", "); by != "" {
		what = "noticed by " + by
		if r.Verify == "" && r.ByVerify {
			what += ", not by verify, which comes to it"
		}
	} else if !r.Reached {
		what = "NOT REACHED"
	}
	fmt.Fprintf(p.log, "%s: %s\n", r.Mutant, what)
}

// tryKernels runs the tests of kernels on the host with changed sources in sequence, each in a copy
// of the folder of kernels. want is the number of compiling mutants for each target.
func (p *Project) tryKernels(ctx context.Context, candidates []*Mutant, want map[string]int, results *Results) error {
	home := filepath.Join(p.scratch, "host")
	kernels := filepath.Join(home, "kernels")
	if err := os.CopyFS(kernels, os.DirFS(filepath.Join(p.root, "kernels"))); err != nil {
		return err
	}
	taken := map[string]int{}
	for _, m := range candidates {
		if taken[m.Target] == want[m.Target] {
			continue
		}
		name := filepath.Join(home, filepath.FromSlash(m.File))
		real, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(apply(string(real), m.edit)), 0o666); err != nil {
			return err
		}
		r := &Result{Mutant: m, Reached: true}
		refused := false
		for _, test := range kernelTests[m.File] {
			s, err := p.kernelStage(ctx, home, test)
			if err != nil {
				return err
			}
			failed, out, err := s.try(ctx, 0, p.scratch)
			if err != nil {
				return err
			}
			if failed && uncompiled(out) {
				refused = true
				break
			}
			if failed {
				r.Tests = s.Name
				break
			}
		}
		if err := os.WriteFile(name, real, 0o666); err != nil {
			return err
		}
		if !refused {
			taken[m.Target]++
			results.All = append(results.All, r)
			p.say(r)
		}
	}
	return nil
}

// kernelStage builds and measures tests of kernels on the host. It measures the project's kernels,
// because the kernels in home may be a mutant.
func (p *Project) kernelStage(ctx context.Context, home string, test [2]string) (*Stage, error) {
	name := "tests of " + test[0] + ", " + test[1]
	if s := p.stages[name]; s != nil {
		return s, nil
	}
	binary := filepath.Join(p.scratch, "host-"+strings.ReplaceAll(test[0], "/", "-")+".test")
	if _, err := os.Stat(binary); err != nil {
		if err := p.build(ctx, "test", "-c", "-o", binary, "./"+test[0]); err != nil {
			return nil, err
		}
	}
	s := &Stage{Kind: byTests, Name: name, dir: filepath.Join(p.root, test[0]),
		argv: []string{binary, "-test.run", "^" + test[1], "-test.failfast", "-test.timeout=10m"}}
	if err := s.time(ctx, 0, p.scratch, "ECCBENCH_REQUIRE_FAKE=1"); err != nil {
		return nil, err
	}
	s.dir = filepath.Join(home, test[0])
	p.stages[name] = s
	return s, os.MkdirAll(s.dir, 0o777)
}
