package cpu_test

import (
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/workloads/ecc/ecctest"
)

func TestConformance(t *testing.T) { ecctest.Run(t, cpu.Implementation{}) }

func FuzzConformance(f *testing.F) { ecctest.Fuzz(f, cpu.Implementation{}) }

// A suite that does not catch the faults that are known is no suite.
func TestSuiteCatchesPlantedFaults(t *testing.T) {
	for _, fault := range cpu.Faults() {
		t.Run(string(fault), func(t *testing.T) { ecctest.Catches(t, cpu.Faulty(fault)) })
	}
}

func BenchmarkCount(b *testing.B) {
	for _, name := range []string{
		"noise/shape=128x128x128/levels=1024/type=float32/seed=1", "grf/shape=128x128x128/levels=1024/type=float32/seed=1",
		"noise/shape=128x128x128/type=uint8/seed=1", "noise/shape=2048x1024/levels=1024/type=float32/seed=1",
	} {
		b.Run(name, func(b *testing.B) {
			_, f := ecctest.Open(b, name)
			job, err := cpu.Implementation{}.Setup(f, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}})
			if err != nil {
				b.Fatal(err)
			}
			defer job.Close()
			for b.Loop() {
				if err := job.Do(nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(f.Shape().Voxels())*float64(b.N)/b.Elapsed().Seconds(), "vox/s")
		})
	}
}
