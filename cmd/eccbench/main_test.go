package main

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"eccbench/impls"
	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
)

// The test binary is also eccbench itself, eccbench-planted, which has
// implementations that fail in every way, and eccbench-<defect>, whose cpu has
// that one. They start their workers as themselves.
func TestMain(m *testing.M) {
	programs := map[string]func(){
		"eccbench":         main,
		"eccbench-planted": planted,
		"eccbench-silent":  func() {}, // succeeds, and writes nothing
		"eccbench-late":    late,
	}
	for _, kind := range []string{"crash", "hang", "liar", "fast", "slower", "hoarder"} {
		programs["eccbench-"+kind] = func() { defective(kind) }
	}
	testscript.Main(m, programs)
}

// programWith is eccbench with other implementations than the project's; its workers are
// this program.
func programWith(change func(list []implementation, open resident.Opener) []implementation) *cli.Program {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	open := impls.Devices()
	return &cli.Program{Set: impls.With(change(impls.List(open), open), open), Worker: []string{self, "worker"}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
}

// late is eccbench that crashes when its rows are written.
func late() {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		main()
		return
	}
	c := programWith(func(list []implementation, _ resident.Opener) []implementation { return list })
	eccbench(c, os.Args[1:])
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// defective is eccbench with a defect of a kind in cpu.
func defective(kind string) {
	c := programWith(func(list []implementation, _ resident.Opener) []implementation {
		for i, impl := range list {
			if impl.About().Name == "cpu" {
				list[i] = misbehaving{kind: kind}
			}
		}
		return list
	})
	os.Exit(eccbench(c, os.Args[1:]))
}

func TestScripts(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector slows the workers of the scripts to minutes; what runs beside each other is under it in the packages' own tests")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"lines":    lines,
			"conforms": conforms,
			"gated":    gated,
			"locate":   locate,
		},
	})
}

// planted is eccbench with implementations that fail.
func planted() {
	c := programWith(func(list []implementation, open resident.Opener) []implementation {
		for i, fault := range cpu.Faults() {
			list = append(list, renamed{cpu.Faulty(fault), "fault" + string(rune('1'+i))})
		}
		for _, name := range []string{"crash", "exit", "hang", "hog", "liar", "flaky", "stale", "fast", "sleeper"} {
			list = append(list, renamed{misbehaving{kind: name}, name})
		}
		return append(append(list, plantedKernels(open)...), failingKernels(open)...)
	})
	os.Exit(eccbench(c, os.Args[1:]))
}

type implementation = bench.Implementation[grid.Source, ecc.VCEC]

// renamed is an implementation under another name.
type renamed struct {
	implementation
	name string
}

func (r renamed) About() bench.About {
	a := r.implementation.About()
	a.Name = r.name
	return a
}

// misbehaving is the cpu implementation with a defect of a kind.
type misbehaving struct {
	cpu.Implementation
	kind string
}

func (m misbehaving) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	job, err := m.Implementation.Setup(in, c)
	return &misbehavingJob{Job: job, kind: m.kind}, err
}

type misbehavingJob struct {
	bench.Job[ecc.VCEC]
	kind  string
	calls int
	hog   [][]byte
	kept  ecc.VCEC
}

func (j *misbehavingJob) Do(t *bench.Trace) error {
	j.calls++
	switch j.kind {
	case "crash":
		panic("the planted crash")
	case "exit":
		return errors.New("the planted error")
	case "hang":
		select {}
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
			return nil // answers from memory
		}
	case "stale":
		if j.calls > 1 {
			return nil // leaves what was there: the poison
		}
	case "sleeper":
		time.Sleep(300 * time.Millisecond)
	case "slower":
		time.Sleep(2 * time.Millisecond)
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
	case j.kind == "fast" && j.kept == nil:
		j.kept = out
	case j.kind == "fast":
		out = j.kept
	}
	return out, err
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
