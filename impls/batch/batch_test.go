package batch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eccbench/datasets"
	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/batch"
	"eccbench/internal/workloads/ecc"
)

type implementation = bench.Implementation[grid.Source, ecc.VCEC]

func answer(t *testing.T, i implementation, b *batch.Batch, threads int) []ecc.VCEC {
	t.Helper()
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: threads}}
	if err := (Each{i}).CanDo(b, c); err != nil {
		t.Fatal(err)
	}
	j, err := Each{i}.Setup(b, c)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	j.Poison()
	if err := j.Do(nil); err != nil {
		t.Fatal(err)
	}
	out, err := j.Out()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t *testing.T, name string) *batch.Batch {
	t.Helper()
	b, err := batch.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// variants names the images of a batch.
func variants(t *testing.T, image string, count int) []string {
	t.Helper()
	names, err := datasets.Variants(image, count)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// store writes an image and others like it to files, and returns the name of the image
// in its file.
func store(t *testing.T, image string, count int) string {
	t.Helper()
	image += "/path=" + t.TempDir()
	for _, n := range variants(t, image, count) {
		if _, err := datasets.Store(n); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

func check(b *batch.Batch, out []ecc.VCEC) verify.Verdict {
	w := batch.Workload()
	return verify.Judge([]string{"b"}, w.Policy.Check(verify.Question[*batch.Batch, []ecc.VCEC]{Name: "b", In: b, Out: out, Budget: 1 << 40, Thorough: true}))
}

// Every image of a batch gets the curve that it has alone, made or from files.
func TestBatch(t *testing.T) {
	image := "noise/shape=70x60/levels=256/type=float32/seed=5"
	files := store(t, image, 9)
	made, read := open(t, "batch/count=9/of="+image), open(t, "batch/count=9/of="+files)
	if _, err := read.Cool(); err != nil {
		t.Error(err)
	}
	want := answer(t, cpu.Implementation{}, made, 1)
	names := variants(t, image, 9)
	for i := range want {
		one := open(t, "batch/count=1/of="+names[i])
		if !slices.Equal(answer(t, cpu.Implementation{}, one, 2)[0], want[i]) {
			t.Errorf("image %d has another curve alone", i)
		}
	}
	for threads := 1; threads <= 4; threads++ {
		if d := batch.Workload().Policy.Agree(read, want, answer(t, cpu.Implementation{}, read, threads)); d != nil {
			t.Errorf("from files with %d threads: %v", threads, d)
		}
	}
	if v := check(read, want); v.Status != verify.Verified {
		t.Errorf("%s: %s", v.Status, v.Reason)
	}
	if got, err := batch.Decode(batch.Encode(want)); err != nil || batch.Workload().Policy.Agree(nil, want, got) != nil {
		t.Errorf("decoded %v, %v", got, err)
	}
}

// Each law rejects the fault that it is for.
func TestPolicyCatches(t *testing.T) {
	b := open(t, "batch/count=5/of=noise/shape=70x60/levels=256/type=float32/seed=5")
	right := answer(t, cpu.Implementation{}, b, 2)
	for want, spoil := range map[string]func([]ecc.VCEC) []ecc.VCEC{
		"sum of all changes": func(o []ecc.VCEC) []ecc.VCEC { o[2][7].Change++; return o },
		"images 0 and 3":     func(o []ecc.VCEC) []ecc.VCEC { o[3] = slices.Clone(o[0]); return o },
		"image 1, level":     func(o []ecc.VCEC) []ecc.VCEC { o[1], o[2] = o[2], o[1]; return o },
		"answers":            func(o []ecc.VCEC) []ecc.VCEC { return o[:4] },
	} {
		var out []ecc.VCEC
		for _, v := range right {
			out = append(out, slices.Clone(v))
		}
		if v := check(b, spoil(out)); v.Status != verify.Wrong || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s %s", want, v.Status, v.Reason)
		}
	}
	// The last levels' changes of an image go to the next one, as in kernels/ecc/fault.h.
	moved := slices.Clone(right)
	last := len(right[1]) - 32
	moved[1], moved[2] = right[1][:last], ecc.FromDense(sum(right[2], right[1][last:], 256))
	if v := check(b, moved); v.Status != verify.Wrong || !strings.Contains(v.Reason, "image 1, sum of all changes") {
		t.Errorf("moved changes: %s %s", v.Status, v.Reason)
	}
	if out := answer(t, cpu.Faulty(cpu.TieRule), b, 2); check(b, out).Status != verify.Wrong {
		t.Error("a planted fault passed")
	}
}

func sum(a, b ecc.VCEC, levels int64) []int64 {
	dense := make([]int64, levels)
	for _, step := range append(slices.Clone(a), b...) {
		dense[step.Level] += step.Change
	}
	return dense
}

// A shared batch has the same images in memory, and its slabs have the voxels of its images, wherever
// they begin and end.
func TestShareAndAttach(t *testing.T) {
	for _, name := range []string{
		"batch/count=7/of=noise/shape=9x8/levels=256/type=uint8/seed=5", "batch/count=4/of=noise/shape=5x4x3/levels=16/type=float32/seed=5",
		"batch/count=1/of=noise/shape=9x8/levels=256/type=int16/seed=5", "batch/count=1/of=noise/shape=3x3x3/levels=256/type=uint16/seed=5",
		"batch/count=6/of=" + store(t, "noise/shape=9x8/levels=16/type=float32/seed=5", 6), "batch/count=4/of=" + store(t, "noise/shape=5x4x3/levels=16/type=float32/seed=5", 4),
	} {
		b := open(t, name)
		f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := (batch.Inputs{}).Share(b, f); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(f.Name())
		if err != nil || int64(len(data)) > (batch.Inputs{}).Size(b) {
			t.Fatalf("%s: %d bytes shared, %d announced, %v", name, len(data), (batch.Inputs{}).Size(b), err)
		}
		back, err := batch.Inputs{}.Attach(data)
		if err != nil {
			t.Fatal(err)
		}
		if back.Len() != b.Len() || back.Whole().Image() != b.First().Shape() {
			t.Fatalf("%s: attached as %d of %v", name, back.Len(), back.Whole().Image())
		}
		var all []byte
		for i := range b.Len() {
			var digests [2]string
			for k, from := range []*batch.Batch{b, back} {
				s, err := from.Source(i)
				if err != nil {
					t.Fatal(err)
				}
				if digests[k], err = gridtest.Digest(s); err != nil {
					t.Fatal(err)
				}
				if k == 1 {
					all = append(all, s.(*grid.Field).Data()...)
				}
			}
			if digests[0] != digests[1] {
				t.Errorf("%s: image %d is another one", name, i)
			}
		}
		n, size := b.Whole().Shape().Slices(), grid.SliceBytes(b.Whole())
		for lo := range n {
			for hi := lo; hi <= n; hi++ {
				slab := make([]byte, (hi-lo)*size)
				if err := b.Whole().ReadSlab(slab, lo, hi); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(slab, all[lo*size:hi*size]) {
					t.Errorf("%s: slices %d to %d are others", name, lo, hi)
				}
			}
		}
		if a, c := answer(t, cpu.Implementation{}, b, 2), answer(t, cpu.Implementation{}, back, 2); batch.Workload().Policy.Agree(b, a, c) != nil {
			t.Errorf("%s: other answers where it is in memory", name)
		}
	}
	single, err := os.Create(filepath.Join(t.TempDir(), "image"))
	if err != nil {
		t.Fatal(err)
	}
	defer single.Close()
	if err := (fields.Inputs{}).Share(open(t, "batch/count=1/of=noise/shape=9x8/seed=5").First(), single); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(single.Name())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (batch.Inputs{}).Attach(data); err == nil {
		t.Error("an image was attached as a batch")
	}
}

// elsewhere claims to count on a device.
type elsewhere struct{ implementation }

func (e elsewhere) About() bench.About {
	a := e.implementation.About()
	a.Where = "gpu"
	return a
}

// As many images are in work as there are cores. A device has several large ones or a small one in
// work, and never more than the batch has.
func TestImagesInWork(t *testing.T) {
	const small, large = "noise/shape=128x128/type=float32/seed=5", "noise/shape=512x512/type=float32/seed=5"
	for _, c := range []struct {
		of                  implementation
		image               string
		count, lanes, cores int
	}{
		{cpu.Implementation{}, small, 9, 3, 1}, {cpu.Implementation{}, large, 2, 2, 1}, {elsewhere{cpu.Implementation{}}, small, 9, 1, 3},
		{elsewhere{cpu.Implementation{}}, large, 9, onDevice, 1}, {elsewhere{cpu.Implementation{}}, large, 2, 2, 1},
	} {
		inner, lanes := Each{c.of}.inner(open(t, batch.NameOf(c.count, c.image)), bench.Conditions{Setting: bench.Setting{Threads: 3}, Memory: 1 << 30})
		if lanes != c.lanes || inner.Threads != c.cores || inner.Memory != 1<<30/int64(c.lanes) {
			t.Errorf("%d × %s, %s: %d in work, with %d cores and %d bytes each", c.count, c.image, c.of.About().Where, lanes, inner.Threads, inner.Memory)
		}
	}
}

// third fails on the third image that any of its jobs counts.
type third struct {
	implementation
	counted *atomic.Int64
}

type thirdJob struct {
	bench.Job[ecc.VCEC]
	counted *atomic.Int64
}

func (f third) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	j, err := f.implementation.Setup(in, c)
	return thirdJob{j, f.counted}, err
}

func (j thirdJob) Do(trace *bench.Trace) error {
	if j.counted.Add(1) == 3 {
		time.Sleep(time.Millisecond) // until all that may be read ahead is there, and all others wait
		return errors.New("the third image")
	}
	return j.Job.Do(trace)
}

// An image that cannot be read or counted ends the call with its error, however many images are
// being read. The next call is complete.
func TestBatchEndsAtAnError(t *testing.T) { synctest.Test(t, batchEndsAtAnError) }

func batchEndsAtAnError(t *testing.T) {
	files := store(t, "noise/shape=70x60/levels=256/type=uint8/seed=5", 60)
	b := open(t, "batch/count=60/of="+files)
	for threads := 1; threads <= 4; threads++ {
		c := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: threads}}
		j, err := Each{third{cpu.Implementation{}, new(atomic.Int64)}}.Setup(b, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Do(nil); err == nil || err.Error() != "the third image" {
			t.Errorf("%d threads: %v, want the error of the third image", threads, err)
		}
		if err := j.Do(nil); err != nil {
			t.Errorf("%d threads: %v after an error", threads, err)
		}
		lost := datasets.StoredFile(variants(t, files, 60)[20])
		if err := os.Rename(lost, lost+"~"); err != nil {
			t.Fatal(err)
		}
		if err := j.Do(nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), lost) {
			t.Errorf("%d threads: %v, want one that names %s", threads, err, lost)
		}
		if err := os.Rename(lost+"~", lost); err != nil {
			t.Fatal(err)
		}
		if err := j.Do(nil); err != nil {
			t.Errorf("%d threads: %v with all files there", threads, err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// marking notes an interval of a device in each traced call.
type marking struct{ implementation }

type markingJob struct{ bench.Job[ecc.VCEC] }

func (m marking) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	j, err := m.implementation.Setup(in, c)
	return markingJob{j}, err
}

func (j markingJob) Do(trace *bench.Trace) error {
	if trace != nil {
		trace.Interval("mark", time.Millisecond, 3*time.Millisecond)
	}
	return j.Job.Do(trace)
}

// The parts of all images add up; each begins at a time of its own, so that they make
// no timeline.
func TestBatchAddsUpParts(t *testing.T) {
	b := open(t, "batch/count=7/of=noise/shape=70x60/levels=256/type=uint8/seed=5")
	for threads := 1; threads <= 3; threads++ {
		j, err := Each{marking{cpu.Implementation{}}}.Setup(b, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: threads}})
		if err != nil {
			t.Fatal(err)
		}
		var trace bench.Trace
		if err := errors.Join(j.Do(&trace), j.Do(nil), j.Close()); err != nil {
			t.Fatal(err)
		}
		parts := trace.Spans()
		if mark := parts["mark"]; mark < 0.0139 || mark > 0.0141 || parts["file"] <= 0 || parts["count"] <= 0 {
			t.Errorf("%d threads: the parts of seven images are %v", threads, parts)
		}
		if line := trace.Timeline(); len(line) != 0 || trace.Noted() != 7 {
			t.Errorf("%d threads: %d intervals noted, a timeline of %v", threads, trace.Noted(), line)
		}
	}
}
