package datasets

import (
	"testing"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// BenchmarkReadSlab makes slabs of 32 slices of 512² voxels, one after another. Compare cores with
// -cpu.
func BenchmarkReadSlab(b *testing.B) {
	for _, name := range []string{
		"noise/shape=512x512x4096/type=uint8",
		"noise/shape=512x512x4096/type=float32",
		"noise/shape=512x512x4096/type=uint16",
		"grf/shape=512x512x4096/smooth=2",
		"grf/shape=512x512x4096/smooth=2/type=uint8",
		"grf/shape=2048x2048x256/smooth=2/type=uint8",
		"grf/shape=512x512x4096/smooth=4",
		"grf/shape=512x512x4096/smooth=16",
		"grf/shape=4096x65536/smooth=2",
		"distinct/shape=512x512x64",
		"ball/shape=512x512x512/type=uint8",
		"torus/shape=512x512x512/type=uint8",
		"ramp/shape=512x512x512/type=uint8",
	} {
		for _, isa := range vectors.Available() {
			b.Run(name+"/isa="+isa, func(b *testing.B) {
				s := openOn(b, name, isa)
				n := min(s.Shape().Slices(), (8<<20)/s.Shape().SliceVoxels())
				buf := grid.NewBuffer(n * grid.SliceBytes(s))
				at := int64(0)
				for b.Loop() {
					if err := s.ReadSlab(buf, at, at+n); err != nil {
						b.Fatal(err)
					}
					if at += n; at+n > s.Shape().Slices() {
						at = 0
					}
				}
				voxels := float64(n*s.Shape().SliceVoxels()) * float64(b.N)
				b.ReportMetric(voxels/b.Elapsed().Seconds(), "vox/s")
			})
		}
	}
}

// BenchmarkImage makes whole images, as for measurements in memory.
func BenchmarkImage(b *testing.B) {
	for _, name := range []string{
		"noise/shape=512x512x512/type=uint8",
		"grf/shape=512x512x512/smooth=2",
		"grf/shape=512x512x512/smooth=2/type=uint8",
		"grf/shape=1024x1024x256/smooth=2",
		"grf/shape=512x512x512/smooth=4",
	} {
		for _, isa := range vectors.Available() {
			b.Run(name+"/isa="+isa, func(b *testing.B) {
				s := openOn(b, name, isa)
				buf := grid.NewBuffer(s.Shape().Slices() * grid.SliceBytes(s))
				for b.Loop() {
					if err := s.ReadSlab(buf, 0, s.Shape().Slices()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(s.Shape().Voxels())*float64(b.N)/b.Elapsed().Seconds(), "vox/s")
			})
		}
	}
}
