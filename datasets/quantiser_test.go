package datasets

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestQuantiser compares levels with their definition, by exact comparisons of
// squares: v is at or above the bottom of level k where v/σ ≥ (10k − 5n)/n.
func TestQuantiser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kernel := boxKernel(boxWidths(rapid.Float64Range(0.5, 32).Draw(t, "smooth")))
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
