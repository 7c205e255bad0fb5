package eigenmap

import (
	"math"
	"runtime"
	"slices"

	"eccbench/internal/workloads/eigenmap/algebra"

	"gonum.org/v1/gonum/floats"
)

// A coarsening groups nodes into blocks and factors the small matrix of L on the blocks. A search
// uses it as a preconditioner.
type coarsening struct {
	of     []int         // the block of each node
	factor *algebra.Band // PᵀLP; P has m^½ of a block's nodes, normalised
	root   []float64     // of a node in its block's column of P
}

// mostBlocks is the greatest number of blocks.
const mostBlocks = 1 << 12

// coarsen makes blocks of the necessary length along each axis.
func (g *Graph) coarsen() *coarsening {
	s := g.shape
	most := int64(mostBlocks)
	if g.features != nil {
		most /= 8 // since all blocks are linked
	}
	side := int64(2)
	up := func(n int64) int64 { return (n + side - 1) / side }
	for up(s.W)*up(s.H)*up(s.D) > most {
		side++
	}
	w, h, n := up(s.W), up(s.H), up(s.W)*up(s.H)*up(s.D)
	c := &coarsening{of: make([]int, g.Nodes()), root: make([]float64, g.Nodes())}
	weight := make([]float64, n)
	for i := range c.of {
		z, y, x := s.Coordinates(int64(i))
		c.of[i] = int((z/side*h+y/side)*w + x/side)
		weight[c.of[i]] += g.mass[i]
	}
	for i, b := range c.of {
		c.root[i] = math.Sqrt(g.mass[i] / weight[b])
	}
	apart := up(g.p.Radius) // greatest distance of neighbours along an axis, in blocks
	width := int(apart * (w + 1))
	if s.D > 1 {
		width += int(apart * w * h)
	}
	if g.features != nil {
		width = int(n)
	}
	c.factor = algebra.NewBand(int(n), width)
	for b := range int(n) {
		c.factor.Add(b, b, 1e-9) // L has a kernel
	}
	for i := range g.Nodes() {
		a := c.of[i]
		g.row(i, func(j int, w float64) {
			if b := c.of[j]; j < i && a != b {
				c.factor.Add(a, a, w/weight[a])
				c.factor.Add(b, b, w/weight[b])
				c.factor.Add(a, b, -w/math.Sqrt(weight[a])/math.Sqrt(weight[b]))
			}
		})
	}
	if _, _, err := c.factor.Factor(0); err != nil {
		return nil
	}
	return c
}

// restrict adds the part of a tile of a vector in each block to sums.
func (c *coarsening) restrict(sums, r []float64, lo, hi int) {
	of, root := c.of[lo:hi], c.root[lo:hi]
	for i, v := range r[lo:hi] {
		sums[of[i]] += root[i] * v
	}
}

// prolong sets a tile to an approximate solution of L with right-hand side r. It adds the solution
// for each node alone and the block solution in sums, if any.
func (c *coarsening) prolong(g *Graph, to, r, sums []float64, lo, hi int) {
	if copy(to[lo:hi], r[lo:hi]); g.p.Plain {
		for i := lo; i < hi; i++ {
			to[i] /= g.Degree[i]
		}
	}
	if c == nil {
		return
	}
	of, root := c.of[lo:hi], c.root[lo:hi]
	for i := range of {
		to[lo+i] += root[i] * sums[of[i]]
	}
}

// A product sets to to the product of L, or an approximation, with from. It overwrites scratch.
type product func(to, from, scratch []float64)

// searching returns the preconditioner and the product for the steps of a search.
func (g *Graph) searching() (*coarsening, product) {
	if g.features == nil {
		return g.coarsen(), func(to, from, u []float64) {
			bySome(g.Nodes(), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					u[i] = from[i] / g.root[i]
				}
			})
			bySome(g.Nodes(), func(lo, hi int) {
				clear(to[lo:hi])
				g.flowVoxels(to, nil, u, lo, hi)
				for i := lo; i < hi; i++ {
					to[i] /= g.root[i]
				}
			})
		}
	}
	own, apply := g.nearGraph()
	return own.coarsen(), apply
}

// bySome calls f with parts of n on the cores of one start; all starts run at once.
func bySome(n int, f func(lo, hi int)) { inAtMost((runtime.GOMAXPROCS(0)+starts-1)/starts, n, f) }

// A run is a contiguous run of weights: the first patch, and the end of the run in a list.
type run struct{ first, end int32 }

// The least distance factor of near patches, and the greatest number of weights.
const nearest, mostNear = 1e-3, 1 << 26

// nearby returns the greatest distance of near patches along an axis, such that there are at most
// most pairs.
func (g *Graph) nearby(most int64) int64 {
	reach := min(g.reach, max(1, int64(g.p.Beta*math.Sqrt(-2*math.Log(nearest)))))
	for n := int64(g.Nodes()); reach > 1; reach-- {
		s, r := g.shape, 2*reach+1
		if n*min(s.W, r)*min(s.H, r)*min(s.D, r) <= most {
			break
		}
	}
	return reach
}

// nearGraph returns the graph of near patches, with the masses of the whole graph, and the product
// of its Laplacian for the steps of a search. All weights verify the result afterwards.
func (g *Graph) nearGraph() (*Graph, product) {
	own := *g
	own.reach = g.nearby(mostNear)
	own.places()
	runs, kept, diagonal := make([][]run, g.Nodes()), make([][]float32, g.Nodes()), make([]float64, g.Nodes())
	inParts(g.Nodes(), func(lo, hi int) {
		var list []float32
		for i := lo; i < hi; i++ {
			list = list[:0]
			own.runs(i, func(first int, weights []float64) {
				for k, w := range weights {
					list = append(list, float32(w/g.root[first+k]/g.root[i]))
				}
				for len(list)%lanes != 0 {
					list = append(list, 0)
				}
				diagonal[i] += floats.Sum(weights) / g.mass[i]
				runs[i] = append(runs[i], run{int32(first), int32(len(list))})
			})
			kept[i] = slices.Clone(list)
		}
	})
	return &own, func(to, from, padded []float64) {
		padded = append(padded[:copy(padded, from)], make([]float64, lanes)...)
		bySome(g.Nodes(), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				sum, at := 0.0, 0
				for _, r := range runs[i] {
					sum += weighted(g.fast, padded[r.first:], kept[i][at:r.end])
					at = int(r.end)
				}
				to[i] = diagonal[i]*from[i] - sum
			}
		})
	}
}

// weighted returns the dot product of weights and numbers.
func weighted(fast bool, x []float64, weights []float32) (sum float64) {
	if fast {
		return productVector(x, weights)
	}
	x = x[:len(weights)]
	for k, w := range weights {
		sum += float64(w) * x[k]
	}
	return sum
}

// mostSought is the number of steps of a search.
const mostSought = 40

// found is the relative residual of a pair at which a search stops. The vector then contains hardly
// any part of a lower one.
const found = 1e-4

// precondition sets to to the preconditioned residual r, orthogonal to orthonormal vectors. sums are
// those of r by block, and are overwritten.
func (c *coarsening) precondition(g *Graph, to, r, sums []float64, off [][]float64) {
	if c != nil {
		c.factor.Solve(sums)
	}
	has := make([]float64, len(off))
	algebra.Tiles(len(to), func(lo, hi int) {
		c.prolong(g, to, r, sums, lo, hi)
		for k, y := range off {
			has[k] += algebra.FastDot(y[lo:hi], to[lo:hi])
		}
	})
	algebra.Tiles(len(to), func(lo, hi int) {
		for k, y := range off {
			algebra.AddTimes(-has[k], y[lo:hi], to[lo:hi])
		}
	})
}

// advance sets x to a combination of x, w and p, and p to the change.
func advance(y, x, w, p []float64) {
	w, p = w[:len(x)], p[:len(x)]
	for i, v := range x {
		p[i] = y[1]*w[i] + y[2]*p[i]
		x[i] = y[0]*v + p[i]
	}
}

// seek minimises the Rayleigh quotient in the complement of orthonormal vectors, from a random
// vector. It uses preconditioned conjugate directions (Knyazev 2001, with one vector). It returns
// the final unit vector, or nil if the start vector vanishes in the complement.
func (g *Graph) seek(apply product, off [][]float64, c *coarsening, seed uint64) []float64 {
	n := g.Nodes()
	zeros := func() []float64 { return make([]float64, n) }
	// The vector, its preconditioned residual, the last change, and their products.
	x, w, p, lx, lw, lp := zeros(), zeros(), zeros(), zeros(), zeros(), zeros()
	r, scratch := zeros(), make([]float64, n+lanes)
	var sums []float64
	if c != nil {
		sums = make([]float64, c.factor.N())
	}
	for i := range r {
		r[i] = Uniform(seed, uint64(i))
	}
	if c != nil {
		c.restrict(sums, r, 0, n)
	}
	c.precondition(g, x, r, sums, off) // a smoother start has larger low parts
	apply(lx, x, scratch)
	basis, products := [][]float64{x}, [][]float64{lx}
	for range mostSought {
		y, value := algebra.Lowest(basis, products)
		if y == nil && len(basis) > 2 {
			y, value = algebra.Lowest(basis[:2], products[:2])
		}
		if y == nil {
			break
		}
		y = append(y, 0, 0)
		left := 0.0
		clear(sums)
		algebra.Tiles(n, func(lo, hi int) {
			advance(y, x[lo:hi], w[lo:hi], p[lo:hi])
			advance(y, lx[lo:hi], lw[lo:hi], lp[lo:hi])
			for i := lo; i < hi; i++ {
				r[i] = lx[i] - value*x[i]
			}
			left += algebra.FastDot(r[lo:hi], r[lo:hi])
			if c != nil {
				c.restrict(sums, r, lo, hi)
			}
		})
		if left <= found*found*value*value || left < 1e-24 {
			break
		}
		c.precondition(g, w, r, sums, off)
		apply(lw, w, scratch)
		basis, products = [][]float64{x, w, p}, [][]float64{lx, lw, lp} // p is 0 the first time
	}
	algebra.Project(x, off)
	size := algebra.Norm(x)
	if !(size > 1e-200) {
		return nil
	}
	scale(x, 1/size)
	return x
}
