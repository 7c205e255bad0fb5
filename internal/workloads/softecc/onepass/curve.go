package onepass

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A curve adds cells up at all thresholds, in float64.
type curve struct {
	order        []int     // the thresholds, ascending
	tau, g       []float64 // in that order
	chi, dtau    []float64
	whole        []float64 // cells whose sigmoid is 1 from a threshold on
	lambda, dlam float64
}

func (q *Question) curve() *curve {
	m := len(q.Tau)
	c := &curve{
		order: make([]int, m), lambda: q.Lambda,
		chi: make([]float64, m), dtau: make([]float64, m), whole: make([]float64, m+1),
	}
	for j := range c.order {
		c.order[j] = j
	}
	slices.SortFunc(c.order, func(i, j int) int { return cmp.Compare(q.Tau[i], q.Tau[j]) })
	for _, j := range c.order {
		c.tau, c.g = append(c.tau, q.Tau[j]), append(c.g, q.G[j])
	}
	return c
}

// steepThresholds returns the thresholds at which the sigmoid of a value is neither 0 nor 1.
func (c *curve) steepThresholds(v float64) (from, to int) {
	reach := far / c.lambda
	from = sort.Search(len(c.tau), func(j int) bool { return c.tau[j] >= v-reach })
	return from, sort.Search(len(c.tau), func(j int) bool { return c.tau[j] > v+reach })
}

// add adds cells of a value, and returns G' there.
func (c *curve) add(v, cells float64) (slope float64) {
	from, to := c.steepThresholds(v)
	for j := from; j < to; j++ {
		z := c.tau[j] - v
		e := math.Exp(-math.Abs(c.lambda * z))
		s := 1 / (1 + e)
		d := e * s * s * c.g[j]
		if z < 0 {
			s *= e
		}
		c.chi[j] += cells * s
		c.dtau[j] += cells * c.lambda * d
		c.dlam += cells * z * d
		slope += c.lambda * d
	}
	c.whole[to] += cells
	return slope
}

func (c *curve) merge(o *curve) {
	c.dlam += o.dlam
	for _, l := range [][2][]float64{{c.chi, o.chi}, {c.dtau, o.dtau}, {c.whole, o.whole}} {
		for k, v := range l[1] {
			l[0][k] += v
		}
	}
}

// finish sets the curve of an answer, in the order of the question.
func (c *curve) finish(a *Answer) {
	a.Chi, a.DTau, a.Lambda = make([]float64, len(c.tau)), make([]float64, len(c.tau)), c.dlam
	whole := 0.0
	for k, j := range c.order {
		whole += c.whole[k]
		a.Chi[j], a.DTau[j] = c.chi[k]+whole, c.dtau[k]
	}
}

// A table has nodes at even steps, n = 0 for none.
type table struct {
	n              int
	from, to, step float64
	slopes         []float64 // G' at the nodes
}

// table returns a table with a number of nodes in 1/λ, from where all sigmoids are 1 to where all
// are 0. It has no nodes if they would be too many, or too many for a small image, or if roundings
// of the values count.
func (q *Question) table(parts float64) table {
	reach, most := far/q.Lambda, float64(min(mostNodes, 8*q.Shape.Voxels()))
	t := table{from: slices.Min(q.Tau) - reach, to: slices.Max(q.Tau) + reach, step: 1 / (parts * q.Lambda)}
	if n := (t.to - t.from) / t.step; n < most && t.step > 1e-10*max(-t.from, t.to) {
		t.n = int(n) + 3
	}
	return t
}

// value returns the value of a node.
func (t *table) value(k int) float64 { return t.from + float64(k)*t.step }

// mostWithin returns the greatest number of thresholds at which the sigmoid of one value is neither 0
// nor 1.
func (q *Question) mostWithin() (most int64) {
	c := q.curve()
	for j, tau := range c.tau {
		_, to := c.steepThresholds(tau + far/c.lambda)
		most = max(most, int64(to-j))
	}
	return most
}
