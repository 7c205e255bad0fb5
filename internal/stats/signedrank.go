package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// SignedRank returns the exact one-sided p-value of Wilcoxon's signed-rank test. The null
// hypothesis is that the median of symmetrically distributed differences is at most 0. The p-value
// is the chance of a sum of positive ranks at least this large, if every sign is a fair coin. Equal
// magnitudes share the mean of their ranks, and zeros have ranks but no sign (Pratt 1959), so the
// distribution is exact with ties. Without a nonzero difference it is 1, and with a NaN it is NaN.
func SignedRank(d []float64) float64 {
	if slices.ContainsFunc(d, math.IsNaN) {
		return math.NaN()
	}
	ranks, positive := doubledRanks(d)
	probability := rankSums(ranks)
	p := 0.0
	for sum := len(probability) - 1; sum >= positive; sum-- { // the small ones first
		p += probability[sum]
	}
	return min(p, 1)
}

// doubledRanks returns twice the mid-ranks of the nonzero magnitudes, which are whole numbers, and
// the sum of the positive ones.
func doubledRanks(d []float64) (ranks []int, positive int) {
	order := slices.Clone(d)
	slices.SortFunc(order, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	for lo := 0; lo < len(order); {
		hi := lo
		for hi < len(order) && math.Abs(order[hi]) == math.Abs(order[lo]) {
			hi++
		}
		for _, v := range order[lo:hi] {
			if v != 0 {
				ranks = append(ranks, lo+1+hi)
			}
			if v > 0 {
				positive += lo + 1 + hi
			}
		}
		lo = hi
	}
	return ranks, positive
}

// rankSums is the probability of each sum of the ranks that a fair coin picks.
func rankSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	p := make([]float64, total+1)
	p[0] = 1
	reached := 0
	for _, r := range ranks {
		reached += r
		for sum := reached; sum >= r; sum-- {
			p[sum] = (p[sum] + p[sum-r]) / 2
		}
		for sum := r - 1; sum >= 0; sum-- {
			p[sum] /= 2
		}
	}
	return p
}

// HodgesLehmann is the Hodges-Lehmann estimate of the median of symmetrically
// distributed values: the median of their Walsh averages (Hodges and Lehmann
// 1963). It panics without values.
func HodgesLehmann(d []float64) float64 { return median(walsh(d)) }

// walsh is the means of all pairs of values, each with itself too, ascending.
func walsh(d []float64) []float64 {
	var w []float64
	for i, a := range d {
		for _, b := range d[:i+1] {
			w = append(w, a/2+b/2)
		}
	}
	sort.Float64s(w)
	return w
}

// SignedRankBounds returns exact one-sided bounds of the median of symmetrically distributed
// values, each of at least the given confidence. They invert the signed-rank test: order statistics
// of the Walsh averages (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, section
// 3.3). Between them the confidence is 2·confidence − 1. With too few values, below five for 95 %,
// the bounds are infinite. Ties only widen them.
func SignedRankBounds(d []float64, confidence float64) (lo, hi float64) {
	ranks := make([]int, len(d))
	for i := range ranks {
		ranks[i] = i + 1
	}
	k, below := 0, 0.0 // k is the number of averages that the bound may leave out
	for _, p := range rankSums(ranks) {
		if below += p; below > 1-confidence+1e-12 {
			break
		}
		k++
	}
	if k == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	w := walsh(d)
	return w[k-1], w[len(w)-k]
}

// Holm adjusts the p-values of several tests (Holm 1979). Comparing each with a level keeps the
// chance of any false rejection below it.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	var most float64
	for done, i := range order {
		most = max(most, min(1, p[i]*float64(len(p)-done)))
		adjusted[i] = most
	}
	return adjusted
}

// Median is the median of values in any order, which are not modified. It panics
// without values.
func Median(x []float64) float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return median(sorted)
}
