//go:build unix

package runner

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"eccbench/internal/bench"
	"eccbench/internal/memfile"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

var errBrittle = errors.New("it broke")

// A brittle workload sorts numbers, fails one call of the runner, and counts open objects.
type brittle struct {
	numbers
	sorter
	breaks int  // the call that fails, from 1 on; 0 for none
	wavers bool // its answers change from call to call

	mu           sync.Mutex
	calls        int
	broke        string // the call that failed
	sheets, jobs int    // numbers of open objects
}

func (b *brittle) try(what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls++; b.calls != b.breaks {
		return nil
	}
	b.broke = what
	return fmt.Errorf("%s: %w", what, errBrittle)
}

func (b *brittle) count(n *int, by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*n += by
}

// A sheet has numbers and must be closed if it was opened.
type sheet struct {
	list []uint32
	b    *brittle // nil if it was not opened
}

func (s *sheet) Close() error {
	s.b.count(&s.b.sheets, -1)
	return nil
}

func (b *brittle) Open(name string) (*sheet, error) {
	if err := b.try("open"); err != nil {
		return nil, err
	}
	list, err := b.numbers.Open(name)
	if err == nil {
		b.count(&b.sheets, 1)
	}
	return &sheet{list, b}, err
}

func (b *brittle) Variants(name string, n int) ([]string, error) {
	if err := b.try("variants"); err != nil {
		return nil, err
	}
	return b.numbers.Variants(name, n)
}

func (b *brittle) Cost(name string, in *sheet) bench.Cost { return b.numbers.Cost(name, in.list) }
func (b *brittle) Size(in *sheet) int64                   { return b.numbers.Size(in.list) }

func (b *brittle) Share(in *sheet, f *os.File) error {
	if err := b.try("share"); err != nil {
		return err
	}
	return b.numbers.Share(in.list, f)
}

func (b *brittle) Extent(*sheet) (from, size int64, err error) { return 0, 0, b.try("extent") }

func (b *brittle) Attach(mapped []byte) (*sheet, error) {
	if err := b.try("attach"); err != nil {
		return nil, err
	}
	list, err := b.numbers.Attach(mapped)
	return &sheet{list: list}, err
}

func (b *brittle) CanDo(*sheet, bench.Conditions) error { return nil }

func (b *brittle) Setup(in *sheet, c bench.Conditions) (bench.Job[[]uint32], error) {
	if err := b.try("setup"); err != nil {
		return nil, err
	}
	job, err := b.sorter.Setup(in.list, c)
	b.count(&b.jobs, 1)
	return &breaking{job.(*sorting), b, b.wavers}, err
}

type breaking struct {
	*sorting
	b      *brittle
	wavers bool
}

// The definition answers as brittle does, but never wavers.
type definition struct{ *brittle }

func (definition) About() bench.About { return sorter{name: "plain"}.About() }

func (d definition) Setup(in *sheet, c bench.Conditions) (bench.Job[[]uint32], error) {
	job, err := d.brittle.Setup(in, c)
	if err == nil {
		job.(*breaking).wavers = false
	}
	return job, err
}

func (j *breaking) Do(trace *bench.Trace) error {
	if err := j.b.try("do"); err != nil {
		return err
	}
	err := j.sorting.Do(trace)
	if j.wavers {
		j.out[0] += uint32(j.calls % 3)
	}
	return err
}

func (j *breaking) Out() ([]uint32, error) {
	if j.poisoned { // the poison may be no valid answer
		return j.sorting.Out()
	}
	if err := j.b.try("out"); err != nil {
		return nil, err
	}
	return j.sorting.Out()
}

func (j *breaking) Close() error {
	j.b.count(&j.b.jobs, -1)
	return nil
}

func (b *brittle) bind(exact bool) *bound[*sheet, []uint32] {
	policy := verify.Policy[*sheet, []uint32]{
		Laws: []verify.Law[*sheet, []uint32]{{Name: "there", Independent: true, Check: func(*sheet, []uint32, verify.Ask[*sheet, []uint32]) (*verify.Diff, error) {
			return nil, nil
		}}},
	}
	if exact {
		policy.Agree = func(_ *sheet, want, got []uint32) *verify.Diff {
			if slices.Equal(want[1:], got[1:]) { // it checks only a part
				return nil
			}
			return &verify.Diff{Where: "somewhere"}
		}
	} else {
		policy.Distance = func(_ *sheet, want, got []uint32) []verify.Measure {
			return []verify.Measure{{Name: "first", Value: float64(got[0]) - float64(want[0]), Limit: 2}}
		}
	}
	return &bound[*sheet, []uint32]{bench.Workload[*sheet, []uint32]{
		Name: "brittle", Inputs: b, Impls: []bench.Implementation[*sheet, []uint32]{definition{b}, b}, Reference: "plain", Policy: policy,
		Encode: func(w io.Writer, list []uint32) error {
			if err := b.try("encode"); err != nil {
				return err
			}
			return binary.Write(w, binary.LittleEndian, list)
		},
		Decode: func(data []byte) ([]uint32, error) {
			if err := b.try("decode"); err != nil {
				return nil, err
			}
			return b.numbers.Attach(data)
		},
	}}
}

// held returns the number of files that this process has open, and of files in memory that it has
// mapped.
func held(t *testing.T) (open, mapped int) {
	t.Helper()
	// The first pipe opens the files by which the runtime waits, for good.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	closeAll([]*os.File{r, w})
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	return len(list), bytes.Count(maps, []byte("memfd:eccbench"))
}

// If any call of a workload fails, its worker reports it instead of a verdict, and releases
// everything.
func TestNoFailureIsLost(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would close lost files
	for _, c := range []struct {
		scope         bench.Scope
		inputs        int
		exact, wavers bool
		timed         bool
		want          verify.Status
	}{
		{bench.E2E, 1, true, false, true, verify.Verified},
		{bench.E2E, 2, true, true, true, verify.Wrong},
		{bench.E2E, 2, false, true, true, verify.Verified},
		{bench.E2E, 2, true, false, false, verify.Verified},
		{bench.File, 2, false, false, true, verify.Verified},
	} {
		broke := map[string]int{}
		for breaks := 1; ; breaks++ {
			b := &brittle{sorter: sorter{name: "brittle"}, wavers: c.wavers}
			bound := b.bind(c.exact)
			open, mapped := held(t)
			var f worker.Files
			task := worker.Task{
				Workload: "brittle", Impl: "brittle", Cores: 1, Budget: time.Hour, Shared: c.scope == bench.E2E,
				Conditions: bench.Conditions{Setting: bench.Setting{Scope: c.scope, Threads: 1}},
			}
			if c.timed {
				task.Sampling = &worker.Sampling{MinSamples: 3, MaxSamples: 3, MaxTime: time.Hour}
			}
			for i := range c.inputs {
				task.Inputs = append(task.Inputs, fmt.Sprintf("numbers/n=50/seed=%d", i+1))
				if !task.Shared {
					continue
				}
				for _, list := range []*[]*os.File{&f.Answers, &f.Inputs} {
					file, err := memfile.New("a file")
					if err != nil {
						t.Fatal(err)
					}
					*list = append(*list, file)
				}
				if _, err := bound.share(task.Inputs[i], f.Inputs[i]); err != nil {
					t.Fatal(err)
				}
			}
			b.calls, b.breaks = 0, breaks
			record, err := bound.work(steady(), task, f, func(worker.Event) {})
			closeAll(f.Answers)
			closeAll(f.Inputs)
			what := fmt.Sprintf("%+v: call %d, %s", c, breaks, b.broke)
			if b.sheets != 0 || b.jobs != 0 {
				t.Errorf("%s: %d inputs and %d jobs are open", what, b.sheets, b.jobs)
			}
			if o, m := held(t); o != open || m != mapped {
				t.Errorf("%s: %d files are open and %d mapped, %d and %d before", what, o, m, open, mapped)
			}
			if b.broke == "" {
				if err != nil || record.Status != c.want || c.want == verify.Wrong && !strings.Contains(record.Reason, "the answer as it is written: want ") {
					t.Errorf("%s: %s (%s), %v", what, record.Status, record.Reason, err)
				}
				break
			}
			broke[b.broke]++
			if !errors.Is(err, errBrittle) || !strings.Contains(err.Error(), "numbers/n=50/seed=") {
				t.Errorf("%s: %v, %s", what, err, record.Status)
			}
		}
		if broke["setup"] < c.inputs || broke["do"] < c.inputs || broke["encode"] < c.inputs || broke["decode"] < c.inputs {
			t.Errorf("%+v: %v", c, broke)
		}
	}
}

// A run reports an input that cannot be made.
func TestInputsThatCannotBeMade(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p := toyPlan(t, "brittle")
	p.Command = []string{"/no/such/program"} // until it is set below
	for _, forecast := range []bool{false, true} {
		for breaks := 1; ; breaks++ {
			b := &brittle{sorter: sorter{name: "brittle"}, breaks: breaks}
			p.Workload, p.Benches = "brittle", []Bench{b.bind(true)}
			open, mapped := held(t)
			var err error
			if forecast {
				_, err = p.Forecast(context.Background())
			} else {
				err = Run(context.Background(), p, &collector{})
			}
			if o, m := held(t); o != open || m != mapped || b.sheets != 0 {
				t.Errorf("call %d, %s: %d files are open and %d mapped, %d and %d before; %d inputs are open", breaks, b.broke, o, m, open, mapped, b.sheets)
			}
			if b.broke == "" {
				if !errors.Is(err, os.ErrNotExist) || breaks < 4 {
					t.Errorf("%d calls, and then %v", breaks-1, err)
				}
				break
			}
			if !errors.Is(err, errBrittle) && !forecast { // the forecast leaves this error to the run
				t.Errorf("call %d, %s: %v", breaks, b.broke, err)
			}
		}
	}
}

// A run that cannot open any one of its files reports it and leaves no file open.
func TestFilesThatCannotBeOpened(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p := toyPlan(t, "plain", "vandal", "loser")
	p.Inputs, p.Rotate = []string{"numbers/n=6/seed=1"}, 1
	if err := Run(context.Background(), p, &collector{}); err != nil { // the runtime opens its own files
		t.Fatal(err)
	}
	open, mapped := held(t)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	for more := uint64(0); ; more++ {
		var got collector
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(open) + more, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		err := Run(context.Background(), p, &got)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
		if o, m := held(t); o != open || m != mapped {
			t.Errorf("%d files more: %d files are open and %d mapped, %d and %d before", more, o, m, open, mapped)
		}
		for i, want := range []verify.Status{verify.Verified, verify.Wrong, verify.Wrong} {
			if i < len(got.cells) && got.cells[i].Status != want {
				t.Errorf("%d files more: %s: %s (%s), want %s", more, got.cells[i].Impl, got.cells[i].Status, got.cells[i].Reason, want)
			}
		}
		if err == nil {
			if more < 5 || len(got.cells) != 3 {
				t.Errorf("%d files more are enough for %d cells", more, len(got.cells))
			}
			break
		}
		if !errors.Is(err, unix.EMFILE) || more == 50 {
			t.Fatalf("%d files more: %v", more, err)
		}
	}
}

// A failed allocation leaves no file open.
func TestNoMemoryToPin(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	open, mapped := held(t)
	if _, err := memfile.NewRegion(-1); err == nil {
		t.Error("there is memory of less than nothing")
	}
	if o, m := held(t); o != open || m != mapped {
		t.Errorf("%d files are open and %d mapped, %d and %d before", o, m, open, mapped)
	}
}

// A failed operation on either file is an error.
func TestClosedFiles(t *testing.T) {
	open, err := memfile.New("a file")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	closed, err := memfile.New("another")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if d, err := firstByte(closed, open); err == nil {
		t.Errorf("what cannot be read differs in %v", d)
	}
	if d, err := firstByte(open, closed); err == nil {
		t.Errorf("what cannot be read differs in %v", d)
	}
	if d, err := firstByte(open, open); err != nil || d.Want != "0 bytes" {
		t.Errorf("%v, %v", d, err)
	}
	for _, size := range []int64{1, 4 << 20} {
		if err := memfile.Enlarge(closed, size); err == nil {
			t.Errorf("a closed file has %d bytes", size)
		}
	}
}
