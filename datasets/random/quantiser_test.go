package random

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestQuantiser compares levels with their definition, by exact comparisons of
// squares: v is at or above the bottom of level k where v/σ ≥ (10k − 5n)/n.
func TestQuantiser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kernel := boxKernel(BoxWidths(rapid.Float64Range(0.5, 32).Draw(t, "smooth")))
		dim := rapid.IntRange(2, 3).Draw(t, "dim")
		n := rapid.OneOf(rapid.Int64Range(1, 1<<24), rapid.SampledFrom([]int64{1, 2, 3, 256, 1024, 65536, 1 << 24})).Draw(t, "levels")
		q := newQuantiser(kernel, dim, n)
		variance := big.NewInt(8)
		var squares int64
		for _, k := range kernel {
			squares += k * k
		}
		for range dim {
			variance.Mul(variance, big.NewInt(squares))
		}
		at := rapid.OneOf(rapid.Int64Range(-q.mean, q.mean), rapid.Int64Range(-q.limit-2, q.limit+2), rapid.Just(int64(0)))
		for _, v := range rapid.SliceOfN(at, 8, 8).Draw(t, "v") {
			v = max(-q.mean, min(v, q.mean))
			k := int64(q.level(uint64(v + q.mean)))
			above := func(k int64) bool {
				left, right := big.NewInt(v), big.NewInt(10*k-5*n)
				signs := left.Sign() - right.Sign()
				if signs != 0 {
					return signs > 0
				}
				left.Mul(left, left).Mul(left, big.NewInt(n)).Mul(left, big.NewInt(n))
				negative := right.Sign() < 0
				right.Mul(right, right).Mul(right, variance)
				if negative {
					return left.Cmp(right) <= 0
				}
				return left.Cmp(right) >= 0
			}
			if k < 0 || k >= n || k > 0 && !above(k) || k < n-1 && above(k+1) {
				t.Fatalf("sum %d beyond the mean is on level %d of %d", v, k, n)
			}
		}
	})
}

// A level of the fast quantiser that is not near the next one is the exact level. The sums are the
// least and the largest ones, those next to changes of the level, and others.
func TestFastQuantiser(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	fast := 0
	for _, smooth := range []float64{0.5, 0.7, 1, 1.4, 2, 2.5, 3, 4, 5.68, 8, 11, 16, 23, 32} {
		for _, n := range []int64{1, 2, 3, 7, 100, 255, 256, 1000, 1024, 3000, 65535, 65536, 1 << 20, 1 << 24} {
			for dim := 2; dim <= 3; dim++ {
				q := newQuantiser(boxKernel(BoxWidths(smooth)), dim, n)
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

// rootUp of a square is its root.
func TestRootUp(t *testing.T) {
	for n, want := int64(0), int64(0); n < 200; n++ {
		if want*want < n {
			want++
		}
		if got := rootUp(big.NewInt(n)); got.Int64() != want {
			t.Errorf("the root of %d is %v, want %d", n, got, want)
		}
	}
}
