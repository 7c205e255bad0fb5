package datasets

import (
	"fmt"
	"testing"
)

func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
	}{
		{"distinct/shape=1x1", 1},
		{"distinct/shape=1x2", 2},
		{"distinct/shape=3x1", 3},
		{"distinct/shape=2x2x2/type=uint8", 8},
		{"distinct/shape=15x17/type=uint8", 255},
		{"distinct/shape=16x16/type=uint8", 256},
		{"distinct/shape=257x255/type=uint16", 65535},
		{"distinct/shape=64x64x16/type=int16", 65536},
		{"distinct/shape=41x43x47", 41 * 43 * 47},
	} {
		for seed := range 3 {
			s := openNamed(t, fmt.Sprintf("%s/seed=%d", c.name, seed))
			if s.Ladder().Len() != int64(c.n) {
				t.Fatalf("%s: %d levels, want %d", c.name, s.Ladder().Len(), c.n)
			}
			seen := make([]bool, c.n)
			for i, k := range imageLevels(t, s) {
				if seen[k] {
					t.Fatalf("%s: voxel %d is the second on level %d", c.name, i, k)
				}
				seen[k] = true
			}
		}
	}
}

// TestDistinctIsRandom counts the ascents of the order, which have mean (n−1)/2 and variance
// (n+1)/12 in a random permutation of n. It also compares the distance of neighbours.
func TestDistinctIsRandom(t *testing.T) {
	const n = 100 * 100
	for seed := range 20 {
		levels := imageLevels(t, openNamed(t, fmt.Sprintf("distinct/shape=100x100/seed=%d", seed)))
		var ascents, apart float64
		for i, k := range levels[1:] {
			if k > levels[i] {
				ascents++
			}
			apart += max(float64(k-levels[i]), float64(levels[i]-k))
		}
		if z := (ascents - (n-1)/2.) / 28.9; z < -4.5 || z > 4.5 {
			t.Errorf("seed %d: %v ascents of %d", seed, ascents, n)
		}
		// The mean distance of two random levels is a third of their number.
		if mean := apart / (n - 1) / n; mean < 0.32 || mean > 0.347 {
			t.Errorf("seed %d: neighbours are %.4f of the range apart", seed, mean)
		}
	}
}
