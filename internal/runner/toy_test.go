//go:build unix

package runner

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"eccbench/internal/bench"
	"eccbench/internal/peers"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// A second workload, independent of the first, shows that the runner works for any: sort a list of
// numbers. An input is named "numbers/n=N/seed=S". The suffix "/tiled" repeats two pages of it
// after the first one.

type numbers struct{}

const page, tile = 1024, 2048 // numbers

const tiled = "/tiled"

func (numbers) Open(name string) ([]uint32, error) {
	var n, seed int
	if _, err := fmt.Sscanf(name, "numbers/n=%d/seed=%d", &n, &seed); err != nil || n < 0 {
		return nil, fmt.Errorf("numbers %q: want numbers/n=N/seed=S", name)
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	list := make([]uint32, n)
	for i := range list {
		if list[i] = rng.Uint32N(1000); strings.HasSuffix(name, tiled) && i >= page+tile {
			list[i] = list[i-tile]
		}
	}
	return list, nil
}

// Extent is a page and a tile, followed by repetitions of the tile.
func (numbers) Extent(in []uint32) (from, size int64, err error) {
	if len(in) <= page+tile || !slices.Equal(in[page:len(in)-tile], in[page+tile:]) {
		return 0, 0, nil
	}
	return 4 * page, 4 * int64(len(in)), nil
}

func (numbers) Variants(name string, k int) ([]string, error) {
	head, tail, _ := strings.Cut(name, "/seed=")
	var names []string
	for i := range k {
		name := fmt.Sprintf("%s/seed=%d", head, i+1)
		if strings.HasSuffix(tail, tiled) {
			name += tiled
		}
		names = append(names, name)
	}
	return names, nil
}

func (numbers) Smaller(name string) []string {
	var n, seed int
	if _, err := fmt.Sscanf(name, "numbers/n=%d/seed=%d", &n, &seed); err != nil || n < 2 {
		return nil
	}
	return []string{fmt.Sprintf("numbers/n=%d/seed=%d", n/2, seed), fmt.Sprintf("numbers/n=%d/seed=%d", n-1, seed)}
}

// Files is the file that a test declares as the source of inputs.
func (numbers) Files(string) []string {
	if path := os.Getenv(toyFile); path != "" {
		return []string{path}
	}
	return nil
}

func (numbers) Cost(_ string, in []uint32) bench.Cost {
	return bench.Cost{Items: int64(len(in)), Unit: "numbers", Bytes: 4 * int64(len(in)), Class: "gen=numbers", Size: fmt.Sprint(len(in))}
}

func (n numbers) Size(in []uint32) int64 { return 4 * int64(len(n.shared(in))) }

func (n numbers) Share(in []uint32, f *os.File) error {
	if os.Getenv(toyWrites) != "" {
		if err := misbehave("replace"); err != nil {
			return err
		}
	}
	return binary.Write(f, binary.LittleEndian, n.shared(in))
}

func (n numbers) shared(in []uint32) []uint32 {
	if _, size, _ := n.Extent(in); size > 0 {
		return in[:page+tile]
	}
	return in
}

// Attach returns a view of the bytes, which are a mapped file.
func (numbers) Attach(b []byte) ([]uint32, error) {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4), nil
}

// sorter sorts; a fault makes it wrong in one way.
type sorter struct {
	name, fault, where string
	crash              bool
}

func (s sorter) About() bench.About {
	return bench.About{Name: s.name, Where: cmp.Or(s.where, "cpu"), Scopes: []bench.Scope{bench.E2E, bench.File}}
}

func (s sorter) CanDo(in []uint32, c bench.Conditions) error {
	if long := time.Duration(len(in)) * time.Millisecond; s.fault == "fear" && c.Time > 0 && c.Time < long {
		return bench.TooLong{Estimate: long, Left: c.Time}
	}
	if s.fault == "refuse" {
		return fmt.Errorf("%d numbers are too many", len(in))
	}
	return nil
}

func (s sorter) Setup(in []uint32, _ bench.Conditions) (bench.Job[[]uint32], error) {
	return &sorting{sorter: s, in: in, out: make([]uint32, len(in)), number: made.Add(1)}, nil
}

type sorting struct {
	sorter
	in, out  []uint32
	launches int64
	waste    []byte
	calls    int
	poisoned bool
	number   int32 // among the jobs of the worker
}

// made is the number of jobs that a worker has set up.
var made atomic.Int32

// remembered holds the earlier answers of faulty implementations by number count. It is shared by
// all jobs of a worker, which may run in parallel.
var remembered sync.Map

func (s *sorting) Do(*bench.Trace) error {
	if n := runtime.GOMAXPROCS(0); os.Getenv(toyCores) != "" && n != 1 {
		return fmt.Errorf("sorting on %d cores, want 1", n)
	}
	if !s.poisoned {
		return errors.New("sorting where the last answer may still be")
	}
	s.poisoned = false
	s.calls++
	if list, ok := remembered.Load(len(s.in)); ok && (s.fault == "remember" && s.calls > 1 || s.fault == "confuse") {
		copy(s.out, list.([]uint32))
		return nil
	}
	copy(s.out, s.in)
	slices.Sort(s.out)
	if s.fault == "remember" || s.fault == "confuse" {
		remembered.Store(len(s.in), slices.Clone(s.out))
	}
	if s.fault == "scribble" && s.calls > 2 {
		s.in[len(s.in)/2]++
		if s.crash {
			panic("after it wrote")
		}
	}
	if s.fault == "lose" && len(s.out) > 5 || s.fault == "fickle" && s.number > 3 {
		s.out[len(s.out)-1]++
	}
	if s.fault == "crumble" {
		if s.out[len(s.out)-1]++; len(s.out) < 100 {
			return errors.New("too few numbers to sort")
		}
	}
	if err := misbehave(s.fault); err != nil {
		return err
	}
	if s.fault == "waste" {
		s.waste = make([]byte, 1<<16)
		s.launches += 2
	}
	return nil
}

func (s *sorting) Launches() int64 { return s.launches }

func (s *sorting) Poison() {
	s.poisoned = true
	if s.fault == "cling" {
		return
	}
	for i := range s.out {
		s.out[i] = 1 << 31
	}
}
func (s *sorting) Out() ([]uint32, error) { return slices.Clone(s.out), nil }
func (s *sorting) Close() error           { return nil }

func toy() []Bench { return []Bench{Bind(sortWorkload())} }

// sortWorkload returns the workload of toy.
func sortWorkload() bench.Workload[[]uint32, []uint32] {
	return bench.Workload[[]uint32, []uint32]{
		Name: "sort", Inputs: numbers{}, Reference: "plain",
		Impls: []bench.Implementation[[]uint32, []uint32]{
			sorter{name: "loser", fault: "lose"}, sorter{name: "crumbler", fault: "crumble"},
			sorter{name: "shy", fault: "refuse"}, sorter{name: "other", fault: "waste"},
			sorter{name: "starter", fault: "start"}, sorter{name: "deserter", fault: "desert"}, sorter{name: "hoarder", fault: "hoard"},
			sorter{name: "babbler", fault: "babble"}, sorter{name: "dawdler", fault: "dawdle"},
			sorter{name: "replacer", fault: "replace"}, sorter{name: "heirless", fault: "bequeath"},
			sorter{name: "elephant", fault: "remember"}, sorter{name: "confused", fault: "confuse"}, sorter{name: "clinging", fault: "cling"}, sorter{name: "plain"},
			sorter{name: "vandal", fault: "scribble", where: "gpu"}, sorter{name: "wild", fault: "scribble", where: "gpu", crash: true},
			sorter{name: "fickle", fault: "fickle"},
			sorter{name: "fearful", fault: "fear"}, sorter{name: "neighbour"}, sorter{name: "pinned", where: "gpu"},
		},
		Policy: verify.Policy[[]uint32, []uint32]{
			Agree: func(_, want, got []uint32) *verify.Diff {
				for i := range max(len(want), len(got)) {
					if i >= len(want) || i >= len(got) || want[i] != got[i] {
						return &verify.Diff{Where: fmt.Sprintf("place %d", i), Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
					}
				}
				return nil
			},
			Weak: func(in, _ []uint32) string {
				if len(in) < 2 {
					return "there is one order only"
				}
				return ""
			},
			Laws: append([]verify.Law[[]uint32, []uint32]{{Name: "ascending and the same sum", Independent: true, Check: ascending}}, optionalLaws()...),
		},
		Encode: func(w io.Writer, v []uint32) error { return binary.Write(w, binary.LittleEndian, v) },
		Decode: func(b []byte) ([]uint32, error) { return numbers{}.Attach(b) },
	}
}

func ascending(in, out []uint32, _ verify.Ask[[]uint32, []uint32]) (*verify.Diff, error) {
	if want, got := os.Getenv(toyCores), fmt.Sprint(runtime.GOMAXPROCS(0)); want != "" && got != want {
		return &verify.Diff{Where: "cores of the check", Want: want, Got: got}, nil
	}
	var a, b uint64
	for _, v := range in {
		a += uint64(v)
	}
	for _, v := range out {
		b += uint64(v)
	}
	if !slices.IsSorted(out) || a != b {
		return &verify.Diff{Where: "sum", Want: fmt.Sprint(a), Got: fmt.Sprint(b)}, nil
	}
	return nil, nil
}

// steady returns the clock of the workers: every reading is a millisecond later.
func steady() worker.Clock {
	var mu sync.Mutex
	now := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Millisecond)
		return now
	}
}

const (
	toyWorker = "ECCBENCH_TEST_TOY_WORKER"
	toyFile   = "ECCBENCH_TEST_TOY_FILE"   // inputs are read from it, or a fault writes to it
	toyWrites = "ECCBENCH_TEST_TOY_WRITES" // inputs are read from it while it is written to
	toyCores  = "ECCBENCH_TEST_TOY_CORES"  // cores that its checks expect; its calls expect 1
	toyDies   = "ECCBENCH_TEST_TOY_DIES"   // exit code of workers that have written their record
)

func TestMain(m *testing.M) {
	if os.Getenv(toyWorker) != "" {
		if err := Work(func(*peers.Peer) []Bench { return append(toy(), jacobi("", spoilers()...)) }, os.Stdin, steady()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		code, _ := strconv.Atoi(os.Getenv(toyDies))
		os.Exit(code)
	}
	os.Exit(m.Run())
}

type collector struct {
	begun int
	cells []bench.CellRecord
	err   error // the error of each call
}

func (c *collector) Begin(string, string) { c.begun++ }
func (c *collector) End(r bench.CellRecord) error {
	c.cells = append(c.cells, r)
	return c.err
}

func toyPlan(t *testing.T, impls ...string) Plan {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(toyWorker, "1")
	return Plan{
		Command: []string{self}, Clock: func() time.Time { return time.Time{} }, Benches: toy(), Workload: "sort", Impls: impls,
		Inputs: []string{"numbers/n=1000/seed=1"}, Threads: 1, Rotate: 3, Time: time.Minute, Budget: time.Minute,
		Sampling:  &worker.Sampling{Target: 0.5, MinSamples: 10, MaxSamples: 30, MaxTime: 100 * time.Millisecond, WarmUp: time.Millisecond},
		Reproduce: func(impl, input string) string { return impl + " " + input },
	}
}

func TestAnotherWorkload(t *testing.T) {
	p := toyPlan(t, "loser", "shy", "other", "plain")
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]verify.Status{"plain": verify.Verified, "loser": verify.Wrong, "shy": verify.Skipped, "other": verify.Verified}
	if len(got.cells) != len(want) || got.cells[0].Impl != "plain" {
		t.Fatalf("cells %+v; the reference comes first", got.cells)
	}
	for _, c := range got.cells {
		if c.Status != want[c.Impl] {
			t.Errorf("%s: %s (%s), want %s", c.Impl, c.Status, c.Reason, want[c.Impl])
		}
		if c.Impl == "other" {
			if len(c.Inputs) != 3 || len(c.Digests) != 3 || len(c.Samples) < 10 || c.Cost.Items != 1000 {
				t.Errorf("record %+v", c)
			}
			if c.Allocated == nil || *c.Allocated < 1<<16 || *c.Allocated > 1<<16+4096 || c.Launches == nil || *c.Launches != 2 {
				t.Errorf("one call allocates %v bytes and launches %v kernels, want 65536 and 2", c.Allocated, c.Launches)
			}
			if c.Evidence[0].Witness != "agrees with plain" {
				t.Errorf("evidence %v", c.Evidence)
			}
		}
		if c.Impl == "loser" && c.Reproduce != "loser numbers/n=6/seed=1" {
			t.Errorf("shrunk to %q, want the least input that fails", c.Reproduce)
		}
		if c.Impl == "shy" && c.Reason != "1000 numbers are too many" {
			t.Errorf("reason %q", c.Reason)
		}
	}
}

// A smaller input on which an implementation fails in another way shows less than one of a wrong answer.
func TestSmallerFailuresAreWrong(t *testing.T) {
	p := toyPlan(t, "crumbler")
	p.Sampling, p.Inputs = nil, []string{"numbers/n=102/seed=1"}
	var got collector
	if err := Run(t.Context(), p, &got); err != nil {
		t.Fatal(err)
	}
	if c := got.cells[0]; c.Status != verify.Wrong || c.Reproduce != "crumbler numbers/n=100/seed=1" {
		t.Errorf("%s, shrunk to %q; want the least input with a wrong answer", c.Status, c.Reproduce)
	}
}

// All inputs of a cell are checked, not only the first.
func TestEveryInputIsChecked(t *testing.T) {
	o := odd{}
	record, _, err := work(t, o, "numbers/n=1000/seed=1", "numbers/n=1000/seed=2", "numbers/n=1000/seed=3")
	if err != nil || record.Status != verify.Verified {
		t.Fatalf("%s: %s, %v", record.Status, record.Reason, err)
	}
	for _, input := range []string{"numbers/n=1000/seed=1", "numbers/n=1000/seed=2", "numbers/n=1000/seed=3"} {
		confirms := func(e verify.Evidence) bool { return e.Input == input && e.Passed && e.Independent }
		if !slices.ContainsFunc(record.Evidence, confirms) {
			t.Errorf("%s: not confirmed by %+v", input, record.Evidence)
		}
	}
}

// The first right answer is the witness of all later ones. The record has the greatest memory of a
// worker.
func TestWitness(t *testing.T) {
	p := toyPlan(t, "other", "neighbour")
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	if e := got.cells[1].Evidence[0]; e.Witness != "agrees with other" || !e.Passed {
		t.Errorf("evidence %+v", e)
	}
	for _, c := range got.cells {
		if c.PeakRSS < 2<<20 || c.PeakRSS > 2<<30 {
			t.Errorf("%s held %d bytes", c.Impl, c.PeakRSS)
		}
	}
}

// An implementation that is too slow for its limit is skipped, which is no failure.
func TestLateIsSkipped(t *testing.T) {
	p := toyPlan(t, "plain")
	for limit, want := range map[time.Duration]verify.Status{2700 * time.Microsecond: verify.Skipped, 3 * time.Millisecond: verify.Verified} {
		p.Time = limit
		var got collector
		if err := Run(context.Background(), p, &got); err != nil {
			t.Fatal(err)
		}
		c := got.cells[0]
		if c.Status != want || want == verify.Skipped && c.Reason != "an answer takes 1.00 ms; the time limit leaves 900 µs for each of 3 inputs" {
			t.Errorf("in %v: %s (%s), want %s", limit, c.Status, c.Reason, want)
		}
	}
}

// A cell with a single input may be late, because it takes no time from others.
func TestOneLateInput(t *testing.T) {
	p := toyPlan(t, "plain")
	p.Rotate, p.Time = 1, 500*time.Microsecond
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	if c := got.cells[0]; c.Status == verify.Skipped || len(c.Samples) == 0 {
		t.Errorf("%s: %s, %d samples", c.Status, c.Reason, len(c.Samples))
	}
}

// A periodic input is shared as its period, and has its full length for implementations.
func TestRepeatedInputs(t *testing.T) {
	const n = 100*tile + page + 5
	p := toyPlan(t, "plain", "other", "loser")
	p.Reproduce = nil
	p.Inputs = []string{fmt.Sprintf("numbers/n=%d/seed=1/tiled", n), "numbers/n=2000/seed=1/tiled"}
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.cells) != 6 {
		t.Fatalf("%d cells", len(got.cells))
	}
	for i, c := range got.cells {
		want := verify.Verified
		if c.Impl == "loser" {
			want = verify.Wrong
		}
		repeats := i < 3
		if c.Status != want || c.Scope != bench.E2E || slices.Contains(c.Flags, "repeats") != repeats {
			t.Errorf("%s on %s: %s (%s), scope %s, flags %v", c.Impl, c.Input, c.Status, c.Reason, c.Scope, c.Flags)
		}
	}
	if _, size, err := toy()[0].Describe(p.Inputs[0]); err != nil || size != 4*(page+tile) {
		t.Errorf("it takes %d bytes to share, %v; want %d", size, err, 4*(page+tile))
	}
}

// An answer from memory is about an input that is gone, whether a job remembers its own answers or
// all jobs share them. It is detected without rotating inputs too.
func TestAnswersFromMemory(t *testing.T) {
	for _, verifyOnly := range []bool{false, true} {
		p := toyPlan(t, "plain", "elephant", "confused")
		p.Reproduce = nil
		if verifyOnly {
			p.Sampling = nil
		} else {
			p.Rotate = 1
		}
		var got collector
		if err := Run(context.Background(), p, &got); err != nil {
			t.Fatal(err)
		}
		for _, c := range got.cells {
			last := c.Evidence[len(c.Evidence)-1]
			if c.Impl == "plain" {
				if c.Status != verify.Verified || !last.Passed || last.Input != "numbers/n=1000/seed=2" {
					t.Errorf("plain: %s (%s), last %+v", c.Status, c.Reason, last)
				}
			} else if c.Status != verify.Wrong || !strings.Contains(last.Witness, "of an input that took the place of numbers/n=1000/seed=1") {
				t.Errorf("%s: %s (%s), last %+v", c.Impl, c.Status, c.Reason, last)
			}
		}
	}
}

// Copies of an input have the same answer, from any job.
func TestCopiesHaveTheSameAnswer(t *testing.T) {
	p := toyPlan(t, "fickle")
	p.Reproduce = nil
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	c := got.cells[0]
	last := c.Evidence[len(c.Evidence)-1]
	if c.Status != verify.Wrong || last.Witness != "gives one answer every time" || last.Input != p.Inputs[0] || !strings.HasSuffix(last.Diff.Got, " (to a copy of the input)") {
		t.Errorf("%s (%s), last %+v", c.Status, c.Reason, last)
	}
}

// An answer that survives its overwriting is reported, although it is right.
func TestAnswersThatCling(t *testing.T) {
	p := toyPlan(t, "plain", "clinging")
	p.Reproduce, p.Sampling = nil, nil
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.cells {
		last := c.Evidence[len(c.Evidence)-1]
		if clings := c.Status == verify.Wrong && last.Witness == "nothing is left of an answer that is overwritten"; clings != (c.Impl == "clinging") {
			t.Errorf("%s: %s (%s), last %+v", c.Impl, c.Status, c.Reason, last)
		}
	}
}

// A device can write to pinned inputs, which other workers share. An implementation that writes to
// one is WRONG in any case, and later implementations get the original input.
func TestWrittenInputs(t *testing.T) {
	p := toyPlan(t, "plain", "vandal", "neighbour", "wild", "pinned")
	p.Inputs, p.Rotate = []string{"numbers/n=4/seed=1"}, 1
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"vandal": "it wrote to its input numbers/n=4/seed=1, byte 8 of what is shared: want 0x", "wild": "; and it is CRASHED: the worker ended with exit status 2: panic: after it wrote"}
	for _, c := range got.cells {
		if why := want[c.Impl]; why == "" && c.Status != verify.Verified || why != "" && (c.Status != verify.Wrong || !strings.Contains(c.Reason, why)) {
			t.Errorf("%s: %s: %s", c.Impl, c.Status, c.Reason)
		}
	}
	if len(got.cells) != 5 {
		t.Errorf("%d cells", len(got.cells))
	}
}

// Timed calls have the requested number of cores, and checks have all of them.
func TestChecksHaveAllCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	t.Setenv(toyCores, "3")
	var c collector
	if err := Run(context.Background(), toyPlan(t, "plain"), &c); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.cells {
		if r.Status != verify.Verified {
			t.Errorf("%s: %s: %s", r.Impl, r.Status, r.Reason)
		}
	}
	if len(c.cells) != 1 {
		t.Errorf("%d cells, want 1", len(c.cells))
	}
}

// A ceiling applies to the device on which the plan's implementations compute. For files the host's
// ceiling applies too, because the host reads the disk.
func TestCeilings(t *testing.T) {
	of := func(name string, list ...bench.Implementation[[]uint32, []uint32]) Bench {
		return Bind(bench.Workload[[]uint32, []uint32]{Name: name, Inputs: numbers{}, Impls: list})
	}
	p := Plan{
		Benches:  []Bench{of("sort", sorter{name: "sort"}, sorter{name: "sort-gpu", where: "gpu"}), of("read", sorter{name: "read"}, sorter{name: "read-gpu", where: "gpu"})},
		Workload: "sort", Ceiling: "read", Inputs: []string{"numbers/n=10/seed=1"},
	}
	for _, c := range []struct {
		impl  string
		scope bench.Scope
		want  []string
	}{
		{"sort", bench.E2E, []string{"read", "sort"}},
		{"sort-gpu", bench.E2E, []string{"read-gpu", "sort-gpu"}},
		{"sort-gpu", bench.File, []string{"read", "read-gpu", "sort-gpu"}},
	} {
		p.Impls, p.Scope = []string{c.impl}, c.scope
		cells, err := p.Cells()
		var got []string
		for _, c := range cells {
			got = append(got, c.Impl)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s of a %s: %q, %v, want %q", c.impl, c.scope, got, err, c.want)
		}
	}
}

// A ceiling is timed in the scope of the plan; the default is e2e.
func TestScopesOfCeilings(t *testing.T) {
	of := func(name string, scopes ...bench.Scope) bench.Implementation[[]uint32, []uint32] {
		return scoped{sorter{name: name}, scopes}
	}
	w := bench.Workload[[]uint32, []uint32]{Name: "read", Inputs: numbers{}, Impls: []bench.Implementation[[]uint32, []uint32]{of("whole", bench.E2E, bench.File), of("inner", bench.Kernel)}}
	p := toyPlan(t, "plain")
	p.Benches, p.Ceiling = append(p.Benches, Bind(w)), "read"
	for scope, want := range map[bench.Scope]string{"": "whole", bench.E2E: "whole", bench.File: "whole", bench.Kernel: "inner"} {
		p.Scope = scope
		cells, err := p.Cells()
		if err != nil || len(cells) != 2 || cells[0].Impl != want {
			t.Errorf("scope %q: %+v, %v; want %s", scope, cells, err, want)
		}
	}
}

type scoped struct {
	sorter
	scopes []bench.Scope
}

func (s scoped) About() bench.About {
	a := s.sorter.About()
	a.Scopes = s.scopes
	return a
}

// A ceiling is the number of bytes read per second, in units of the other workload: 1,000 numbers
// of 4 bytes in a millisecond here. A WRONG cell is no ceiling.
func TestCeilingOfAnotherWorkload(t *testing.T) {
	for impl, own := range map[string]float64{"plain": 1e6, "loser": 0} {
		want := 4 * own * 2000 / 320
		ceiling := &bound[[]uint32, []uint32]{sortWorkload()}
		ceiling.w.Impls = slices.DeleteFunc(ceiling.w.Impls, func(i bench.Implementation[[]uint32, []uint32]) bool { return i.About().Name != impl })
		main := &bound[line, field]{jacobiWorkload("plain", spoilers()...)}
		main.w.Reads = func(string) string { return "numbers/n=1000/seed=1" }
		p := toyPlan(t, "plain")
		p.Benches, p.Workload, p.Ceiling, p.Inputs = []Bench{ceiling, main}, "jacobi", "sort", []string{"line/steps=50/n=40/seed=1"}
		p.Reproduce = nil
		var got collector
		if err := Run(context.Background(), p, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.cells) != 2 || got.cells[0].Workload != "sort" || got.cells[0].Ceiling != own || got.cells[1].Ceiling != want || got.cells[1].Status != verify.Verified {
			t.Errorf("ceiling %s: %+v, want %v and %v", impl, got.cells, own, want)
		}
	}
}

// Recorded ceilings apply to the remaining cells: the most bytes, and the least time for each.
// Records of other programs do not apply.
func TestCeilingsThatAreDone(t *testing.T) {
	at := ceilingKey{"cpu", bench.E2E}
	p := toyPlan(t, "plain")
	p.Ceiling = "sort"
	var record bench.CellRecord
	p.Done = func(bench.CellKey) (bench.CellRecord, bool) { return record, true }
	g := &group{Plan: p, rates: rates{}}
	about := sorter{name: "plain"}.About()
	for _, c := range []struct {
		bench   Bench
		status  verify.Status
		ceiling float64
		seconds stats.Summary
		want    rate
	}{
		{jacobi("", spoilers()...), verify.Verified, 7, stats.Summary{Lo: 1, Min: 1}, rate{}},
		{toy()[0], verify.Verified, 10, stats.Summary{Lo: 3, Min: 2}, rate{40, 3. / 4000, 2. / 4000}},
		{toy()[0], verify.Noisy, 8, stats.Summary{Lo: 2, Min: 5}, rate{40, 2. / 4000, 2. / 4000}},
		{toy()[0], verify.Wrong, 9, stats.Summary{Lo: 1, Min: 1}, rate{40, 2. / 4000, 2. / 4000}},
	} {
		record = bench.CellRecord{Where: "cpu", Ceiling: c.ceiling, Cost: bench.Cost{Items: 1000, Bytes: 4000}, Seconds: &c.seconds}
		record.Scope, record.Status = bench.E2E, c.status
		if !g.done(cell{bench: c.bench, about: about}) {
			t.Error("not done")
		}
		if g.rates[at] != c.want {
			t.Errorf("%+v: %+v", c, g.rates[at])
		}
	}
	g.scope = bench.E2E
	if n := g.ceiling("cpu", bench.Cost{Items: 5}); n != 0 {
		t.Errorf("a ceiling of %v for what moves no bytes", n)
	}
}

// A ceiling has the requested options; unknown ones are an error.
func TestOptionsOfCeilings(t *testing.T) {
	w := sortWorkload()
	w.Name, w.Impls = "read", []bench.Implementation[[]uint32, []uint32]{optional{sorter{name: "read"}}}
	p := toyPlan(t, "plain")
	p.Benches, p.Ceiling, p.Scope = append(p.Benches, Bind(w)), "read", bench.E2E
	for value, want := range map[string]string{"a": "", "b": "by=b", "c": "error"} {
		p.Options = map[string][]string{"by": {value}}
		cells, err := p.Cells()
		if (err != nil) != (want == "error") || err == nil && (len(cells) != 2 || cells[0].Options != want) {
			t.Errorf("by=%s: %+v, %v; want %q", value, cells, err, want)
		}
	}
	// Each value is a row.
	p.Options = map[string][]string{"by": {"a", "b"}}
	if cells, err := p.Cells(); err != nil || len(cells) != 3 || cells[0].Options != "" || cells[1].Options != "by=b" {
		t.Errorf("by=a and by=b: %+v, %v", cells, err)
	}
}

type optional struct{ sorter }

func (o optional) About() bench.About {
	a := o.sorter.About()
	a.Options = []bench.Option{{Key: "by", Values: []string{"a", "b"}}}
	return a
}

func TestStreamedInputsAreNotShared(t *testing.T) {
	p := toyPlan(t, "plain")
	p.Memory, p.Sampling = 100<<20, nil
	p.Inputs = []string{"numbers/n=10/seed=1"}
	for _, want := range []bench.Scope{bench.E2E, bench.File} {
		var got collector
		if want == bench.File {
			p.Scope = bench.File
		}
		if err := Run(context.Background(), p, &got); err != nil {
			t.Fatal(err)
		}
		if c := got.cells[0]; c.Scope != want || c.Status != verify.Verified || slices.Contains(c.Flags, "streamed") != (want == bench.File) {
			t.Errorf("scope %s, %s %s, flags %q; want %s", c.Scope, c.Status, c.Reason, c.Flags, want)
		}
	}
}

func TestRunStops(t *testing.T) {
	p := toyPlan(t, "plain")
	p.Inputs = []string{"words"}
	if err := Run(context.Background(), p, &collector{}); err == nil || !strings.Contains(err.Error(), "words") {
		t.Errorf("error %v, want one that names the input", err)
	}
	p = toyPlan(t, "nobody")
	if err := Run(context.Background(), p, &collector{}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("error %v, want one that names the implementation", err)
	}
	p = toyPlan(t, "plain", "other")
	full := &collector{err: errors.New("the disk is full")}
	if err := Run(context.Background(), p, full); err != full.err || len(full.cells) != 1 {
		t.Errorf("error %v after %d cells, want the observer's after one", err, len(full.cells))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(ctx, p, &collector{}); !Interrupted(err) {
		t.Errorf("error %v, want the context's", err)
	}
	p.Command = []string{"/no/such/program"}
	if err := Run(context.Background(), p, &collector{}); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("error %v, want one that names the program", err)
	}
}

// No input is made for finished cells.
func TestDoneCells(t *testing.T) {
	p := toyPlan(t, "plain", "other")
	p.Done = func(k bench.CellKey) (bench.CellRecord, bool) { return bench.CellRecord{}, k.Impl == "plain" }
	var got collector
	if err := Run(context.Background(), p, &got); err != nil || got.begun != 2 || len(got.cells) != 1 || got.cells[0].Impl != "other" {
		t.Errorf("%v: %d begun, %+v; want an input and a cell", err, got.begun, got.cells)
	}
	p.Impls, got = []string{"plain"}, collector{}
	if err := Run(context.Background(), p, &got); err != nil || got.begun != 0 {
		t.Errorf("%v: %d begun", err, got.begun)
	}
}

func TestWorkerWithoutATask(t *testing.T) {
	if err := Work(func(*peers.Peer) []Bench { return toy() }, io.LimitReader(nil, 0), nil); !errors.Is(err, worker.ErrNoTask) {
		t.Errorf("error %v", err)
	}
}

func TestSamplingStops(t *testing.T) {
	s := worker.Sampling{Target: 0.01, MinSamples: 10, MaxSamples: 20, MaxTime: time.Second}
	for _, c := range []struct {
		n     int
		took  float64
		calls int
		want  bool
	}{
		{2, 1, 1, false}, // every input is timed in any case
		{3, 1, 1, true},  // out of time
		{3, 0.1, 1, false},
		{3, 0.1, 4, true}, // in bursts
		{9, 1e-3, 1, false},
		{10, 1e-3, 1, true}, // on target
		{20, 1e-3, 1, true},
	} {
		if got := s.Enough(slices.Repeat([]float64{c.took}, c.n), float64(c.n*c.calls)*c.took, 3); got != c.want {
			t.Errorf("%+v: enough %v", c, got)
		}
	}
	wide := []float64{0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1}
	if s.Enough(wide, 0, 3) {
		t.Error("a wide interval is enough")
	}
	// Looks are at most five samples or a twentieth of them apart, and few in sum.
	looks, last := 0, 0
	for n := 1; n <= 1e6; n++ {
		if s.Looks(n) {
			if n-last > max(5, n/20) {
				t.Errorf("no look between %d and %d samples", last, n)
			}
			looks, last = looks+1, n
		}
	}
	if looks > 350 {
		t.Errorf("%d looks for a million samples", looks)
	}
}
