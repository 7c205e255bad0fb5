//go:build unix

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"eccbench/impls"
	"eccbench/impls/betti/duality"
	curvesduality "eccbench/impls/betticurves/duality"
	"eccbench/impls/cpu"
	"eccbench/impls/eigenmap/lanczos"
	eigenmultigrid "eccbench/impls/eigenmap/multigrid"
	"eccbench/impls/extrema"
	"eccbench/impls/gvf/blocked"
	"eccbench/impls/gvf/multigrid"
	pairsdefinition "eccbench/impls/pairs/definition"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/resident"
	"eccbench/internal/runner"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/pairs"
)

// The test binary is also eccbench, with clocks of its own, or with the machine's as
// eccbench-timed. eccbench-planted has implementations that fail in every way, and
// eccbench-<defect> has a cpu with that defect. Workers run the same binary.
func TestMain(m *testing.M) {
	programs := map[string]func(){
		"eccbench":         func() { start(same) },
		"eccbench-timed":   main,
		"eccbench-planted": func() { start(planted) },
		// A job that hangs on a device does not inform the clock of the tests.
		"eccbench-planted-timed": func() {
			c := programWith(planted)
			c.Clock = nil
			os.Exit(eccbench(c, os.Args[1:]))
		},
		"eccbench-betti":    func() { os.Exit(eccbench(plantedBetti(), os.Args[1:])) },
		"eccbench-misses":   func() { start(missing) },
		"eccbench-gvf":      func() { os.Exit(eccbench(plantedGVF(), os.Args[1:])) },
		"eccbench-eigenmap": func() { os.Exit(eccbench(plantedEigenmap(), os.Args[1:])) },
		"eccbench-silent":   func() {}, // succeeds, and writes nothing
		"eccbench-late":     late,
		"eccbench-ticking":  ticking,
		"guest":             guest(200000, 0),
		"guest-slower":      guest(210000, 0),
		"guest-wrong":       guest(200000, 1),
	}
	for _, kind := range []string{"crash", "hang", "liar", "fast", "slower", "hoarder"} {
		programs["eccbench-"+kind] = func() { start(defective(kind)) }
	}
	testscript.Main(m, programs)
}

// A change modifies a program's implementations. The clock is that of its workers.
type change func(list []implementation, open resident.Opener, clock *metronome) []implementation

func same(list []implementation, _ resident.Opener, _ *metronome) []implementation { return list }

// programWith is eccbench with other implementations than the project's; its workers are
// this program.
func programWith(c change) *cli.Program {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	open, clock := impls.Devices(), newMetronome()
	with := &cli.Program{
		Set: impls.With(c(impls.List(open), open, clock), open), Worker: []string{self, "worker"},
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Clock: patient(),
	}
	if isWorker() {
		with.Clock = clock.time
	}
	return with
}

func isWorker() bool { return len(os.Args) > 1 && os.Args[1] == "worker" }

func start(c change) { os.Exit(eccbench(programWith(c), os.Args[1:])) }

// missing is eccbench whose extrema leaves out the last row.
func missing(list []implementation, _ resident.Opener, _ *metronome) []implementation {
	for i, impl := range list {
		if impl.About().Name == ask.EveryImpl {
			list[i] = renamed{extrema.Faulty(extrema.LastRow), ask.EveryImpl}
		}
	}
	return list
}

// late is eccbench that crashes when its rows are written.
func late() {
	if isWorker() {
		start(same)
	}
	eccbench(programWith(same), os.Args[1:])
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// defective is eccbench with a defect of a kind in cpu.
func defective(kind string) change {
	return func(list []implementation, _ resident.Opener, clock *metronome) []implementation {
		for i, impl := range list {
			if impl.About().Name == "cpu" {
				list[i] = misbehaving{kind: kind, clock: clock}
			}
		}
		return list
	}
}

func TestScripts(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector slows the workers of the scripts to minutes; what runs beside each other is under it in the packages' own tests")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "long":
				return ecctest.Long(), nil
			case "slurm":
				return hasSlurm()
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(e *testscript.Env) error {
			scripts, err := filepath.Abs("../../scripts")
			e.Setenv("SCRIPTS", scripts)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"lines":  lines,
			"append": appendTo,
			"gated":  gated,
			"locate": locate,
			"slurm":  slurm,
			"s3":     serveS3,
			"web":    serveWeb,
		},
	})
}

// planted is eccbench with implementations that fail.
func planted(list []implementation, open resident.Opener, clock *metronome) []implementation {
	for i, fault := range cpu.Faults() {
		list = append(list, renamed{cpu.Faulty(fault), "fault" + string(rune('1'+i))})
	}
	for _, name := range []string{"crash", "exit", "hang", "hog", "liar", "flaky", "stale", "fast", "waiter", "vandal"} {
		list = append(list, renamed{misbehaving{kind: name, clock: clock, wait: sync.OnceFunc(wait)}, name})
	}
	return append(append(list, plantedKernels(open)...), failingKernels(open)...)
}

// plantedBetti is eccbench with implementations of the workloads of Betti numbers that have a fault: the outside as a
// cavity, a component too many in a slab, and a component too many at the first level.
func plantedBetti() *cli.Program {
	c := programWith(same)
	wrong := judgedtest.Spoiled(duality.Implementation{}, func(_ *betti.Image, n betti.Numbers) betti.Numbers {
		return betti.Numbers{B0: n.B0, B1: n.B1 + 1, B2: n.B2 + 1}
	})
	c.Betti.Impls = append(c.Betti.Impls, wrongSlabber{renamedAs[*betti.Image, betti.Numbers]{wrong, "fault"}, duality.Implementation{}})
	curves := judgedtest.Spoiled(curvesduality.Implementation{Counter: extrema.Implementation{}}, func(_ grid.Source, c betti.Curves) betti.Curves {
		c = slices.Clone(c)
		c[0].B0++
		return c
	})
	c.BettiCurves.Impls = append(c.BettiCurves.Impls, renamedAs[grid.Source, betti.Curves]{curves, "fault"})
	c.Pairs.Impls = append(c.Pairs.Impls, wrongPairs{})
	for i, b := range c.Benches {
		if b.Name() == c.Betti.Name {
			c.Benches[i] = runner.Bind(c.Betti)
		}
	}
	return c
}

// wrongPairs leaves out a pair.
type wrongPairs struct{ pairsdefinition.Implementation }

func (w wrongPairs) About() bench.About {
	about := w.Implementation.About()
	about.Name = "fault"
	return about
}

func (w wrongPairs) In(c ecc.Convention) pairs.Implementation {
	return wrongPairs{pairsdefinition.Implementation{Convention: c}}
}

func (w wrongPairs) Setup(in grid.Source, c bench.Conditions) (bench.Job[pairs.Answer], error) {
	return judgedtest.Spoiled(w.Implementation, func(_ grid.Source, a pairs.Answer) pairs.Answer {
		a.Pairs = a.Pairs[1:]
		return a
	}).Setup(in, c)
}

// A wrongSlabber answers for slabs, too.
type wrongSlabber struct {
	renamedAs[*betti.Image, betti.Numbers]
	right betti.Slabber
}

func (w wrongSlabber) Slab(p betti.Piece, threads int) (betti.Slab, error) {
	s, err := w.right.Slab(p, threads)
	s.Set.Inner++
	return s, err
}

// plantedGVF is eccbench with implementations of gradient vector flow that have a fault: another rounding of a
// component, and a component that is not computed.
func plantedGVF() *cli.Program {
	type flow = renamedAs[*gvf.Problem, gvf.Flow]
	c := programWith(same)
	c.Flow.Impls = append(c.Flow.Impls, flow{judgedtest.Spoiled(blocked.Implementation{}, func(_ *gvf.Problem, f gvf.Flow) gvf.Flow {
		first := slices.Clone(f.V[0])
		first[len(first)/2] = math.Nextafter32(first[len(first)/2], 1)
		return gvf.Flow{V: append([][]float32{first}, f.V[1:]...)}
	}), "fault"})
	c.Steady.Impls = append(c.Steady.Impls, flow{judgedtest.Spoiled(multigrid.Implementation{}, func(_ *gvf.Problem, f gvf.Flow) gvf.Flow {
		last := len(f.V) - 1
		return gvf.Flow{V: append(slices.Clone(f.V[:last]), f.V[last-1])}
	}), "fault"})
	for i, b := range c.Benches {
		switch b.Name() {
		case c.Flow.Name:
			c.Benches[i] = runner.Bind(c.Flow)
		case c.Steady.Name:
			c.Benches[i] = runner.Bind(c.Steady)
		}
	}
	return c
}

// plantedEigenmap is eccbench with implementations of eigenmaps that have a fault: a vector that appears twice, values of
// float32, and another number of T.
func plantedEigenmap() *cli.Program {
	type planted = renamedAs[*eigenmap.Problem, eigenmap.Map]
	c := programWith(same)
	c.Voxels.Impls = append(c.Voxels.Impls, planted{judgedtest.Spoiled(eigenmultigrid.Implementation{}, func(_ *eigenmap.Problem, m eigenmap.Map) eigenmap.Map {
		m.Values, m.Vectors = slices.Clone(m.Values), slices.Clone(m.Vectors)
		m.Values[2], m.Vectors[2] = m.Values[1], m.Vectors[1]
		return m
	}), "fault1"}, planted{judgedtest.Spoiled(eigenmultigrid.Implementation{}, func(_ *eigenmap.Problem, m eigenmap.Map) eigenmap.Map {
		m.Values = slices.Clone(m.Values)
		m.Values[1] = float64(float32(1) - float32(1-m.Values[1]) + 1.0/(1<<24))
		return m
	}), "fault2"})
	c.Lanczos.Impls = append(c.Lanczos.Impls, planted{judgedtest.Spoiled(lanczos.Implementation{}, func(_ *eigenmap.Problem, m eigenmap.Map) eigenmap.Map {
		m.Diagonal = slices.Clone(m.Diagonal)
		m.Diagonal[1] += 1e-6
		return m
	}), "fault"})
	for i, b := range c.Benches {
		switch b.Name() {
		case c.Voxels.Name:
			c.Benches[i] = runner.Bind(c.Voxels)
		case c.Lanczos.Name:
			c.Benches[i] = runner.Bind(c.Lanczos)
		}
	}
	return c
}

type implementation = bench.Implementation[grid.Source, ecc.VCEC]

type renamed = renamedAs[grid.Source, ecc.VCEC]

// renamedAs is an implementation under another name.
type renamedAs[In, Out any] struct {
	bench.Implementation[In, Out]
	name string
}

func (r renamedAs[In, Out]) About() bench.About {
	a := r.Implementation.About()
	a.Name = r.name
	if r.name == "vandal" {
		a.Where = "gpu" // where inputs are pinned, and can be written to
	}
	return a
}

// misbehaving is the cpu implementation with a defect of a kind.
type misbehaving struct {
	cpu.Implementation
	kind  string
	clock *metronome
	wait  func() // of waiter
}

func (m misbehaving) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	job, err := m.Implementation.Setup(in, c)
	return &misbehavingJob{Job: job, misbehaving: m, in: in}, err
}

type misbehavingJob struct {
	bench.Job[ecc.VCEC]
	misbehaving
	in       grid.Source
	calls    int
	hog      [][]byte
	kept     ecc.VCEC
	poisoned bool
}

func (j *misbehavingJob) Poison() {
	j.poisoned = true
	j.Job.Poison()
}

func (j *misbehavingJob) Do(t *bench.Trace) error {
	j.calls++
	j.poisoned = false
	switch j.kind {
	case "crash":
		panic("the planted crash")
	case "exit":
		return errors.New("the planted error")
	case "hang":
		hang()
	case "hog":
		for {
			b := make([]byte, 64<<20)
			for i := range b {
				b[i] = 1
			}
			j.hog = append(j.hog, b)
		}
	case "fast":
		if j.kept != nil {
			j.clock.until(time.Microsecond)
			return nil // answers from memory
		}
	case "stale":
		if j.calls > 1 {
			return nil // leaves the poison
		}
	case "vandal":
		if f, ok := j.in.(*grid.Field); ok && j.calls == 2 {
			f.Data()[0] ^= 1
		}
	case "waiter":
		j.wait()
	case "slower":
		j.clock.until(3 * j.clock.beat)
	case "hoarder":
		j.hog = append(j.hog, make([]byte, 1000))
	}
	return j.Job.Do(t)
}

func (j *misbehavingJob) Out() (ecc.VCEC, error) {
	out, err := j.Job.Out()
	switch {
	case j.kind == "liar" && len(out) > 0:
		out[len(out)/2].Change++
	case j.kind == "flaky" && j.calls%3 == 2 && len(out) > 0:
		out[0].Change++
	case j.kind == "fast" && j.poisoned: // the poison remains until it answers
	case j.kind == "fast" && j.kept == nil:
		j.kept = out
	case j.kind == "fast":
		out = j.kept
	}
	return out, err
}

// hasSlurm reports whether a Slurm of one node can be started. If the tests require it, its absence
// is an error.
func hasSlurm() (bool, error) {
	var err error
	for _, program := range []string{"slurmctld", "slurmd", "sbatch", "munged", "bash"} {
		_, e := exec.LookPath(program)
		err = cmp.Or(err, e)
	}
	if err == nil && os.Getuid() != 0 {
		err = errors.New("a Slurm of one node is root's")
	}
	if os.Getenv("ECCBENCH_REQUIRE_SLURM") == "" {
		return err == nil, nil
	}
	return err == nil, err
}

// slurm starts a Slurm of one node until the script ends.
func slurm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: slurm")
	}
	script, folder := ts.Getenv("SCRIPTS")+"/slurm/single-node.sh", ts.MkAbs("slurm")
	ts.Defer(func() {
		if out, err := exec.Command(script, "stop", folder).CombinedOutput(); err != nil {
			ts.Logf("stopping Slurm: %v: %s", err, out)
		}
	})
	ts.Check(ts.Exec(script, "start", folder))
	ts.Setenv("SLURM_CONF", folder+"/slurm.conf")
}

// exits runs a program and requires an exit code: exits CODE PROGRAM ARGS…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// appendTo writes text to the end of a file, without a line end: append FILE TEXT
func appendTo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append FILE TEXT")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	_, err = f.WriteString(args[1])
	ts.Check(errors.Join(err, f.Close()))
}

// lines requires a number of lines in a file: lines FILE N
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, "\n"); args[1] != itoa(n) {
		ts.Fatalf("%s has %d lines, want %s:\n%s", args[0], n, args[1], text)
	}
}

// Output that cannot be written is an error of each command, whatever the command prints.
func TestLostOutput(t *testing.T) {
	closed, err := os.Open(os.DevNull) // cannot be written to
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	for _, line := range []string{
		"--help", "--version", "help run", "curve --help", "list", "list --format md", "list --format json",
		"curve noise/shape=4x4/type=uint8", "betti noise/shape=4x4/type=uint8 --at 3", "pairs noise/shape=4x4/type=uint8",
		"levels noise/shape=4x4/type=float32", "homology torus",
	} {
		var stderr bytes.Buffer
		args := strings.Fields(line)
		code := eccbench(&cli.Program{Set: impls.All(impls.Devices()), Stdout: closed, Stderr: &stderr}, args)
		if code != cli.ExitFailure || !strings.HasPrefix(stderr.String(), "eccbench: ") {
			t.Errorf("%q: exit code %d, want %d: %s", args, code, cli.ExitFailure, &stderr)
		}
	}
}

// Without /proc the program's file is not found. Only commands that start it need it.
func TestProgramWithoutFile(t *testing.T) {
	for line, want := range map[string]int{
		"curve noise/shape=4x4/type=uint8": cli.ExitOK, "run --sizes 4 --impl cpu": cli.ExitFailure, "doctor": cli.ExitFailure,
		"verify --impl cpu": cli.ExitFailure, "gate --self-test": cli.ExitFailure, "paper wang2022": cli.ExitFailure,
	} {
		var stdout, stderr bytes.Buffer
		c := cli.Program{Set: impls.All(impls.Devices()), Stdout: &stdout, Stderr: &stderr}
		args := strings.Fields(line)
		code := eccbench(&c, args)
		if code != want || code != 0 && stderr.String() != "eccbench: "+args[0]+" starts processes of its own program, "+
			"whose file is not found without /proc: mount it (mount -t proc proc /proc)\n" {
			t.Errorf("%q: exit code %d, want %d: %s", line, code, want, &stderr)
		}
	}
}

// The version names the source or the executable.
func TestVersion(t *testing.T) {
	known := regexp.MustCompile(`^eccbench .*(commit|sha256) [0-9a-f]{16}|^eccbench v`)
	if got := cli.Version(); !known.MatchString(got) {
		t.Errorf("%q", got)
	}
}
