package read

import (
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/read"
)

func TestSum(t *testing.T) {
	policy := read.Workload().Policy
	for _, name := range []string{
		"noise/shape=1x1/type=uint8", "noise/shape=7x5x3/type=uint8", "noise/shape=63x9/type=int16", "noise/shape=64x64x64/type=float32", "noise/shape=301x77x3/type=uint8",
		"noise/shape=63x40/type=int16/repeat=7", "noise/shape=5x4x33/type=uint8/repeat=1",
	} {
		src, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		field, err := grid.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []grid.Source{src, field} {
			for threads := 1; threads < 4; threads++ {
				job, err := OnHost{}.Setup(in, bench.Conditions{Setting: bench.Setting{Threads: threads}})
				if err != nil {
					t.Fatal(err)
				}
				job.Poison()
				for wanted, do := range []func(*bench.Trace) error{func(*bench.Trace) error { return nil }, job.Do} {
					if err := do(nil); err != nil {
						t.Fatal(err)
					}
					sum, err := job.Out()
					if err != nil {
						t.Fatal(err)
					}
					evidence := policy.Check(verify.Question[grid.Source, uint64]{Name: name, In: in, Out: sum, Budget: 1 << 40})
					if right := verify.Judge([]string{name}, evidence).Status == verify.Verified; right != (wanted == 1) {
						t.Errorf("%s, %d threads: %v", name, threads, evidence)
					}
				}
				if err := job.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A streamed image needs memory for a few slices of each core, or is rejected.
func TestMemory(t *testing.T) {
	src, err := datasets.Open("noise/shape=4096x4096x100/type=uint8")
	if err != nil {
		t.Fatal(err)
	}
	const need = 3 * 2 * 4096 * 4096
	for memory, want := range map[int64]string{
		0: "", need: "", need - 1: "needs 96.0 MiB (3 cores × 2 slices of 16.0 MiB), the limit is 96.0 MiB",
	} {
		err := OnHost{}.CanDo(src, bench.Conditions{Setting: bench.Setting{Threads: 3}, Memory: memory})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d bytes: %v, want %q", memory, err, want)
		}
	}
	small, err := datasets.Open("noise/shape=16x16x16/type=uint8")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := grid.Load(small)
	if err != nil {
		t.Fatal(err)
	}
	if err := (OnHost{}).CanDo(whole, bench.Conditions{Setting: bench.Setting{Threads: 3}, Memory: 1}); err != nil {
		t.Errorf("in memory: %v", err)
	}
}
