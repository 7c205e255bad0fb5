package datasets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// BenchmarkInstructions makes the same slices on one core by every instruction set in turns,
// and reports the rate of each one's quickest call, which what else runs on a machine
// disturbs least, and its ratio to that of portable Go.
func BenchmarkInstructions(b *testing.B) {
	for _, name := range []string{
		"noise/shape=512x512x4096/type=uint8",
		"noise/shape=512x512x4096/type=uint8/levels=100",
		"noise/shape=512x512x4096/type=uint16",
		"noise/shape=512x512x4096/type=int16/levels=1000",
		"noise/shape=512x512x4096/type=float32",
		"noise/shape=512x512x4096/type=float32/step=0.1",
		"noise/shape=500x500x4096/type=float32",
		"grf/shape=512x512x4096/smooth=2",
		"grf/shape=512x512x4096/smooth=2/type=uint8",
		"grf/shape=512x512x4096/smooth=4",
		"grf/shape=512x512x4096/smooth=16",
		"grf/shape=4096x65536/smooth=2",
	} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			var n, voxels int64 // slices that are made at once, and their voxels
			quickest := map[string]time.Duration{}
			for b.Loop() {
				for _, isa := range vectors.Available() {
					s := openOn(b, name, isa)
					if buf == nil {
						n = (8 << 20) / s.Shape().SliceVoxels()
						if strings.HasPrefix(name, "noise") {
							n = 4
						}
						voxels = n * s.Shape().SliceVoxels()
						buf = grid.NewBuffer(n * grid.SliceBytes(s))
					}
					for range 3 {
						start := time.Now()
						if err := s.ReadSlab(buf, 0, n); err != nil {
							b.Fatal(err)
						}
						if took := time.Since(start); quickest[isa] == 0 || took < quickest[isa] {
							quickest[isa] = took
						}
					}
				}
			}
			portable := vectors.Available()[len(vectors.Available())-1]
			for _, isa := range vectors.Available() {
				b.ReportMetric(float64(voxels)/quickest[isa].Seconds()/1e9, isa+"-Gvox/s")
				b.ReportMetric(float64(quickest[portable])/float64(quickest[isa]), fmt.Sprintf("%s/%s", isa, portable))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
