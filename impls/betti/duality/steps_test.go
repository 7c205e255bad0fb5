package duality_test

import (
	"errors"
	"testing"
	"time"

	"eccbench/impls/betti/duality"
	"eccbench/internal/bench"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc/ecctest"
)

// stepped are jobs whose kernels can be run by themselves.
type stepped interface {
	bench.DeviceJob
	Do(*bench.Trace) error
	EachKernel(func(kernel string, took time.Duration)) error
}

// What each kernel takes, in milliseconds, the second-level cache empty before.
func BenchmarkSteps(b *testing.B) {
	for _, name := range []string{
		"betti/at=127/of=noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=78/of=noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=-1/of=grf/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=0/of=serpent/shape=1024x1024x1024/type=uint8",
		"betti/at=0/of=constant/shape=1024x1024x1024/type=uint8",
		"betti/at=127/of=noise/shape=1000x1000x1000/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=16384x16384/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=512x512x512/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=512x512x512/levels=256/type=float32/seed=1",
	} {
		b.Run(name, func(b *testing.B) {
			in, err := betti.Inputs{}.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			made, err := duality.OnDevice{Open: ecctest.Device(b)}.Setup(in, bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel}})
			if err != nil {
				b.Fatal(err)
			}
			defer made.Close()
			j := made.(stepped)
			var all time.Duration
			each, n := map[string]time.Duration{}, 0
			for b.Loop() {
				if err := errors.Join(j.Cool(), j.Do(nil)); err != nil {
					b.Fatal(err)
				}
				took, err := j.Elapsed()
				if err != nil {
					b.Fatal(err)
				}
				all += took
				if err := j.EachKernel(func(kernel string, took time.Duration) { each[kernel] += took }); err != nil {
					b.Fatal(err)
				}
				n++
			}
			for kernel, took := range each {
				b.ReportMetric(took.Seconds()/float64(n)*1e3, kernel+"-ms")
			}
			b.ReportMetric(all.Seconds()/float64(n)*1e3, "all-ms")
			b.ReportMetric(float64(in.Shape().Voxels())*float64(n)/all.Seconds()/1e9, "Gvox/s")
		})
	}
}
