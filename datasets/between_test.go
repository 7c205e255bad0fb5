package datasets

import (
	"math"
	"testing"

	"eccbench/internal/grid"
)

// Every kind of value occurs. No value is above the ladder, NaN or −0.
func TestBetween(t *testing.T) {
	for _, name := range []string{
		"between/shape=101x67/seed=1", "between/shape=31x29x23/levels=200/lo=-3.3/step=0.1/seed=2", "between/shape=64x64/levels=1/seed=3",
		"between/shape=64x64/levels=2/lo=-3.4e38/step=1e38/seed=4", "between/shape=64x64/levels=99/step=1e-42/seed=5",
	} {
		f := loadNamed(t, name)
		l := f.Ladder()
		last := l.Value(l.Len() - 1)
		var on, above, below, between, beneath, far int
		for i, v := range grid.Values[float32](f.Data()) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) || v > last || v == 0 && math.Signbit(float64(v)) {
				t.Fatalf("%s: voxel %d is %v", name, i, v)
			}
			k := l.Level(v)
			switch {
			case v == l.Value(k):
				on++
			case v == -math.MaxFloat32:
				far++
			case k == 0:
				beneath++
			case v == math.Nextafter32(l.Value(k-1), last):
				above++
			case v == math.Nextafter32(l.Value(k), l.Value(k-1)):
				below++
			default:
				between++
			}
		}
		n := len(f.Data()) / 4
		if on < n*2/5 || beneath < n/20 || far < n/1000 {
			t.Errorf("%s: of %d voxels %d are on levels, %d below all, %d far below", name, n, on, beneath, far)
		}
		if l.Len() > 2 && l.Value(1)-l.Value(0) > 1e-40 && (above < n/20 || below < n/20 || between < n/20) {
			t.Errorf("%s: of %d voxels %d are just above a level, %d just below, %d between", name, n, above, below, between)
		}
	}
}
