package datasets

import (
	"math/rand/v2"
	"testing"
)

// A level of the fast quantiser that is not near the next one is the exact level. The sums are the
// least and the largest ones, those next to changes of the level, and others.
func fastQuantiserIsTheQuantiser(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	fast := 0
	for _, smooth := range []float64{0.5, 0.7, 1, 1.4, 2, 2.5, 3, 4, 5.68, 8, 11, 16, 23, 32} {
		for _, n := range []int64{1, 2, 3, 7, 100, 255, 256, 1000, 1024, 3000, 65535, 65536, 1 << 20, 1 << 24} {
			for dim := 2; dim <= 3; dim++ {
				q := newQuantiser(boxKernel(boxWidths(smooth)), dim, n)
				f := q.fast()
				if f == nil { // unsupported for these sums
					continue
				}
				fast++
				check := func(sum int64) {
					sum = max(0, min(sum, q.most))
					p := min(max(uint64(sum), f.base)-f.base, f.most)>>f.drop*uint64(f.factor) + f.zero
					if uint32(p<<(64-f.down)>>32) >= f.near {
						return
					}
					if got, want := min(uint32(p>>f.down), f.top), q.level(uint64(sum)); got != want {
						t.Fatalf("smoothed by %v in %dD, %d levels: sum %d is on level %d, want %d", smooth, dim, n, sum, got, want)
					}
				}
				for _, sum := range []int64{0, 1, q.mean - q.limit - 1, q.mean - q.limit, q.mean - q.limit + 1, q.mean - 1, q.mean, q.mean + q.limit - 1, q.mean + q.limit, q.mean + q.limit + 1, q.most} {
					check(sum)
				}
				for range 12 {
					// Find a change of the level by bisection.
					k := uint32(rng.Int64N(int64(q.top) + 1))
					lo, hi := int64(0), q.most
					for lo < hi {
						if mid := (lo + hi) / 2; q.level(uint64(mid)) < k {
							lo = mid + 1
						} else {
							hi = mid
						}
					}
					check(lo - 1)
					check(lo)
					check(rng.Int64N(q.most + 1))
				}
			}
		}
	}
	if fast < 100 {
		t.Errorf("%d quantisers have a fast one", fast)
	}
}
