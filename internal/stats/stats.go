// Package stats summarises samples: quantiles and moments by gonum, the
// distribution-free interval of the median from order statistics, and exact
// signed-rank tests of paired differences.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Summary describes a sample of one quantity. Lo and Hi bound the median with at least the
// requested confidence. With too few samples they are the extremes, and Confidence is the
// confidence of those. Q1 and Q3 interpolate linearly between the order statistics at n/4 and 3n/4
// (type 4 of Hyndman and Fan 1996, as in all records; R and NumPy default to type 7).
type Summary struct {
	N          int     `json:"n"`
	Min        float64 `json:"min"`
	Q1         float64 `json:"q1"`
	Median     float64 `json:"median"`
	Q3         float64 `json:"q3"`
	Max        float64 `json:"max"`
	Mean       float64 `json:"mean"`
	StdDev     float64 `json:"stddev"`
	Lo         float64 `json:"lo"`
	Hi         float64 `json:"hi"`
	Confidence float64 `json:"confidence"`
}

// Confidence is the level of the intervals the project reports.
const Confidence = 0.95

// Fewest is the least number of values whose extremes bound their median with that confidence.
// Fewer have no interval.
const Fewest = 6

// Summarise describes a sample, which may be in any order and is not modified.
// It panics on an empty sample.
func Summarise(samples []float64) Summary {
	x := slices.Clone(samples)
	slices.Sort(x)
	s := Summary{
		N: len(x), Min: x[0], Max: x[len(x)-1],
		Q1:     stat.Quantile(0.25, stat.LinInterp, x, nil),
		Q3:     stat.Quantile(0.75, stat.LinInterp, x, nil),
		Median: median(x),
	}
	s.Mean = stat.Mean(x, nil)
	if len(x) > 1 {
		s.StdDev = stat.StdDev(x, nil)
	}
	lo, hi, confidence := medianRanks(len(x), Confidence)
	s.Lo, s.Hi, s.Confidence = x[lo], x[hi], confidence
	return s
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// medianRanks returns the narrowest symmetric pair of 0-based ranks that bound the median of n
// samples with at least the given confidence. The bounds are the order statistics of these ranks in
// the sorted sample. It also returns the confidence reached. The number of samples below the median
// is Binomial(n, ½) for every distribution (David and Nagaraja, Order Statistics, section 7.1). The
// confidence must be above 0. Below six samples 95 % is impossible; the ranks are then the
// extremes.
func medianRanks(n int, confidence float64) (lo, hi int, reached float64) {
	below := distuv.Binomial{N: float64(n), P: 0.5}
	reach := func(l int) float64 { return 1 - 2*below.CDF(float64(l)) }
	for reach(lo+1) >= confidence {
		lo++
	}
	return lo, n - 1 - lo, reach(lo)
}

// Spread returns the half-width of the interval relative to the median. It is +Inf if there are too
// few samples for an interval at the project's confidence.
func (s Summary) Spread() float64 {
	if s.Confidence < Confidence || s.Median == 0 {
		return math.Inf(1)
	}
	return (s.Hi - s.Lo) / 2 / math.Abs(s.Median)
}

// LowerDecile returns the value below which a tenth of the values lie, or the least of ten or
// fewer. It sorts a copy, and panics without values.
func LowerDecile(x []float64) float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return stat.Quantile(0.1, stat.LinInterp, sorted, nil)
}
