package ecc

import "testing"

func BenchmarkCharacteristic(b *testing.B) {
	levels := make([]int32, 64*64*64)
	for i := range levels {
		levels[i] = int32(uint32(i*2654435761) >> 22)
	}
	for b.Loop() {
		CharacteristicOfLevels(levels, 64, 64, 300)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(levels)), "ns/vox")
}
