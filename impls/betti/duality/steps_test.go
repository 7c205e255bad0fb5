package duality

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc/ecctest"
)

// What each kernel takes, in milliseconds, the second-level cache empty before.
func BenchmarkSteps(b *testing.B) {
	for _, name := range []string{
		"betti/at=127/of=noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=78/of=noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/of=grf/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=0/of=serpent/shape=1024x1024x1024/type=uint8",
		"betti/at=0/of=constant/shape=1024x1024x1024/type=uint8",
		"betti/at=127/of=noise/shape=1000x1000x1000/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=16384x16384/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=512x512x512/levels=256/type=float32/seed=1",
	} {
		b.Run(name, func(b *testing.B) {
			in, err := betti.Inputs{}.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			made, err := OnDevice{ecctest.Device(b)}.Setup(in, bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel}})
			if err != nil {
				b.Fatal(err)
			}
			defer made.Close()
			j := made.(*deviceJob)
			took := make([]float64, len(j.steps)+1)
			n := 0
			for b.Loop() {
				if err := j.Cool(); err != nil {
					b.Fatal(err)
				}
				if err := j.Do(nil); err != nil {
					b.Fatal(err)
				}
				all, err := j.Elapsed()
				if err != nil {
					b.Fatal(err)
				}
				took[len(j.steps)] += all.Seconds()
				for i := range j.steps {
					of := *j
					of.steps = j.steps[i : i+1]
					if err := of.Cool(); err != nil {
						b.Fatal(err)
					}
					if err := of.count(); err != nil {
						b.Fatal(err)
					}
					one, err := of.Elapsed()
					if err != nil {
						b.Fatal(err)
					}
					took[i] += one.Seconds()
				}
				n++
			}
			for i, s := range j.steps {
				b.ReportMetric(took[i]/float64(n)*1e3, s.kernel.Name()+"-ms")
			}
			b.ReportMetric(took[len(j.steps)]/float64(n)*1e3, "all-ms")
			b.ReportMetric(float64(in.Shape().Voxels())*float64(n)/took[len(j.steps)]/1e9, "Gvox/s")
		})
	}
}
