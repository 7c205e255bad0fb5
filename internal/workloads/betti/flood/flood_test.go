package flood

import (
	"fmt"
	"testing"

	"eccbench/internal/grid"
)

// TestSlabsAreFilledLikeVoxels checks more images than TestChecks does.
func TestSlabsAreFilledLikeVoxels(t *testing.T) {
	slabsAreFilledLikeVoxels(t, 0, 0.1, 0.3, 0.6, 0.9, 1)
}

func TestPartsAreFilledLikeVoxels(t *testing.T) {
	partsAreFilledLikeVoxels(t, 0, 0.1, 0.3, 0.6, 0.9, 1)
}

func BenchmarkFlood(b *testing.B) {
	for _, density := range []float64{0.1, 0.31, 0.5, 0.9} {
		in, _ := randomImage(b, grid.Shape{D: 192, H: 192, W: 192}, density)
		b.Run(fmt.Sprint(density), func(b *testing.B) {
			for b.Loop() {
				if _, err := Count(in, Set{Threshold: 3}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(in.Shape().Voxels()), "ns/voxel")
		})
	}
}
