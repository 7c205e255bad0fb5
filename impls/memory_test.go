package impls_test

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"eccbench/impls"
	batchimpl "eccbench/impls/batch"
	"eccbench/impls/cpu"
	readimpl "eccbench/impls/read"
	smoothimpl "eccbench/impls/smooth"
	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/quantity"
	"eccbench/internal/race"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/batch"
	"eccbench/internal/workloads/ecc/ecctest"
	readwork "eccbench/internal/workloads/read"
	"eccbench/internal/workloads/smooth"
)

// A lawMemory is the memory that a law took on one input.
type lawMemory struct {
	took, stated int64
	applies      bool
}

// memoryOfLaws measures every law of a workload on one input. It may take slack in addition to its statement.
func memoryOfLaws[In, Out any](t *testing.T, w bench.Workload[In, Out], slack int64, name string) map[string]lawMemory {
	t.Helper()
	in, err := w.Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := any(in).(io.Closer); ok {
		defer c.Close()
	}
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}, Time: 20 * time.Second}
	var impl bench.Implementation[In, Out]
	for _, i := range w.Impls {
		if i.About().Where == "cpu" && i.About().Name != "race" && i.CanDo(in, c) == nil {
			impl = i // the last is the quickest
		}
	}
	if impl == nil {
		t.Fatalf("no implementation answers %s", name)
	}
	var out Out
	answer := checktest.Peak(t, func() { out, err = bench.Answer(impl, in, c) })
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]lawMemory{}
	for _, l := range w.Policy.Laws {
		var m lawMemory
		var d *verify.Diff
		if m.stated = int64(math.Ceil(l.Calls)) * answer; l.Memory != nil {
			m.stated += l.Memory(in)
		}
		// As in a worker, the limit of memory is the collector's, too: else it lets garbage grow with the answer.
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		unlimited := debug.SetMemoryLimit(int64(now.Sys-now.HeapReleased) + m.stated + slack/2)
		m.took = checktest.Peak(t, func() {
			d, _, err = l.Try(in, out, func(in In) (Out, error) { return bench.Answer(impl, in, c) })
		})
		debug.SetMemoryLimit(unlimited)
		if d != nil {
			t.Errorf("%s: %s: %v", name, l.Name, d)
		}
		m.applies = err == nil
		all[l.Name] = m
	}
	return all
}

// growthOfLaws compares the memory of the laws of a workload on a small and a large input with their statements.
func growthOfLaws[In, Out any](t *testing.T, w bench.Workload[In, Out], slack int64, small, large string) {
	t.Run(w.Name, func(t *testing.T) {
		a, b := memoryOfLaws(t, w, slack, small), memoryOfLaws(t, w, slack, large)
		for name, m := range b {
			if !m.applies {
				continue
			}
			grew, may := m.took-max(0, a[name].took), m.stated-a[name].stated
			t.Logf("%-70s %10s grew %10s stated %10s", name, quantity.Bytes(max(0, m.took)), quantity.Bytes(max(0, grew)), quantity.Bytes(m.stated))
			if grew > may+slack || m.took > m.stated+verify.SlabMemory {
				t.Errorf("%s: %s takes %s, %s more than of %s; it states %s and %s", large, name,
					quantity.Bytes(m.took), quantity.Bytes(grew), small, quantity.Bytes(m.stated), quantity.Bytes(a[name].stated))
			}
		}
	})
}

// The memory of a law grows with its input no faster than it states.
func TestMemoryOfLaws(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes images of 64 MiB, and the race detector takes several times as much memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	set := impls.All(nil)
	image := func(n int) string {
		return fmt.Sprintf("noise/shape=%[1]dx%[1]dx%[1]d/type=float32/levels=256/seed=1", n)
	}
	flat := func(n int) string { return fmt.Sprintf("noise/shape=%[1]dx%[1]d/type=float32/levels=256/seed=1", n) }
	const curve = verify.SlabMemory // of slabs and tables, whatever the image
	growthOfLaws(t, set.Curve, curve, image(64), image(256))
	growthOfLaws(t, set.Curve, curve, flat(512), flat(4096))
	if !ecctest.Long() {
		t.Skip("the other workloads, and an image of 256 MiB, are for " + ecctest.LongSuites)
	}
	growthOfLaws(t, set.Curve, curve, image(64), "noise/shape=512x512x512/type=uint16/levels=256/seed=1/repeat=8")
	const little = 24 << 20
	growthOfLaws(t, set.BettiCurves, little, image(32), image(64))
	growthOfLaws(t, set.BettiCurves, little, "noise/shape=64x64x64/type=uint8/levels=2/seed=1", "noise/shape=192x192x192/type=uint8/levels=2/seed=1")
	growthOfLaws(t, set.Pairs, little, image(64), image(128))
	growthOfLaws(t, set.Betti, little, "betti/at=2/of="+image(64), "betti/at=2/of="+image(128))
	growthOfLaws(t, soft, little, "softecc/m=4/lambda=8/alpha=100/dir=1/of="+image(32), "softecc/m=4/lambda=8/alpha=100/dir=1/of="+image(128))
	growthOfLaws(t, set.Flow, little, "gvf/steps=3/mu=50/boundary=0/of="+image(32), "gvf/steps=3/mu=50/boundary=0/of="+image(128))
	growthOfLaws(t, set.Steady, little, "gvf-steady/tol=4/mu=50/boundary=0/of="+image(32), "gvf-steady/tol=4/mu=50/boundary=0/of="+image(128))
	growthOfLaws(t, set.Voxels, little, set.Voxels.Question.Adversarial[1], set.Voxels.Question.Small[0])
	growthOfLaws(t, set.Voxels, little, set.Voxels.Question.Adversarial[1], set.Voxels.Question.Small[1])
	growthOfLaws(t, set.Patches, little, set.Patches.Question.Adversarial[0], set.Patches.Question.Small[0])
	growthOfLaws(t, set.Lanczos, little, set.Lanczos.Question.Adversarial[0], set.Lanczos.Question.Small[0])
	growthOfLaws(t, set.Homology, little, set.Homology.Question.Adversarial[0], set.Homology.Question.Small[0])
	growthOfLaws(t, batch.Workload(batchimpl.Each{Of: cpu.Implementation{}}), little,
		"batch/count=10/of=noise/shape=28x28/levels=256/type=uint8/seed=1", "batch/count=20000/of=noise/shape=28x28/levels=256/type=uint8/seed=1")
	growthOfLaws(t, smooth.Workload(smoothimpl.OnHost{Counter: cpu.Implementation{}}), little,
		"smooth/iterations=1/of="+flat(64), "smooth/iterations=1/of="+flat(1024))
	growthOfLaws(t, readwork.Workload(readimpl.All(nil)...), curve, image(64), image(256))
}
