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
	width := int(w + 1)
	if s.D > 1 {
		width += int(w * h)
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

// searching is the product that a search takes. Of patches it has the near weights alone, kept in
// float32: what a search finds is held to all of them afterwards.
func (g *Graph) searching() product {
	if g.features == nil {
		return func(to, from []float64) { g.Apply([][]float64{to}, [][]float64{from}) }
	}
	const near, most = 1e-4, 1 << 26 // of the factor of distance; weights
	reach := int64(g.p.Beta * math.Sqrt(-2*math.Log(near)))
	for n := int64(g.Nodes()); reach > 1; reach-- {
		s, r := g.shape, 2*reach+1
		if n*min(s.W, r)*min(s.H, r)*min(s.D, r) <= most {
			break
		}
	}
	own := *g
	own.reach = min(max(1, reach), g.reach)
	weights := make([][]float32, g.Nodes())
	g.eachRow(func(i int) {
		own.row(i, func(j int, w float64) {
			weights[i] = append(weights[i], float32(w/math.Sqrt(g.Degree[i]*g.Degree[j])))
		})
	})
	return func(to, from []float64) {
		g.eachRow(func(i int) {
			sum, k, list := 0.0, 0, weights[i]
			own.beside(i, func(j, n int) {
				for _, v := range from[j:][:n] {
					sum += float64(list[k]) * v
					k++
				}
			})
			to[i] = from[i] - sum
		})
	}
}

// beside calls f with the patches within reach of one, but for itself, by runs of so many from the
// first on, in the order of row.
func (g *Graph) beside(i int, f func(first, n int)) {
	s := g.shape
	pz, py, px := s.Coordinates(int64(i))
	from, to := max(0, px-g.reach), min(s.W, px+g.reach+1)
	for z := max(0, pz-g.reach); z < min(s.D, pz+g.reach+1); z++ {
		for y := max(0, py-g.reach); y < min(s.H, py+g.reach+1); y++ {
			at := int((z*s.H + y) * s.W)
			if z == pz && y == py {
				f(at+int(from), int(px-from))
				f(i+1, int(to-px-1))
				continue
			}
			f(at+int(from), int(to-from))
		}
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
		project(v, off)
		size := norm(v)
		if !(size > 1e-200) {
			return false
		}
		for i := range v {
			v[i] /= size
		}
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
		value := dot(x, lx)
		r := make([]float64, n)
		for i := range r {
			r[i] = lx[i] - value*x[i]
		}
		if norm(r) < 1e-12 {
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
			for i := range np {
				np[i] += y[k] * basis[k][i]
				nlp[i] += y[k] * products[k][i]
			}
		}
		for i := range x {
			x[i], lx[i] = y[0]*x[i]+np[i], y[0]*lx[i]+nlp[i]
		}
		size := norm(x)
		for i := range x {
			x[i] /= size
			lx[i] /= size
		}
		p, lp = np, nlp
		if s := norm(p); s > 0 {
			for i := range p {
				p[i] /= s
				lp[i] /= s
			}
		} else {
			p = nil
		}
	}
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
			gram.SetSym(i, j, dot(basis[i], basis[j]))
			energy.SetSym(i, j, (dot(basis[i], products[j])+dot(basis[j], products[i]))/2)
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
