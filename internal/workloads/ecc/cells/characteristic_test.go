package cells_test

import (
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

func BenchmarkCharacteristic(b *testing.B) {
	s, err := datasets.Open("noise/shape=256x256x256/levels=1024/type=float32/seed=3")
	if err != nil {
		b.Fatal(err)
	}
	f, err := grid.Load(s)
	if err != nil {
		b.Fatal(err)
	}
	for name, in := range map[string]grid.Source{"made": s, "resident": f} {
		b.Run(name, func(b *testing.B) {
			start := time.Now()
			for range b.N {
				if _, err := cells.Characteristic(in, 512); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(int64(b.N)*in.Shape().Voxels()), "ns/vox")
		})
	}
}
