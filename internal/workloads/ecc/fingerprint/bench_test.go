package fingerprint_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// BenchmarkOf times one weight function, and two, in turns with extrema on the same image, cores
// and instruction set. It reports the ratios of the median rates and of the fastest calls, which
// other load disturbs least.
func BenchmarkOf(b *testing.B) {
	for _, name := range []string{
		"noise/shape=256x256x256/type=uint8/seed=1", "grf/shape=256x256x256/type=uint8/seed=1",
		"noise/shape=256x256x256/type=uint16/seed=1", "grf/shape=256x256x256/type=uint16/seed=1", "noise/shape=256x256x256/type=int16/levels=1024/seed=1",
		"noise/shape=256x256x256/levels=1024/type=float32/seed=1", "grf/shape=256x256x256/levels=1024/type=float32/seed=1",
		"grf/shape=256x256x256/type=int16/levels=1024/seed=1", "noise/shape=4096x4096/type=uint8/seed=1", "grf/shape=4096x4096/levels=1024/type=float32/seed=1",
		"noise/shape=512x512x256/levels=100000/type=float32/seed=1", "grf/shape=512x512x256/levels=100000/type=float32/seed=1", "noise/shape=256x256x256/levels=16777216/type=float32/seed=1/every", "grf/shape=256x256x256/levels=65536/type=float32/seed=1/every",
	} {
		of, every := strings.CutSuffix(name, "/every") // float32
		_, f := ecctest.Open(b, of)
		if every {
			var err error
			if f, err = grid.Trusted(f.Shape(), f.Type(), f.Data(), grid.Identity(f.Type())); err != nil {
				b.Fatal(err)
			}
		}
		for _, isa := range fingerprint.Available() {
			for _, of := range [][2]int{{1, 1}, {2, 1}, {1, runtime.NumCPU()}} {
				k, threads := fingerprint.Draw(of[0]), of[1]
				b.Run(fmt.Sprintf("%s/%s/functions=%d/threads=%d", name, isa, of[0], threads), func(b *testing.B) {
					job, err := extrema.Implementation{}.Setup(f, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads, ISA: isa}})
					if err != nil {
						b.Fatal(err)
					}
					defer job.Close()
					var own, other []time.Duration
					for b.Loop() {
						start := time.Now()
						if _, err := fingerprint.On(isa, f, k, f.Ladder().Len(), threads); err != nil {
							b.Fatal(err)
						}
						middle := time.Now()
						if err := job.Do(nil); err != nil {
							b.Fatal(err)
						}
						own, other = append(own, middle.Sub(start)), append(other, time.Since(middle))
					}
					slices.Sort(own)
					slices.Sort(other)
					ratio := func(at int) float64 { return float64(other[at]) / float64(own[at]) }
					b.ReportMetric(float64(f.Shape().Voxels())/own[len(own)/2].Seconds()/1e9, "Gvox/s")
					b.ReportMetric(ratio(len(own)/2), "×extrema")
					b.ReportMetric(ratio(0), "×extrema(quickest)")
					b.ReportMetric(0, "ns/op") // of both
				})
			}
		}
	}
}
