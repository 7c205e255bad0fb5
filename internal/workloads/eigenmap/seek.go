package eigenmap

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A coarsening is blocks of nodes, on which L is a small matrix that is factored: what a search
// finds its way with.
type coarsening struct {
	of     []int     // the block of each node
	factor *band     // of PᵀLP, P with m^½ of a block's nodes, normalised
	root   []float64 // of a node in its block's column of P
}

// mostBlocks is how many blocks there are at most.
const mostBlocks = 1 << 12

// coarsen makes blocks that are as long along each axis as they have to be.
func (g *Graph) coarsen() *coarsening {
	s := g.shape
	most := int64(mostBlocks)
	if g.features != nil {
		most /= 8 // each of which is linked to each
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
	apart := up(g.p.Radius) // how many blocks away along an axis a neighbour is at most
	width := int(apart * (w + 1))
	if s.D > 1 {
		width += int(apart * w * h)
	}
	if g.features != nil {
		width = int(n)
	}
	c.factor = newBand(int(n), width)
	for b := range int(n) {
		c.factor.add(b, b, 1e-9) // L has a kernel
	}
	for i := range g.Nodes() {
		a := c.of[i]
		g.row(i, func(j int, w float64) {
			if b := c.of[j]; j < i && a != b {
				c.factor.add(a, a, w/weight[a])
				c.factor.add(b, b, w/weight[b])
				c.factor.add(a, b, -w/math.Sqrt(weight[a]*weight[b]))
			}
		})
	}
	if _, _, err := c.factor.factor(0); err != nil {
		return nil
	}
	return c
}

// precondition sets to to about the solution of L with from on the right: of the blocks, and of
// each node by itself.
func (c *coarsening) precondition(g *Graph, to, from []float64) {
	for i, v := range from {
		to[i] = v * g.mass[i] / g.Degree[i]
	}
	if c == nil {
		return
	}
	sums := make([]float64, c.factor.n)
	for i, v := range from {
		sums[c.of[i]] += c.root[i] * v
	}
	c.factor.solve(sums)
	for i, b := range c.of {
		to[i] += c.root[i] * sums[b]
	}
}

// A product sets to to what L, or what is near to it, makes of from.
type product func(to, from []float64)

// searching is what a search takes its steps by.
func (g *Graph) searching() (*coarsening, product) {
	if g.features == nil {
		return g.coarsen(), func(to, from []float64) { g.Apply([][]float64{to}, [][]float64{from}) }
	}
	own, apply := g.near()
	return own.coarsen(), apply
}

// A run is weights of patches side by side, from the first on.
type run struct {
	first   int
	weights []float32
}

// What is near: a factor of distance, and how many weights at most.
const nearest, mostNear = 1e-3, 1 << 26

// near is the graph of patches that are near each other alone, and the product of its Laplacian,
// with the masses of all: what a search takes its steps by. What it finds is held to all weights
// afterwards.
func (g *Graph) near() (*Graph, product) {
	own := *g
	own.reach = min(g.reach, max(1, int64(g.p.Beta*math.Sqrt(-2*math.Log(nearest)))))
	for n := int64(g.Nodes()); own.reach > 1; own.reach-- {
		s, r := g.shape, 2*own.reach+1
		if n*min(s.W, r)*min(s.H, r)*min(s.D, r) <= mostNear {
			break
		}
	}
	rows, diagonal := make([][]run, g.Nodes()), make([]float64, g.Nodes())
	g.eachRow(func(i int) {
		own.runs(i, func(first int, list []float64) {
			weights := make([]float32, len(list))
			for k, w := range list {
				weights[k] = float32(w / math.Sqrt(g.mass[i]*g.mass[first+k]))
				diagonal[i] += w / g.mass[i]
			}
			rows[i] = append(rows[i], run{first, weights})
		})
	})
	return &own, func(to, from []float64) {
		g.eachRow(func(i int) {
			sum := 0.0
			for _, r := range rows[i] {
				part := from[r.first:][:len(r.weights)]
				for k, w := range r.weights {
					sum += float64(w) * part[k]
				}
			}
			to[i] = diagonal[i]*from[i] - sum
		})
	}
}

// mostSought is how many steps a search takes.
const mostSought = 40

// seek brings the Rayleigh quotient of a random vector down in the complement of orthonormal ones,
// by preconditioned conjugate directions (Knyazev 2001, of one vector), and gives the unit vector
// that it comes to; nil where nothing is left of the start.
func (g *Graph) seek(apply product, off [][]float64, c *coarsening, seed uint64) []float64 {
	n := g.Nodes()
	x := make([]float64, n)
	for i := range x {
		x[i] = Uniform(seed, uint64(i))
	}
	// A smoother start has more of what is low.
	smooth := make([]float64, n)
	c.precondition(g, smooth, x)
	x = smooth
	unit := func(v []float64) bool {
		for _, y := range off {
			daxpy(-ddot(y, v), y, v)
		}
		size := math.Sqrt(ddot(v, v))
		if !(size > 1e-200) {
			return false
		}
		scale(v, 1/size)
		return true
	}
	if !unit(x) {
		return nil
	}
	lx, lw := make([]float64, n), make([]float64, n)
	w := make([]float64, n)
	var p, lp []float64
	apply(lx, x)
	for range mostSought {
		value := ddot(x, lx)
		r := make([]float64, n)
		for i := range r {
			r[i] = lx[i] - value*x[i]
		}
		if ddot(r, r) < 1e-24 {
			break
		}
		c.precondition(g, w, r)
		if !unit(w) {
			break
		}
		apply(lw, w)
		basis, products := [][]float64{x, w}, [][]float64{lx, lw}
		if p != nil {
			basis, products = append(basis, p), append(products, lp)
		}
		y := lowest(basis, products)
		if y == nil {
			if y = lowest(basis[:2], products[:2]); y == nil {
				break
			}
		}
		np, nlp := make([]float64, n), make([]float64, n)
		for k := 1; k < len(y); k++ {
			daxpy(y[k], basis[k], np)
			daxpy(y[k], products[k], nlp)
		}
		for i := range x {
			x[i], lx[i] = y[0]*x[i]+np[i], y[0]*lx[i]+nlp[i]
		}
		if size := math.Sqrt(ddot(x, x)); size > 0 {
			scale(x, 1/size)
			scale(lx, 1/size)
		}
		p, lp = np, nlp
		if size := math.Sqrt(ddot(p, p)); size > 0 {
			scale(p, 1/size)
			scale(lp, 1/size)
		} else {
			p = nil
		}
	}
	project(x, off)
	if !unit(x) {
		return nil
	}
	return x
}

// lowest is the combination of a basis with the least Rayleigh quotient; nil where the basis is
// as good as dependent.
func lowest(basis, products [][]float64) []float64 {
	n := len(basis)
	gram, energy := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			gram.SetSym(i, j, ddot(basis[i], basis[j]))
			energy.SetSym(i, j, (ddot(basis[i], products[j])+ddot(basis[j], products[i]))/2)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) || chol.Cond() > 1e12 {
		return nil
	}
	// L⁻¹ E L⁻ᵀ is symmetric.
	var l mat.TriDense
	chol.LTo(&l)
	var half, whole mat.Dense
	if half.Solve(&l, energy) != nil || whole.Solve(&l, half.T()) != nil {
		return nil
	}
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (whole.At(i, j)+whole.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		return nil
	}
	var vectors, y mat.Dense
	e.VectorsTo(&vectors)
	if y.Solve(l.T(), vectors.Slice(0, n, 0, 1)) != nil {
		return nil
	}
	return mat.Col(nil, 0, &y)
}
