package binned

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"eccbench/internal/workloads/softecc"
)

// Shape of the nodes: doc/proofs/softecc.md bounds the error.
const (
	perWidth     = 8  // nodes in 1/λ
	nodeReach    = 20 // 1/λ that nodes go beyond the thresholds
	sharedNodes  = 6  // nodes that share a value
	sharedBefore = 2  // shared nodes before the node at or below the value
	mostNodes    = 1 << 13
)

// Nodes are evenly spaced values around the thresholds. The changes of an image are spread on them
// by interpolation. That is slower than bins for each voxel and far faster for each image. Nodes
// depend on the thresholds and λ alone, so the images of a batch share them.
type Nodes struct {
	bins
	rows []nodeRow // by threshold
}

// A nodeRow holds the sigmoid of a threshold at the nodes within reach, and its derivatives by the
// threshold and by λ.
type nodeRow struct {
	from                   int
	sigma, byTau, byLambda []float64
}

// newNodes returns the nodes of a problem. It returns nil for a large image, which has bins, and if
// there would be too many nodes.
func newNodes(p *softecc.Problem) *Nodes {
	if p.Shape().Voxels() >= least*int64(len(p.Tau)) {
		return nil
	}
	p = turned(p)
	lo, hi := slices.Min(p.Tau), slices.Max(p.Tau)
	b := bins{lambda: p.Lambda, inverse: perWidth * p.Lambda, width: 1 / (perWidth * p.Lambda)}
	count := (hi-lo)*b.inverse + 2*nodeReach*perWidth
	const precise = 1e6 // λτ, so that nodes are rounded by 10⁻⁹ of 1/λ
	if !(count < mostNodes && max(-lo, hi)*p.Lambda < precise) {
		return nil
	}
	b.n, b.lo = int(count)+2*sharedNodes, lo-(nodeReach*perWidth+sharedBefore)*b.width
	k := &Nodes{bins: b}
	for _, tau := range p.Tau {
		from, to := b.within(tau, nodeReach)
		r := nodeRow{from, make([]float64, to-from), make([]float64, to-from), make([]float64, to-from)}
		b.each(tau, from, to, func(k int, z, s, d float64) {
			k -= from
			r.sigma[k], r.byTau[k], r.byLambda[k] = s, p.Lambda*d, z*d
		})
		k.rows = append(k.rows, r)
	}
	return k
}

// place returns the first of the nodes that share a value, and the distance of the value from the
// node at or below it, in units of the nodes' distance. A value below all nodes is moved to the
// first; ok is false for a value above all.
func (k *Nodes) place(y float64) (at int, above float64, ok bool) {
	t := max(0, (y-k.lo)*k.inverse-sharedBefore)
	if !(t < float64(k.n-sharedNodes)) {
		return 0, 0, false
	}
	at = int(t)
	return at, t - float64(at), true
}

// shares returns Lagrange's polynomials of the nodes −2 to 3.
func shares(c float64) (s0, s1, s2, s3, s4, s5 float64) {
	a, b, d, e, f := c+2, c+1, c-1, c-2, c-3
	ab, cd, ef := a*b, c*d, e*f
	left, right := ab*cd, cd*ef
	const outer, inner = 1.0 / 120, 1.0 / 12
	return b * right * -outer, a * right * (inner / 2), ab * d * ef * -inner,
		ab * c * ef * inner, left * f * (-inner / 2), left * e * outer
}

// spread adds the change of a value to the nodes.
func (k *Nodes) spread(sums []float64, y, change float64) {
	at, c, ok := k.place(y)
	if !ok {
		return
	}
	to := (*[sharedNodes]float64)(sums[at:])
	s0, s1, s2, s3, s4, s5 := shares(c)
	to[0] += change * s0
	to[1] += change * s1
	to[2] += change * s2
	to[3] += change * s3
	to[4] += change * s4
	to[5] += change * s5
}

// curve returns the curve of the changes on nodes.
func (k *Nodes) curve(sums []float64, derivatives bool) Curve {
	a := Curve{Chi: make([]float64, len(k.rows))}
	if derivatives {
		a = newCurve(len(k.rows))
	}
	whole := floats.CumSum(make([]float64, len(sums)), sums)
	for j, r := range k.rows {
		near := sums[r.from:][:len(r.sigma)]
		a.Chi[j] = whole[r.from] - sums[r.from] + floats.Dot(near, r.sigma)
		if derivatives {
			a.ByTau[j], a.ByLambda[j] = floats.Dot(near, r.byTau), floats.Dot(near, r.byLambda)
		}
	}
	return a
}

// slopes returns G' at the nodes.
func (k *Nodes) slopes(g []float64) []float64 {
	list := make([]float64, k.n)
	for j, r := range k.rows {
		floats.AddScaled(list[r.from:][:len(r.byTau)], g[j], r.byTau)
	}
	return list
}

// slope interpolates G' at a value.
func (k *Nodes) slope(list []float64, y float64) float64 {
	at, c, ok := k.place(y)
	if !ok {
		return 0
	}
	of := (*[sharedNodes]float64)(list[at:])
	s0, s1, s2, s3, s4, s5 := shares(c)
	return (s0*of[0] + s1*of[1]) + (s2*of[2] + s3*of[3]) + (s4*of[4] + s5*of[5])
}
