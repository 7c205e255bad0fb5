package binned

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/softecc"
)

// Bounds of the bins. λ times the width is at most 1/perLambda. There are at least least bins,
// because a sum of many overlapping sigmoids needs finer ones. A problem that needs more than most
// has no bins: its sigmoids are so steep that few voxels are near a threshold.
const (
	perLambda = 20
	least     = 1 << 12
	most      = 1 << 18
	binBytes  = 24
)

// reach is a distance from a threshold in units of 1/λ. Beyond it a sigmoid is 0 or 1 to the last
// bit of a float64 sum: e⁻⁴⁰ < 2⁻⁵⁷.
const reach = 40

// bins are evenly spaced values. Bin k holds the values nearest to at(k); values beyond all bins
// are in none.
type bins struct {
	lambda             float64
	lo, width, inverse float64
	n                  int // 0 if there would be too many bins
}

func (b bins) at(k int) float64 { return b.lo + float64(k)*b.width }

// layBins places bins over the range of Y. If Y is X and the ladder is evenly spaced, bins are on
// the levels.
func layBins(p *softecc.Problem) bins {
	l := p.Ladder()
	lo, hi := float64(l.Value(0)), float64(l.Value(l.Len()-1))
	if p.Vertices { // counted negated
		lo, hi = -hi, -lo
	}
	return layBinsOver(p, lo, hi)
}

// layBinsOver is layBins for values of X from lo to hi.
func layBinsOver(p *softecc.Problem, lo, hi float64) bins {
	s := p.Shape()
	u, _ := p.U()
	rise := 0.0
	for i, n := range []int64{s.W, s.H, s.D} {
		rise += math.Abs(p.Alpha * u[i] * softecc.Place(0, n))
	}
	b := bins{lambda: p.Lambda, lo: lo - rise}
	span := hi - lo + 2*rise
	if span == 0 {
		return b
	}
	b.width = min(1/(perLambda*p.Lambda), span/least)
	if step, even := spacing(p); even && rise == 0 {
		if width := step / math.Ceil(step/b.width); span/width < most {
			b.width = width
		}
	}
	if !(span/b.width < most) {
		return b
	}
	b.lo -= b.width
	b.inverse, b.n = 1/b.width, int(math.Ceil(span/b.width))+3
	return b
}

// spacing returns the distance between the levels of an evenly spaced ladder.
func spacing(p *softecc.Problem) (step float64, even bool) {
	if _, step, even = p.Ladder().Affinity(); even {
		return step, true
	}
	return 1, p.Type() != grid.Float32
}

// A bin sums changes and their first two moments about its middle.
type bin struct{ c, first, second float64 }

// A tally sums the changes of many voxels: in bins, and for values outside of all bins by
// threshold.
type tally struct {
	bins
	list []bin

	// Values in no bin. Thresholds above a value by more than reach get its whole change, added at
	// the first of them. Thresholds within reach get their share.
	p      *softecc.Problem
	order  []int     // of the thresholds
	tau    []float64 // ascending
	window float64
	reach  float64
	whole  []int64
	near   Curve // by ascending threshold

	nodes      *Nodes // used in place of bins and thresholds, unless nil
	sums, work []float64
}

// A Curve is χ at every threshold, and its derivatives by the threshold and by λ. Derivatives that
// are not wanted are nil.
type Curve struct{ Chi, ByTau, ByLambda []float64 }

func newCurve(m int) Curve {
	return Curve{make([]float64, m), make([]float64, m), make([]float64, m)}
}

func (c Curve) clear() {
	clear(c.Chi)
	clear(c.ByTau)
	clear(c.ByLambda)
}

// answer is the curve with the gradients of a problem by the thresholds and by λ.
func (c Curve) answer(p *softecc.Problem) softecc.Answer {
	a := softecc.Answer{Chi: c.Chi, DTau: make([]float64, len(c.ByTau))}
	for j, g := range p.G {
		a.DTau[j] = g * c.ByTau[j]
		a.Lambda += g * c.ByLambda[j]
	}
	return a
}

func newTally(p *softecc.Problem, b bins, k *Nodes, reach float64) *tally {
	if k != nil {
		return &tally{nodes: k, sums: make([]float64, k.n), work: make([]float64, k.n+columns*len(k.from))}
	}
	t := &tally{bins: b, p: p, list: make([]bin, b.n), window: reach / p.Lambda, reach: reach}
	t.order, t.tau = sorted(p.Tau)
	t.whole, t.near = make([]int64, len(t.tau)+1), newCurve(len(t.tau))
	return t
}

func sorted(tau []float64) (order []int, list []float64) {
	for j := range tau {
		order = append(order, j)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case tau[a] < tau[b]:
			return -1
		case tau[a] > tau[b]:
			return 1
		}
		return 0
	})
	for _, j := range order {
		list = append(list, tau[j])
	}
	return order, list
}

func (t *tally) reset() {
	clear(t.list)
	clear(t.whole)
	clear(t.sums)
	t.near.clear()
}

func (t *tally) merge(o *tally) {
	floats.Add(t.sums, o.sums)
	for k, b := range o.list {
		t.list[k].c += b.c
		t.list[k].first += b.first
		t.list[k].second += b.second
	}
	for j, v := range o.whole {
		t.whole[j] += v
	}
	for j := range o.tau {
		t.near.Chi[j] += o.near.Chi[j]
		t.near.ByTau[j] += o.near.ByTau[j]
		t.near.ByLambda[j] += o.near.ByLambda[j]
	}
}

// addRow adds the changes of a row of voxels of Y.
func addRow[T value](t *tally, y []T, changes []uint8) {
	for x := 0; x < len(changes); x += 8 {
		for w := eight(changes[x:]); w != 0; {
			i := bits.TrailingZeros64(w) &^ 7
			t.add(float64(y[x+i/8]), int8(w>>i))
			w &^= 0xff << i
		}
	}
}

// eight are the next eight changes, a byte each, and 0 behind the last.
func eight(changes []uint8) (w uint64) {
	if len(changes) >= 8 {
		return binary.LittleEndian.Uint64(changes)
	}
	for i, v := range changes {
		w |= uint64(v) << (8 * i)
	}
	return w
}

func (t *tally) add(y float64, change int8) {
	k := int((y-t.lo)*t.inverse + 0.5)
	if uint(k) >= uint(len(t.list)) || y < t.lo {
		t.alone(y, change)
		return
	}
	b, c, d := &t.list[k], float64(change), y-(t.lo+float64(k)*t.width)
	b.c += c
	b.first += c * d
	b.second += c * d * d
}

// near returns the range of the thresholds within reach of a value; the ones above the value's
// reach follow.
func near(tau []float64, y, window float64) (from, to int) {
	return sort.SearchFloat64s(tau, y-window), sort.Search(len(tau), func(j int) bool { return tau[j] > y+window })
}

func (t *tally) alone(y float64, change int8) {
	from, to := near(t.tau, y, t.window)
	t.whole[to] += int64(change)
	c := float64(change)
	for j := from; j < to; j++ {
		z := t.tau[j] - y
		s, d := softecc.Sigmoid(t.p.Lambda * z)
		t.near.Chi[j] += c * s
		t.near.ByTau[j] += c * t.p.Lambda * d
		t.near.ByLambda[j] += c * z * d
	}
}

// convolve convolves the bins with the sigmoids and their derivatives, to the second moment:
// σ(τ−at−δ) = σ − δσ' + δ²σ″/2. Bins below a threshold by more than reach count whole.
func (t *tally) convolve(a Curve, p *softecc.Problem, threads int) {
	if t.nodes != nil {
		t.nodes.curve(a, t.sums, t.work)
		return
	}
	m := len(p.Tau)
	below := make([]float64, len(t.list)+1) // whole numbers
	for k, b := range t.list {
		below[k+1] = below[k] + b.c
	}
	each(threads, m, func(j int) {
		tau, lambda := p.Tau[j], p.Lambda
		from, to := t.within(tau, t.reach)
		chi, dtau, dl := 0.0, 0.0, 0.0
		t.each(tau, from, to, func(k int, z, s, d float64) {
			b := &t.list[k]
			// The derivatives of σ by z: λd, λ²d₂, λ³d₃.
			d2, d3 := d*(1-2*s), d*(1-6*d)
			first, second := lambda*b.first, lambda*lambda*b.second/2
			chi += b.c*s - first*d + second*d2
			slope := b.c*d - first*d2 + second*d3
			dtau += slope
			// ∂σ/∂λ = z·d, whose derivatives by λz are d/λ + z·d₂ and 2d₂/λ + z·d₃.
			dl += z*slope + (2*second*d2-first*d)/lambda
		})
		a.Chi[j] = chi + below[from]
		if a.ByTau != nil {
			a.ByTau[j], a.ByLambda[j] = lambda*dtau, dl
		}
	})
	whole := int64(0)
	for k, j := range t.order {
		whole += t.whole[k]
		a.Chi[j] += t.near.Chi[k] + float64(whole)
		if a.ByTau != nil {
			a.ByTau[j] += t.near.ByTau[k]
			a.ByLambda[j] += t.near.ByLambda[k]
		}
	}
}

// within returns the range of the bins whose middle is within a distance, in units of 1/λ, of a
// threshold, and one bin more.
func (b bins) within(tau, reach float64) (from, to int) {
	if b.n == 0 {
		return 0, 0
	}
	place := func(v float64) int { return int(min(max((v-b.lo)*b.inverse, 0), float64(b.n))) }
	half := reach/b.lambda + b.width
	return place(tau - half), place(tau + half + b.width)
}

// each calls f with bins near a threshold, with z = τ − at(k), σ = 1/(1+exp(−λz)) and
// σ(1−σ). From bin to bin the exponential grows by the same factor.
func (b bins) each(tau float64, from, to int, f func(k int, z, s, d float64)) {
	const anew = 32 // roundings add up to a few 10⁻¹⁵
	grow := math.Exp(b.lambda * b.width)
	for k := from; k < to; {
		e := math.Exp(-b.lambda * (tau - b.at(k)))
		for end := min(k+anew, to); k < end; k++ {
			s := 1 / (1 + e)
			f(k, tau-b.at(k), s, e*s*s)
			e *= grow
		}
	}
}

// each calls work for 0 ≤ i < n on a number of cores.
func each(threads, n int, work func(i int)) {
	crew.Each(min(threads, n), func(k int) {
		for i := k; i < n; i += threads {
			work(i)
		}
	})
}

// A table is G'(y) = Σ g_j σ'(τ_j − y) with its first two derivatives, at the middle of every bin.
// The derivatives are in units of the bin width, so they fit float32 for any units of the image.
type table struct {
	bins
	list []entry

	p      *softecc.Problem
	tau    []float64
	order  []int
	window float64

	nodes []float64 // G' by node, in place of bins and thresholds, unless nil
}

type entry struct{ value, first, second float32 }

func newTable(p *softecc.Problem, b bins, reach float64, threads int) *table {
	t := &table{bins: b, list: make([]entry, b.n), p: p, window: reach / p.Lambda}
	t.order, t.tau = sorted(p.Tau)
	parts := 4 * threads
	each(threads, parts, func(i int) {
		lo, hi := b.n*i/parts, b.n*(i+1)/parts
		sums := make([][3]float64, hi-lo)
		for j, tau := range p.Tau {
			from, to := b.within(tau, reach)
			g := p.G[j] * p.Lambda
			b.each(tau, max(from, lo), min(to, hi), func(k int, _, s, d float64) {
				v := &sums[k-lo]
				v[0] += g * d
				v[1] -= g * d * (1 - 2*s)
				v[2] += g * d * (1 - 6*d)
			})
		}
		wide := p.Lambda * b.width
		for k, v := range sums {
			t.list[lo+k] = entry{float32(v[0]), float32(wide * v[1]), float32(wide * wide * v[2] / 2)}
		}
	})
	return t
}

// slope is G' of a value.
func (t *table) slope(y float64) float64 {
	at := (y - t.lo) * t.inverse
	k := int(at + 0.5)
	if uint(k) >= uint(len(t.list)) || y < t.lo {
		return t.alone(y)
	}
	e, d := &t.list[k], at-float64(k)
	return float64(e.value) + d*(float64(e.first)+d*float64(e.second))
}

func (t *table) alone(y float64) (sum float64) {
	from, to := near(t.tau, y, t.window)
	for j := from; j < to; j++ {
		_, d := softecc.Sigmoid(t.p.Lambda * (t.tau[j] - y))
		sum += t.p.G[t.order[j]] * t.p.Lambda * d
	}
	return sum
}
