package smooth

import "testing"

func BenchmarkPlain(b *testing.B) {
	const side = 1024
	src, dst, between := make([]float32, side*side), make([]float32, side*side), make([]float32, side*side)
	for b.Loop() {
		plain(dst, src, between, side, side, 1, 2)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/side/side, "ns/pixel")
}
