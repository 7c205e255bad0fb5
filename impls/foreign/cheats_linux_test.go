package foreign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	bettidefinition "eccbench/impls/betti/definition"
	curvesduality "eccbench/impls/betticurves/duality"
	eigendefinition "eccbench/impls/eigenmap/definition"
	"eccbench/impls/extrema"
	gvfdefinition "eccbench/impls/gvf/definition"
	"eccbench/impls/naive"
	softdefinition "eccbench/impls/softecc/definition"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
)

// honestTime is the least time in which a cheater computes an answer.
const honestTime = 5 * time.Millisecond

// A cheater is an implementation of this program that wants a better number than it deserves.
type cheater struct {
	bench.Implementation[any, any]
	Question
	way    string
	memory map[string]any // answers by their questions
	turn   *int           // number of the next call
}

func (c cheater) Setup(in any, with bench.Conditions) (bench.Job[any], error) {
	j, err := c.Implementation.Setup(in, with)
	if err != nil {
		return nil, err
	}
	k := &cheating{Job: j, cheater: c, in: in}
	if c.way == "setup" {
		err = k.work()
	}
	return k, err
}

type cheating struct {
	bench.Job[any]
	cheater
	in, last any
}

// work computes the answer.
func (j *cheating) work() error {
	time.Sleep(honestTime)
	err := j.Job.Do(nil)
	if err == nil {
		j.last, err = j.Job.Out()
	}
	return err
}

// now is the way of the next call: "turns" works in another part in each, so no median of a part has all work.
func (j *cheating) now() string {
	if j.way == "turns" {
		return []string{"poison", "out", "poison", "out", "do"}[*j.turn%5]
	}
	return j.way
}

func (j *cheating) Poison() {
	if *j.turn++; j.now() == "poison" {
		j.work()
	} else if j.way != "setup" {
		j.last = nil
	}
}

func (j *cheating) Do(*bench.Trace) error {
	key := j.now()
	switch key {
	case "setup", "poison", "out":
		if j.way == "turns" {
			time.Sleep(honestTime / 5)
		}
		return nil
	case "memory", "stale":
		if s := j.image(j.in); key == "memory" {
			data := make([]byte, grid.TotalBytes(s))
			if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
				return err
			}
			key = fmt.Sprint(data, j.words(j.in))
		}
		if out, ok := j.memory[key]; ok {
			j.last = out
			return nil
		}
	}
	err := j.work()
	j.memory[key] = j.last
	return err
}

func (j *cheating) Out() (any, error) {
	if j.now() == "out" {
		j.work()
	}
	return j.last, nil
}

// cheatKey makes implementations cheat that run in the process of their judge.
const cheatKey = "ECCBENCH_TEST_FOREIGN_CHEAT"

func cheat(i bench.Implementation[any, any], q Question, way string) bench.Implementation[any, any] {
	return cheater{i, q, way, map[string]any{}, new(int)}
}

// A slowClock is the task of a process that reports half of its time.
type slowClock struct{ peers.Task }

func (s slowClock) Answer(trace bool) (map[string]time.Duration, error) {
	spans, err := s.Task.Answer(trace)
	for name := range spans {
		spans[name] /= 2
	}
	return spans, err
}

// serveCheats answers questions with a cheat.
func serveCheats(way string) int {
	s := Service{}
	serveCheat(s, Curves(), "ecc", naive.Implementation{}, way)
	serveCheat(s, Betti(), "betti", bettidefinition.Implementation{}, way)
	serveCheat(s, BettiCurves(), "betti-curves", curvesduality.Implementation{Counter: extrema.Implementation{}}, way)
	serveCheat(s, Flows(), "gvf", gvfdefinition.Implementation{}, way)
	serveCheat(s, Eigenmaps(), "eigenmap", eigendefinition.Implementation{}, way)
	serveCheat(s, SoftCurves(), "softecc", softdefinition.Implementation{}, way)
	return serve(s)
}

// A trespasser is the task of a process that attacks its judge.
type trespasser struct {
	peers.Task
	words
	kills bool
}

func (s trespasser) Answer(trace bool) (map[string]time.Duration, error) {
	if s.kills {
		unix.Kill(os.Getppid(), unix.SIGKILL)
		hang()
	}
	fd, err := unix.Open(s.words["image"], unix.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var is unix.Stat_t
	_, err = unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err == nil || unix.Fstat(fd, &is) != nil {
		return nil, errors.New("it can write to the image")
	}
	if shorten(fd, is.Size) {
		return nil, errors.New("it can shorten the image")
	}
	return s.Task.Answer(trace)
}

// shorten replaces the second half of a file by zeros, and reports whether it can.
func shorten(fd int, size int64) bool {
	return unix.Ftruncate(fd, size/2) == nil && unix.Ftruncate(fd, size) == nil
}

// lurk damages the inputs of later tasks, too.
var lurk = sync.OnceFunc(func() {
	go func() {
		for {
			shortenInputs()
			time.Sleep(50 * time.Microsecond)
		}
	}()
})

// shortenInputs damages the first input of its judge.
func shortenInputs() {
	open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", os.Getppid()))
	for _, path := range open {
		if to, _ := os.Readlink(path); !strings.Contains(to, "noise") || !strings.Contains(to, "seed=1 ") {
			continue
		}
		if fd, err := unix.Open(path, unix.O_RDWR, 0); err == nil {
			var is unix.Stat_t
			unix.Fstat(fd, &is)
			shorten(fd, is.Size)
			unix.Close(fd)
		}
	}
}

func serveCheat[In, Out any](s Service, q Question, workload string, i bench.Implementation[In, Out], way string) {
	w := alone(workload, i)
	w.Impls[0] = cheat(w.Impls[0], q, way)
	q.Serve(s, w, i.About().Name)
	bind := s[workload]
	s[workload] = func(w words) (peers.Task, error) {
		if way == "vandal" {
			shortenInputs()
		}
		if way == "lurker" {
			lurk()
		}
		t, err := bind(w)
		switch way {
		case "clock":
			t = slowClock{t}
		case "vandal", "killer":
			t = trespasser{t, w, way == "killer"}
		}
		return t, err
	}
}

// cheatsBefore are the results of such cheats of ecc at commit d6d1649d, where the implementation, its clock and its
// judge were one process: run --threads 1, an image of 4 MiB, and one of 240 KiB for "setup".
var cheatsBefore = map[string]string{
	"setup":  "VERIFIED, 0.15 of the honest time",
	"memory": "VERIFIED, 105 % of the ceiling",
	"poison": "VERIFIED, 94 % of the ceiling",
	"clock":  "VERIFIED, 0.52 of the honest time",
}

// No cheat of our own code is VERIFIED with a better number than its honest form. With -v it prints a table.
func TestCheatsOfOurOwn(t *testing.T) {
	const noise = "noise/shape=5x4x3/type=uint8/levels=9/seed=1"
	inputs := map[string]string{
		"ecc": noise, "betti": "betti/at=3/of=" + noise, "betti-curves": noise,
		"gvf":      "gvf/steps=2/mu=0.1/boundary=0/of=" + noise,
		"eigenmap": "eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=" + noise,
		"softecc":  "softecc/m=2/lambda=10/alpha=0.1/dir=1/of=" + noise,
	}
	for _, workload := range []string{"ecc", "betti", "betti-curves", "gvf", "eigenmap", "softecc"} {
		for _, way := range []string{"honest", "setup", "memory", "poison", "out", "turns", "clock", "stale"} {
			t.Run(workload+"/"+way, func(t *testing.T) {
				inside, _ := runCheat(t, workload, inputs[workload], way, nil)
				outside, r := runCheat(t, workload, inputs[workload], way, func(workload, _ string) *peers.Peer {
					return cheatAt(t, workload, way)
				})
				before := ""
				if workload == "ecc" {
					before = cheatsBefore[way]
				}
				t.Logf("| %s | %s | %s | %s | %s |", way, workload, before, inside, outside)
				timed := r.Status == verify.Verified || r.Status == verify.Noisy
				wrong := way == "stale" || way == "setup" && workload != "eigenmap" // which is set up in each call
				switch {
				case r.Judge != "outside":
					t.Errorf("judged %s", r.Judge)
				case wrong != (r.Status == verify.Wrong) || !wrong && !timed:
					t.Errorf("%s: %s", r.Status, r.Reason)
				case timed && r.Seconds.Median < honestTime.Seconds():
					t.Errorf("a call takes %g s", r.Seconds.Median)
				}
			})
		}
	}
}

// A large image is not copied for another process, which cannot write to it, and each call is about an edited one. The
// next cell has the image of its name, even if the judge was killed during a call. Nor can the process change the
// inputs of a workload whose images are copied, or which are not timed.
func TestCheatsInPlace(t *testing.T) {
	const input = "noise/shape=68x65x64/type=uint8/levels=9/seed=1"
	for _, x := range []struct {
		workload, impl string
		inputs         int // untimed and in the same process, unless it is one
		runs           [][]string
	}{
		{"ecc", "naive", 1, [][]string{{"honest", "honest"}, {"vandal", "setup"}, {"killer", "honest"}}},
		{"ecc", "naive", 12, [][]string{{"honest"}, {"lurker"}}},
		{"betti-curves", "duality", 1, [][]string{{"honest"}, {"vandal", "honest"}}},
	} {
		digests := []string(nil)
		for _, ways := range x.runs {
			plan := planFor(t, &peers.Peer{Name: "own"})
			plan.Workload, plan.Impls, plan.Inputs = x.workload, []string{x.impl}, []string{input}
			plan.Processes, plan.Memory = len(ways), 1<<30
			if x.inputs > 1 {
				plan.Sampling, plan.Inputs = nil, slices.Repeat(plan.Inputs, x.inputs)
			}
			cell := 0
			plan.Outside = func(workload, _ string) *peers.Peer { return cheatAt(t, workload, ways[cell%len(ways)]) }
			var got collector
			if err := runner.Run(context.Background(), plan, &counting{&got, &cell}); err != nil {
				t.Fatal(err)
			}
			for k, r := range got {
				k %= len(ways)
				status := map[string]verify.Status{"setup": verify.Wrong, "killer": verify.Crashed}[ways[k]]
				if status == "" {
					status = verify.Verified
				}
				if r.Status == verify.Noisy {
					r.Status = verify.Verified
				}
				if r.Status != status || r.Judge != "outside" {
					t.Errorf("%s: %s in %v: %s %s, judged %s", x.workload, ways[k], ways, r.Status, r.Reason, r.Judge)
				}
				if digests == nil {
					digests = r.Digests
				}
				if status == verify.Verified && !slices.Equal(r.Digests, digests) {
					t.Errorf("%s: %s in %v: answers %v, want %v", x.workload, ways[k], ways, r.Digests, digests)
				}
			}
		}
	}
}

// cheatAt returns the test program as a process of this program that cheats in a way.
func cheatAt(t *testing.T, workload, way string) *peers.Peer {
	return peers.Own("own", workload, workload == "ecc", guestAt(t, "own-cheats"), way)
}

// counting counts finished cells.
type counting struct {
	*collector
	n *int
}

func (c *counting) End(r bench.CellRecord) error {
	*c.n++
	return c.collector.End(r)
}

// runCheat runs a cheat in this process or outside, and describes its record.
func runCheat(t *testing.T, workload, input, way string, outside func(workload, impl string) *peers.Peer) (
	string, bench.CellRecord) {
	t.Helper()
	plan := planFor(t, &peers.Peer{Name: "own"})
	plan.Workload, plan.Inputs, plan.Outside = workload, []string{input}, outside
	b, err := runner.Find(plan.Benches, workload)
	if err != nil {
		t.Fatal(err)
	}
	plan.Impls = []string{b.Abouts()[0].Name}
	t.Setenv(cheatKey, way)
	if outside != nil {
		t.Setenv(cheatKey, "")
	}
	var got collector
	if err := runner.Run(context.Background(), plan, &got); err != nil {
		t.Fatal(err)
	}
	r := got[0]
	text := strings.Join(append([]string{string(r.Status)}, r.Flags...), ", ")
	if r.Seconds != nil && r.Status != verify.Wrong {
		text += fmt.Sprintf(", %.2f of the honest time", r.Seconds.Median/honestTime.Seconds())
	}
	return text, r
}
