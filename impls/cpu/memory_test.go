package cpu_test

import (
	"runtime"
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc/ecctest"
)

// What a refusal says that a job needs it does, within a twentieth: with a table of changes
// for each core and with one for all, in memory and streamed. Of several cores some may find
// nothing left to do, and then need less.
func TestMemoryIsWhatIsAllocated(t *testing.T) {
	if race.Enabled {
		t.Skip("under the race detector this takes half a minute, and counts bytes of one core after the other")
	}
	for _, name := range []string{
		"noise/shape=300x200x20/levels=256/type=uint8/seed=1", "noise/shape=64x64x64/levels=1000000/type=float32/seed=1",
		"noise/shape=64x64x16/levels=4000000/type=float32/seed=1", "noise/shape=3000x200/levels=1024/type=float32/seed=1",
	} {
		made, whole := ecctest.Open(t, name)
		for _, in := range []grid.Source{made, whole} {
			for _, threads := range []int{1, 3} {
				want := cpu.Memory(in, threads)
				// The least of a few, because the runtime allocates too.
				least := int64(1 << 62)
				for range 3 {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					job, err := cpu.Implementation{}.Setup(in, bench.Conditions{Setting: bench.Setting{Threads: threads}})
					if err != nil {
						t.Fatal(err)
					}
					if err := job.Do(nil); err != nil {
						t.Fatal(err)
					}
					runtime.ReadMemStats(&after)
					least = min(least, int64(after.TotalAlloc-before.TotalAlloc))
				}
				if apart := least - want; apart > want/20+65536 || threads == 1 && apart < -want/20-65536 {
					t.Errorf("%s, in memory %v, %d cores: %d bytes allocated, %d expected", name, in == grid.Source(whole), threads, least, want)
				}
			}
		}
	}
}
