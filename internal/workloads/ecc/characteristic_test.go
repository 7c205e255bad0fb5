package ecc_test

import (
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// Words of 64 voxels and single ones count the same cells, at rows that end
// before, with and after a word, and on every level and beyond either end.
func TestCharacteristicIsThatOfSingleCells(t *testing.T) {
	for _, shape := range []string{"1x1x1", "63x3x2", "62x4x3", "64x5x3", "65x2x4", "126x3x3", "127x4x3", "128x3x3", "129x3x3", "300x1x7", "64x9", "1x64", "129x70"} {
		for _, kind := range []string{"levels=5/type=uint8", "levels=5/type=int16", "levels=5/type=uint16", "levels=5/type=float32"} {
			s, err := datasets.Open("noise/shape=" + shape + "/" + kind + "/seed=3")
			if err != nil {
				t.Fatal(err)
			}
			f, err := grid.Load(s)
			if err != nil {
				t.Fatal(err)
			}
			_, h, w := ecc.Stack(s.Shape())
			levels := make([]int32, s.Shape().Voxels())
			grid.NewConverter(s.Type(), s.Ladder()).Convert(levels, f.Data())
			for level := int64(-1); level <= 6; level++ {
				got, err := ecc.Characteristic(s, level)
				if err != nil {
					t.Fatal(err)
				}
				if want := ecc.CharacteristicOfLevels(levels, h, w, level); got != want {
					t.Errorf("%s %s, level %d: %d, want %d", shape, kind, level, got, want)
				}
				dual, err := ecc.DualCharacteristic(s, level)
				if err != nil {
					t.Fatal(err)
				}
				if dual != got+1 {
					t.Errorf("%s %s, level %d: dual %d, want %d", shape, kind, level, dual, got+1)
				}
			}
		}
	}
}

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
				if _, err := ecc.Characteristic(in, 512); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(int64(b.N)*in.Shape().Voxels()), "ns/vox")
		})
	}
}
