package impls_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/impls"
	readimpl "eccbench/impls/read"
	"eccbench/impls/softecc/binned"
	"eccbench/impls/softecc/definition"
	"eccbench/impls/softecc/dense"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/softecc"
)

// soft is the workload of the soft curve, with the implementations on cores.
var soft = softecc.Workload(definition.Implementation{}, dense.Implementation{}, binned.Implementation{})

var errDisk = errors.New("the disk is gone")

// A failing source fails at read number at, counted from 1.
type failing struct {
	grid.Source
	at   int64
	read atomic.Int64
}

func (f *failing) ReadSlab(dst []byte, lo, hi int64) error {
	if f.read.Add(1) == f.at {
		return errDisk
	}
	return f.Source.ReadSlab(dst, lo, hi)
}

// tellFailures runs implementations on images whose reads fail at each slab in turn. input makes
// the question about a source.
func tellFailures[In, Out any](t *testing.T, impls []bench.Implementation[In, Out], image string, input func(grid.Source) In) {
	t.Helper()
	const most = 20 // slabs
	for _, impl := range impls {
		if impl.About().Where != "cpu" {
			continue
		}
		for at := int64(1); at <= most; at++ {
			source, err := datasets.Open(image)
			if err != nil {
				t.Fatal(err)
			}
			f := &failing{Source: source, at: at}
			_, err = bench.Answer(impl, input(f), bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
			what := fmt.Sprintf("%s on %s, slab %d", impl.About().Name, image, at)
			if f.read.Load() < at {
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
				if at == 1 {
					t.Errorf("%s: nothing was read", what)
				}
				break
			}
			if !errors.Is(err, errDisk) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// A failed read is an error of the implementation, not an answer.
func TestFailuresAreTold(t *testing.T) {
	set := impls.All(nil)
	for _, image := range []string{"noise/shape=9x8x7/type=uint8/levels=5/seed=1", "noise/shape=17x13/type=float32/levels=9/seed=2", "noise/shape=6x5x9/type=int16/levels=40/seed=3"} {
		same := func(s grid.Source) grid.Source { return s }
		tellFailures(t, set.Curve.Impls, image, same)
		tellFailures(t, set.BettiCurves.Impls, image, same)
		tellFailures(t, set.Pairs.Impls, image, same)
		tellFailures(t, readimpl.All(nil), image, same)
		tellFailures(t, set.Betti.Impls, image, func(s grid.Source) *betti.Image { return &betti.Image{Source: s, Threshold: 2} })
		tellFailures(t, soft.Impls, image, func(s grid.Source) *softecc.Problem {
			return &softecc.Problem{Source: s, Tau: []float64{1, 2}, G: []float64{1, -1}, Lambda: 2, Alpha: 0.5, V: [3]float64{1, 0, 0}}
		})
		tellFailures(t, set.Flow.Impls, image, func(s grid.Source) *gvf.Problem { return gvf.NewProblem(s, 0.05, 3, 0, gvf.Replicate) })
		tellFailures(t, set.Steady.Impls, image, func(s grid.Source) *gvf.Problem { return gvf.NewProblem(s, 0.05, 0, 1e-3, gvf.Replicate) })
	}
}

// looks runs the implementations of a workload. It checks Out after Poison, and the verdict if no
// derived question is answered.
func looks[In, Out any](t *testing.T, w bench.Workload[In, Out], name string) {
	t.Helper()
	in, err := w.Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}}
	for _, impl := range w.Impls {
		a := impl.About()
		if a.Where != "cpu" || impl.CanDo(in, c) != nil {
			continue
		}
		job, err := impl.Setup(in, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Do(nil); err != nil {
			t.Fatal(err)
		}
		out, err := job.Out()
		if err != nil {
			t.Fatal(err)
		}
		evidence := w.Policy.Check(verify.Question[In, Out]{
			Name: name, In: in, Out: out, Budget: time.Hour, Thorough: true,
			Ask: func(In) (out Out, err error) { return out, errDisk },
		})
		if v := verify.Judge([]string{name}, evidence); v.Status == verify.Wrong || v.Status == verify.Crashed {
			t.Errorf("%s on %s, which answers nothing else: %s: %s", a.Name, name, v.Status, v.Reason)
		}
		text := func(out Out) string {
			var b bytes.Buffer
			if err := w.Encode(&b, out); err != nil {
				return err.Error()
			}
			return b.String()
		}
		was := text(out)
		job.Poison()
		if left, err := job.Out(); err == nil && text(left) == was {
			t.Errorf("%s on %s: its answer is there after it was overwritten", a.Name, name)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}
	if c, ok := any(in).(io.Closer); ok {
		c.Close()
	}
}

// Poison leaves nothing of an answer. An implementation that answers no derived inputs is not WRONG
// for that.
func TestAnswersAreOverwritten(t *testing.T) {
	set := impls.All(nil)
	for _, image := range []string{"noise/shape=9x8x7/type=uint8/levels=5/seed=1", "noise/shape=17x13/type=float32/levels=9/seed=2"} {
		looks(t, set.Curve, image)
		looks(t, set.BettiCurves, image)
		looks(t, set.Pairs, image)
		looks(t, set.Betti, "betti/at=2/of="+image)
		looks(t, soft, "softecc/m=4/lambda=8/alpha=100/dir=1/of="+image)
		looks(t, set.Flow, "gvf/steps=3/mu=50/boundary=0/of="+image)
		looks(t, set.Steady, "gvf-steady/tol=4/mu=50/boundary=0/of="+image)
	}
}

// An estimate rejects what exceeds the time limit, and nothing below it, on any number of cores.
func TestEstimatesOfCurves(t *testing.T) {
	small, err := datasets.Open("noise/shape=10x10x10/type=uint8/levels=5/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, impl := range impls.All(nil).Curve.Impls {
		if impl.About().Where != "cpu" {
			continue
		}
		for _, threads := range []int{0, 1, 2, 64} {
			c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}, Time: 10 * time.Millisecond}
			if err := impl.CanDo(small, c); err != nil {
				t.Errorf("%s, %d cores: %v", impl.About().Name, threads, err)
			}
			if err := impl.CanDo(huge{small}, c); !errors.As(err, new(bench.TooLong)) {
				t.Errorf("%s, %d cores: an image of 2³⁶ voxels: %v", impl.About().Name, threads, err)
			}
		}
	}
}

// A huge source is of a shape alone.
type huge struct{ grid.Source }

func (huge) Shape() grid.Shape { return grid.Shape{D: 1 << 12, H: 1 << 12, W: 1 << 12} }
