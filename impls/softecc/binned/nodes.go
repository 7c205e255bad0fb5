package binned

import (
	"math"
	"math/bits"
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

	ahead   = nodeReach * perWidth // nodes within reach on either side of a place
	taps    = 2 * ahead            // a multiple of the lanes of a vector
	columns = 3                    // of a place: see Nodes
)

// Nodes are evenly spaced values around the thresholds. The changes of an image are spread on them
// by interpolation. That is slower than bins for each voxel and far faster for each image. Nodes
// depend on the thresholds and λ alone, so the images of a batch share them.
//
// Sigmoids are evaluated at places: the thresholds or, if these are fewer, the nodes between the
// thresholds, from which the thresholds are interpolated. So the cost of many thresholds hardly
// depends on their number.
type Nodes struct {
	bins
	kernel kernel[float32]
	from   []int32 // by place: the first of its taps
	// The columns of a place are the derivative of its sigmoid by the threshold and, unless only
	// slopes are wanted, the sigmoid and its derivative by λ, each at all taps.
	table      []float64
	apart      int      // numbers between the columns of two places, 0 if all share them
	thresholds []shared // among the places; nil if these are the thresholds
}

// newNodes returns the nodes of a problem, for slopes alone or for curves, too. It returns nil for
// a large image, which has bins, and if there would be too many nodes.
func newNodes(p *softecc.Problem, slopes bool) *Nodes {
	if p.Shape().Voxels() >= least*int64(len(p.Tau)) {
		return nil
	}
	p = turned(p)
	lo, hi := slices.Min(p.Tau), slices.Max(p.Tau)
	k := &Nodes{bins: bins{lambda: p.Lambda, inverse: perWidth * p.Lambda, width: 1 / (perWidth * p.Lambda)}}
	count := (hi - lo) * k.inverse
	const precise = 1e6 // λτ, so that nodes are rounded by 10⁻⁹ of 1/λ
	var err error
	if k.kernel, err = choose(""); err != nil || !(count+taps < mostNodes && max(-lo, hi)*p.Lambda < precise) {
		return nil
	}
	const below, first = ahead + sharedNodes, ahead + 3 // nodes below the lowest threshold, and the first one between
	k.n, k.lo = int(count)+taps+3*sharedNodes, lo-below*k.width
	width := columns * taps
	if slopes {
		width = taps
	}
	if between := int(count) + 2 + sharedNodes; between < len(p.Tau) {
		k.from, k.table, k.thresholds = make([]int32, between), make([]float64, width), make([]shared, len(p.Tau)/8+1)
		for i := range k.from {
			k.from[i] = int32(first + i + 1 - ahead)
		}
		k.fill(k.table, int(k.from[0]), k.at(first))
		for j, tau := range p.Tau {
			k.thresholds[j/8].set(j%8, k.place(tau)-first)
		}
		return k
	}
	k.from, k.table, k.apart = make([]int32, len(p.Tau)), make([]float64, width*len(p.Tau)), width
	for j, tau := range p.Tau {
		from := int((tau-k.lo)*k.inverse) + 1 - ahead
		k.from[j] = int32(from)
		k.fill(k.table[j*width:][:width], from, tau)
	}
	return k
}

// fill sets the columns of a place. From tap to tap the exponential grows by the same factor, and
// the roundings add up to less than 10⁻¹³.
func (k *Nodes) fill(table []float64, from int, tau float64) {
	slope, e, grow := table[:taps], math.Exp(k.lambda*(k.at(from)-tau)), math.Exp(1.0/perWidth)
	for i := range slope {
		s := 1 / (1 + e)
		slope[i] = k.lambda * (e * s * s)
		if len(table) > taps {
			table[taps+i], table[2*taps+i] = s, (tau-k.at(from+i))*(e*s*s)
		}
		e *= grow
	}
}

// shared has eight values among the nodes: the first of the nodes that share each, and its shares.
type shared struct {
	first [8]int32
	share [sharedNodes][8]float64
}

// place returns the place of a value among the nodes, in units of their distance from the first
// node that may be the first of a value. A value below all nodes is moved to the first ones, and one
// above to the last, which are within reach of no threshold.
func (k *Nodes) place(y float64) float64 {
	t := (y-k.lo)*k.inverse - sharedBefore
	if !(t > 0) {
		return 0
	}
	return min(t, float64(k.n-sharedNodes))
}

// set sets one of eight values.
func (b *shared) set(i int, place float64) {
	at := math.Floor(place)
	b.first[i] = int32(at)
	b.share[0][i], b.share[1][i], b.share[2][i], b.share[3][i], b.share[4][i], b.share[5][i] = shares(place - at)
}

// shares returns Lagrange's polynomials of the nodes −2 to 3, as multiples of 2⁻⁴⁰ whose sum is 1: so
// the sum of all nodes has no rounding, and χ is a whole number where no value is near a threshold.
func shares(c float64) (s0, s1, s2, s3, s4, s5 float64) {
	a, b, d, e, f := c+2, c+1, c-1, c-2, c-3
	ab, cd, ef := a*b, c*d, e*f
	left, right := ab*cd, cd*ef
	const outer, inner, coarse = 1.0 / 120, 1.0 / 12, 6144 // whose last bit is 2⁻⁴⁰
	s0 = b*right*-outer + coarse - coarse
	s1 = a*right*(inner/2) + coarse - coarse
	s3 = ab*c*ef*inner + coarse - coarse
	s4 = left*f*(-inner/2) + coarse - coarse
	s5 = left*e*outer + coarse - coarse
	return s0, s1, 1 - s0 - s1 - s3 - s4 - s5, s3, s4, s5
}

// add adds the change of one of the values to the nodes.
func (b *shared) add(sums []float64, i int, change float64) {
	to, s := (*[sharedNodes]float64)(sums[b.first[i&7]:]), &b.share
	i &= 7
	to[0] += change * s[0][i]
	to[1] += change * s[1][i]
	to[2] += change * s[2][i]
	to[3] += change * s[3][i]
	to[4] += change * s[4][i]
	to[5] += change * s[5][i]
}

// interpolate returns a number of one of the values, from those of the nodes.
func (b *shared) interpolate(nodes []float64, i int) float64 {
	v, s := (*[sharedNodes]float64)(nodes[b.first[i&7]:]), &b.share
	i &= 7
	return (s[0][i]*v[0] + s[1][i]*v[1]) + (s[2][i]*v[2] + s[3][i]*v[3]) + (s[4][i]*v[4] + s[5][i]*v[5])
}

// spread adds the changes of a row of values to the nodes.
func (k *Nodes) spread(sums []float64, row []shared, changes []uint8) {
	for x := 0; x < len(changes); x += 8 {
		for w := eight(changes[x:]); w != 0; {
			i := bits.TrailingZeros64(w) &^ 7
			row[x/8].add(sums, i/8, float64(int8(w>>i)))
			w &^= 0xff << i
		}
	}
}

// curve sets c to the curve of the changes on nodes, with derivatives if c has them.
func (k *Nodes) curve(c Curve, sums, work []float64) {
	whole := floats.CumSum(work[:len(sums)], sums)
	n := len(k.from)
	at := work[len(sums):][:columns*n]
	k.kernel.dots(at, sums, k.from, k.table, k.apart)
	for j, from := range k.from {
		at[n+j] += whole[from-1]
	}
	for i, to := range [...][]float64{c.ByTau, c.Chi, c.ByLambda} {
		column := at[i*n:][:n]
		if k.thresholds == nil {
			copy(to, column)
			continue
		}
		for j := range to {
			to[j] = k.thresholds[j/8].interpolate(column, j)
		}
	}
}

// slopes sets list to G' at the nodes.
func (k *Nodes) slopes(list, g []float64) {
	if k.thresholds != nil {
		places := make([]float64, len(k.from))
		for j, v := range g {
			k.thresholds[j/8].add(places, j, v)
		}
		g = places
	}
	clear(list)
	k.kernel.adds(list, g, k.from, k.table, k.apart)
}
