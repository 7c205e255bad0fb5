package random

import (
	"math/big"
	"math/bits"
)

// deviations is the number of standard deviations of a Gaussian field between its mean and the ends
// of its levels.
const deviations = 5

// A quantiser converts a smoothed sum v of variance σ² about its mean to a level of n. With
// c = deviations, the level is ⌊(v/σ + c)·n/(2c)⌋, clamped to 0…n−1. σ² is an integer. The two
// irrational factors are in fixed point, rounded up, with σ from an integer root. With
// u = v·2^p + ⌈cσ·2^p⌉ < 2⁶² the level is u·m >> (64+q), for
// 2⁶³ ≤ m = ⌈n·2^(64+q)/(2cσ·2^p)⌉ < 2⁶⁴. Rounding up puts v = 0 exactly at the middle level of
// an even number.
type quantiser struct {
	mean  int64 // of the sums, which count from 0
	most  int64 // the largest possible sum
	limit int64 // |v| beyond it is clamped
	zero  int64 // u of the mean
	shift uint  // p
	m     uint64
	down  uint // q
	top   uint32
}

// newQuantiser returns the quantiser for sums of binomial noise (32 trials: variance 8), weighted
// by the kernel along each of dim axes.
func newQuantiser(kernel []int64, dim int, n int64) quantiser {
	var sum, squares int64
	for _, k := range kernel {
		sum += k
		squares += k * k
	}
	q := quantiser{mean: 16, top: uint32(n - 1)}
	variance := big.NewInt(8)
	for range dim {
		q.mean *= sum
		variance.Mul(variance, big.NewInt(squares))
	}
	q.most = 2 * q.mean

	// half is (cσ)².
	half := new(big.Int).Mul(variance, big.NewInt(deviations*deviations))
	q.limit = new(big.Int).Sqrt(half).Int64() + 1
	q.shift = uint(62 - bits.Len64(uint64(2*q.limit)))
	scaled := new(big.Int).Lsh(half, 2*q.shift)
	q.zero = rootUp(scaled).Int64()

	// The square of the factor is n²·4^(64+q)/(4·scaled).
	den := scaled.Lsh(scaled, 2)
	for ; ; q.down++ {
		num := new(big.Int).Lsh(big.NewInt(n*n), 2*(64+q.down))
		// Rounding up twice is rounding up once: roots of integers between two squares have the same
		// ceiling.
		m := rootUp(num.Add(num, den).Sub(num, big.NewInt(1)).Div(num, den))
		if m.BitLen() == 64 {
			q.m = m.Uint64()
			return q
		}
	}
}

// rootUp returns the ceiling of the square root of x.
func rootUp(x *big.Int) *big.Int {
	r := new(big.Int).Sqrt(x)
	if new(big.Int).Mul(r, r).Cmp(x) < 0 {
		r.Add(r, big.NewInt(1))
	}
	return r
}

// level returns the level of a sum.
func (q *quantiser) level(sum uint64) uint32 {
	v := max(min(int64(sum)-q.mean, q.limit), -q.limit)
	u := max(v<<(q.shift&63)+q.zero, 0)
	hi, _ := bits.Mul64(uint64(u), q.m)
	return min(uint32(hi>>(q.down&63)), q.top)
}

// levels sets dst to the levels of words. Paired words give the levels of the lower halves, then
// those of the upper halves.
func (q *quantiser) levels(dst []uint32, words []uint64, paired bool) {
	c := *q
	if !paired {
		for i, w := range words {
			dst[i] = c.level(w)
		}
		return
	}
	low, high := dst[:len(words)], dst[len(words):][:len(words)]
	for i, w := range words {
		low[i] = c.level(w & 0xffffffff)
		high[i] = c.level(w >> 32)
	}
}
