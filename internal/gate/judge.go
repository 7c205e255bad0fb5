package gate

import (
	"fmt"
	"math"

	"eccbench/internal/stats"
)

// level is the significance level of every test and bound.
const level = 0.05

// estimate computes the change from the log ratios of the blocks, for an effect as a share. The
// p-values are not adjusted yet. It returns nil without blocks.
func estimate(logs []float64, effect float64) *Estimate {
	if len(logs) == 0 {
		return nil
	}
	e := &Estimate{Blocks: len(logs), Change: math.Expm1(stats.HodgesLehmann(logs)), Logs: logs}
	if lo, hi := stats.SignedRankBounds(logs, 1-level); !math.IsInf(lo, 0) {
		lo, hi = math.Expm1(lo), math.Expm1(hi)
		e.Lo, e.Hi = &lo, &hi
	}
	margin := math.Log1p(effect)
	slower, faster := make([]float64, len(logs)), make([]float64, len(logs))
	for i, d := range logs {
		slower[i], faster[i] = d-margin, -d-margin
	}
	e.Slower, e.Faster = stats.SignedRank(slower), stats.SignedRank(faster)
	return e
}

// adjust adjusts the p-values of several cells (Holm).
func adjust(list []*Estimate) {
	slower, faster := make([]float64, len(list)), make([]float64, len(list))
	for i, e := range list {
		slower[i], faster[i] = e.Slower, e.Faster
	}
	slower, faster = stats.Holm(slower), stats.Holm(faster)
	for i, e := range list {
		e.Slower, e.Faster = slower[i], faster[i]
	}
}

// decide returns the decision of an estimate. It is definite if the lower bound or the upper bound
// is beyond the effect, or if both are within it.
func (e *Estimate) decide(effect float64) Decision {
	switch {
	case e == nil:
		return Inconclusive
	case e.Slower <= level:
		return Regression
	case e.Faster <= level:
		return Improved
	case e.Lo != nil && *e.Lo > lower(effect) && *e.Hi < effect:
		return Same
	}
	return Inconclusive
}

// suspect reports whether there is a slowdown whose estimate exceeds the effect.
func (e *Estimate) suspect(effect float64) bool {
	return e != nil && e.Lo != nil && e.Change > effect && *e.Lo > 0
}

// Fewest returns the least number of agreeing blocks that can show a change in one of the cells.
// The exact test has no p-value below 2^-blocks, and Holm's method multiplies it by the number of
// cells.
func Fewest(cells int) int {
	return int(math.Ceil(math.Log2(float64(max(1, cells)) / level)))
}

// repeats reports whether a repeated run shows a change in the direction of a flag.
func (e *Estimate) repeats(d Decision) bool {
	if e.Lo == nil {
		return false
	}
	return d == Regression && *e.Lo > 0 || d == Improved && *e.Hi < 0
}

// interval formats the change and its interval.
func (e *Estimate) interval() string {
	if e.Lo == nil {
		return fmt.Sprintf("%+.1f %%", e.Change*100)
	}
	return fmt.Sprintf("%+.1f %%, 90 %% interval %.1f to %.1f", e.Change*100, *e.Lo*100, *e.Hi*100)
}

// lower returns the effect in the other direction: the same ratio faster instead of slower.
func lower(effect float64) float64 { return 1/(1+effect) - 1 }

// settle estimates the number of blocks that would distinguish the change from the effect with a
// probability of 80 %. The estimate follows from the variation of the blocks. It is 0 if this is
// unknown or above 1000. The signed-rank test has 3/π of the efficiency of a test of means of
// normal values.
func (e *Estimate) settle(effect float64, cells int) int {
	if e == nil {
		return 0
	}
	fewest := max(Fewest(cells), len(e.Logs)+1)
	if len(e.Logs) < 3 {
		return fewest
	}
	mean, sum := 0.0, 0.0
	for _, d := range e.Logs {
		mean += d / float64(len(e.Logs))
	}
	for _, d := range e.Logs {
		sum += (d - mean) * (d - mean)
	}
	deviation := math.Sqrt(sum / float64(len(e.Logs)-1))
	away := math.Abs(math.Abs(math.Log1p(e.Change)) - math.Log1p(effect))
	const z = 1.645 + 0.842 // one-sided 5 %, and 80 %
	n := math.Ceil(math.Pow(z*deviation/away, 2) * math.Pi / 3)
	if math.IsNaN(n) || n > 1000 {
		return 0
	}
	return max(int(n), fewest)
}

// processDeviation returns the standard deviation between two processes of one side in one
// block, as a share of their time.
func processDeviation(pairs [][2]float64) float64 {
	if len(pairs) == 0 {
		return 0
	}
	sum := 0.0
	for _, p := range pairs {
		d := math.Log(p[0] / p[1])
		sum += d * d / 2
	}
	return math.Sqrt(sum / float64(len(pairs)))
}
