package eigenmap

import (
	"fmt"
	"math"

	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
)

const (
	// ofProof is the greatest distance of an eigenvalue below the value of its pair, as a share of
	// the value. leastProof is the distance that is always allowed, because float64 proves no less.
	ofProof, leastProof = 1e-2, 1e-14
	// mostCounts is the greatest number of eigenvalue counts in a proof. One is enough if there is
	// a gap below the last cluster.
	mostCounts = 8
)

// A counter returns the number of eigenvalues below a shift. It also returns a bound on their error
// by rounding.
type counter func(shift float64) (n int, moved float64, err error)

// complete proves that no pair is missing and that each eigenvalue is at most 1 % below its value.
// It counts the negative pivots of L minus a shift.
func complete(p *Problem, m Map, _ ask) ([]verify.Measure, error) {
	return p.prove(m, func(g *Graph, _ Map, b *bounds) (measure, error) {
		if p.Kind != Grid && !factored(g.Nodes()) {
			return measure{}, verify.Undecided("the graph of %d patches is dense, and too large to factor", g.Nodes())
		}
		return b.prove(g.countBelow)
	})
}

// prove returns the measures of a map, with that of a proof of its bounds if all others are within
// their limits.
func (p *Problem) prove(m Map, proof func(*Graph, Map, *bounds) (measure, error)) ([]measure, error) {
	g, err := p.graph()
	if err != nil {
		return nil, err
	}
	list, c, err := p.measuresOf(m)
	if err != nil || c.residuals == nil || !keepLimits(list) {
		return list, err
	}
	_, parts := g.components()
	known := min(parts, p.K)
	if parts > p.K { // only their values show that they are in the kernel
		for known = 0; known < p.K && math.Abs(m.Values[known]) <= ofCancels; known++ {
		}
	}
	last, err := proof(g, m, newBounds(m, c, known))
	if err != nil {
		return nil, err
	}
	return append(list, last), nil
}

func keepLimits(list []verify.Measure) bool {
	for _, m := range list {
		if !m.IsWithinLimit() {
			return false
		}
	}
	return true
}

// bounds hold the proven bounds of the eigenvalues of a map. With orthonormal vectors, the i-th
// eigenvalue is at most the i-th value.
type bounds struct {
	values, lower []float64 // lower bounds of the eigenvalues, at least 0
	known         int       // number of first values that are 0: one per part of the graph
	squares       []float64 // sums of the squared residuals of the first pairs
	skew          []float64 // |XᵀLX − Λ| of the first pairs
	gram          float64   // |XᵀX − I|
}

func newBounds(m Map, c certificate, known int) *bounds {
	b := &bounds{values: m.Values, lower: make([]float64, len(m.Values)), known: known}
	residuals, skew, gram := 0.0, 0.0, 0.0
	for i, x := range m.Vectors {
		residuals += c.residuals[i] * c.residuals[i]
		for j := range i + 1 {
			e, o := algebra.Dot(m.Vectors[j], c.product[i]), algebra.Dot(m.Vectors[j], x)
			times := 2.0
			if i == j {
				e, o, times = c.energies[i]-m.Values[i], o-1, 1
			}
			skew, gram = skew+times*e*e, gram+times*o*o
		}
		b.squares, b.skew = append(b.squares, residuals), append(b.skew, math.Sqrt(skew))
	}
	b.gram = math.Sqrt(gram)
	return b
}

func allowed(value float64) float64 { return max(ofProof*value, leastProof) }

// open returns the last pair whose eigenvalue is not yet proven, or −1.
func (b *bounds) open() int {
	for i := len(b.values) - 1; i >= b.known; i-- {
		if !(b.values[i]-b.lower[i] <= allowed(b.values[i])) {
			return i
		}
	}
	return -1
}

// raise raises the bounds of the first i eigenvalues if the next one is at least rho. Each is at
// least its value minus |R|²/(rho − θ), with the residuals R and the i-th value θ (Lehmann 1949).
func (b *bounds) raise(i int, rho float64) {
	for i--; i >= 0; i-- {
		if gap := rho - b.values[i]; gap > 0 {
			off := b.squares[i]/gap + 2*(b.skew[i]+b.gram*rho)
			for j := range i + 1 {
				b.lower[j] = max(b.lower[j], b.values[j]-off)
			}
		}
		rho = b.lower[i]
	}
}

// prove counts the eigenvalues below the cluster of the last value, which proves the cluster. The
// gap below the cluster proves further eigenvalues. It continues downwards until each is proven. If
// rounding hides a value, the gap above it proves it.
func (b *bounds) prove(below counter) (verify.Measure, error) {
	m := verify.Measure{Name: "eigenvalues below", At: "0, where L has none"}
	for range mostCounts {
		last := b.open()
		if last < 0 {
			return m, nil
		}
		first, value := last, b.values[last]
		for first > b.known && b.lower[last] == 0 && b.values[first-1] >= value-allowed(value)*3/4 {
			first--
		}
		delta := allowed(value) / 8
		shift := b.values[first] - delta
		n, moved, err := below(shift)
		if err == nil && moved <= delta && n > first { // this is wrong only if the eigenvalue is far below
			shift = b.values[first] - allowed(value)*3/4
			n, moved, err = below(shift)
		}
		if err == nil && moved <= delta {
			m = counted(n, first, shift)
			if n > first {
				return m, nil
			}
			for i := first; i <= last; i++ {
				b.lower[i] = max(b.lower[i], shift-moved)
			}
			b.raise(first, shift-moved)
			continue
		}
		if err != nil {
			return m, err
		}
		first = last + 1
		shift = value + 4*moved
		n, again, err := below(shift)
		if err != nil {
			return m, err
		}
		if n <= first {
			b.raise(first, shift-again)
		}
		if b.open() >= last {
			return m, verify.Undecided(
				"rounding moves eigenvalues by up to %.2g, too much for value %d, which is %.3g", moved, first, value)
		}
		m = counted(n, first, shift)
	}
	return m, verify.Undecided("the values are in more than %d clusters", mostCounts)
}

// counted returns the measure of the number of eigenvalues below a shift, with its limit.
func counted(n, most int, shift float64) verify.Measure {
	at := fmt.Sprintf("%g, by LDLᵀ", shift)
	return verify.Measure{Name: "eigenvalues below", Value: float64(n), Limit: float64(most), At: at}
}
