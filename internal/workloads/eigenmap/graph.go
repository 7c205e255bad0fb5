package eigenmap

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/isa"
	"eccbench/internal/workloads/eigenmap/algebra"
)

// A Graph is the graph of the definition, in float64. It shares only the image with the
// implementations.
//
// For voxels, with f = (value − least)/(greatest − least), neighbours i and j have the weight
//
//	w_ij = exp(−(f_i − f_j)²/σ²) + w0
//
// For patches i ≠ j, x is the vector of the grey values of the M voxels, and p the place in units
// of patches. The weight is
//
//	w_ij = exp(−|x_i − x_j|²/(M·α²) − |p_i − p_j|²/(2β²))
//
// and w_ii = 0. D is the diagonal matrix of the row sums of W. L is I − D^−½ W D^−½, or D − W.
type Graph struct {
	p      *Problem
	shape  grid.Shape // of the grid of nodes
	Degree []float64  // the diagonal of D
	mass   []float64  // in Lu = λ·mass·u with x = mass^½ u: D, or ones

	toward  [][3]int64  // for voxels: offsets to the neighbours after a node, in x, y and z
	weights [][]float64 // to each of these; 0 if there is none

	root     []float64 // mass^½
	features []int32   // of all patches in order
	reach    int64     // distance in patches beyond which weights are negligible

	// For vector instructions: pairs holds the first two features of all patches, 16 bits each,
	// then the next two, and so on. apart holds the exponents d²/(2β²) of distances d along x, from
	// −reach.
	fast  bool
	pairs []int32
	apart []float64

	// For Go code:
	columns []float64 // the first feature of all patches, then the second, and so on
	squares []float64 // |x|² of each patch
	alike   []float64 // exp(−d/(M·α²)) of squared distances d, up to a useful size
	place   []float64 // exp(−d/(2β²)) of squared distances of places
}

// Vectors reports whether there are vector instructions for graphs of voxels and of patches:
// float64 with fused multiplication and addition.
func Vectors() bool { return isa.Available(assembled)[0] != isa.Portable && isa.FMA() }

// lanes is the number of float64 in a vector register.
const lanes = 8

// Nodes returns the number of nodes.
func (g *Graph) Nodes() int { return len(g.Degree) }

// Define returns the problem's graph, which is made once.
func (p *Problem) Define() (*Graph, error) { return p.graph() }

func (p *Problem) define() (*Graph, error) {
	g := &Graph{p: p, shape: p.Nodes()}
	n := g.shape.Voxels()
	g.Degree = make([]float64, n)
	if p.Kind == Grid {
		values, err := p.Numbers()
		if err != nil {
			return nil, err
		}
		g.link(values)
	} else {
		var err error
		if g.features, err = p.Patches(); err != nil {
			return nil, err
		}
		g.compare()
		g.weigh()
	}
	for i, d := range g.Degree {
		if !(d > 0) {
			return nil, fmt.Errorf("node %d has no neighbour: all its weights are 0 in float64; %s", i, p.wider())
		}
	}
	if g.mass = g.Degree; p.Plain {
		g.mass = slices.Repeat([]float64{1}, int(n))
	}
	g.root = make([]float64, n)
	for i, m := range g.mass {
		g.root[i] = math.Sqrt(m)
	}
	return g, nil
}

func (p *Problem) wider() string {
	if p.Kind == Grid {
		return "want a larger sigma, or a floor above 0"
	}
	return "want a larger alpha or beta"
}

// Numbers returns the image's values as numbers, row-major. A label is replaced by its meaning; if
// this is an integer, by its difference from the least one. If float64 cannot represent the range,
// the values are halved.
func (p *Problem) Numbers() ([]float64, error) {
	f, err := grid.Load(p.Source)
	if err != nil {
		return nil, err
	}
	labels, least := grid.LabelsOf(p.Source), slices.Min(f.Floats())
	out := make([]float64, f.Shape().Voxels())
	for i, v := range f.Floats() {
		out[i] = labels.Shifted(v, least)
	}
	if lo, hi := span(out); math.IsInf(hi-lo, 1) {
		scale(out, 0.5)
	}
	return out, nil
}

func span(values []float64) (lo, hi float64) { return slices.Min(values), slices.Max(values) }

// square returns the greatest squared distance of neighbours.
func (p *Problem) square() int64 {
	if p.Corners {
		return 3 // only voxels that touch are within it
	}
	return p.Radius * p.Radius
}

// followers returns the offsets of the neighbours that follow a voxel, so that each edge appears once.
func (p *Problem) followers() (list [][3]int64) {
	r, square := p.Radius, p.square()
	for z := int64(0); z <= r; z++ {
		for y := -r; y <= r; y++ {
			for x := -r; x <= r; x++ {
				if after := z > 0 || y > 0 || y == 0 && x > 0; after && x*x+y*y+z*z <= square {
					list = append(list, [3]int64{x, y, z})
				}
			}
		}
	}
	return list
}

// nodeAt returns the node at an offset from node i, or −1.
func (g *Graph) nodeAt(i int, by [3]int64) int {
	s := g.shape
	z, y, x := s.Coordinates(int64(i))
	x, y, z = x+by[0], y+by[1], z+by[2]
	if x < 0 || y < 0 || z < 0 || x >= s.W || y >= s.H || z >= s.D {
		return -1
	}
	return int((z*s.H+y)*s.W + x)
}

// link makes the graph of voxels.
func (g *Graph) link(values []float64) {
	lo, hi := span(values)
	f := func(i int) float64 {
		if hi == lo {
			return 0
		}
		return (values[i] - lo) / (hi - lo)
	}
	for _, by := range g.p.followers() {
		weights := make([]float64, len(values))
		g.eachRow(func(i int) {
			if j := g.nodeAt(i, by); j >= 0 {
				d := f(i) - f(j)
				weights[i] = math.Exp(-d*d/(g.p.Sigma*g.p.Sigma)) + g.p.Floor
			}
		})
		g.toward, g.weights = append(g.toward, by), append(g.weights, weights)
	}
	g.eachRow(func(i int) {
		g.row(i, func(_ int, w float64) { g.Degree[i] += w })
	})
}

// Grey converts a value to a grey value, an integer from 0 to 255. It keeps uint8 values, and
// scales others so that the least is 0 and the greatest is 255.
func Grey(t grid.Type, labelled bool, v, lo, hi float64) int32 {
	if t == grid.Uint8 && !labelled {
		return int32(v)
	}
	if hi == lo {
		return 0
	}
	return int32(math.RoundToEven(255 * ((v - lo) / (hi - lo))))
}

// leftOut bounds the omitted weights of a row of patches as a share of the row. The error of L in
// the 2-norm is at most three times this share: once for the rows of D^−½WD^−½, and twice for the
// degrees.
func (p *Problem) leftOut() float64 {
	const ofTolerance, least = 1e-4, 1e-16
	if p.Kind == Patch {
		return max(least, ofTolerance*p.Tol)
	}
	return least
}

// Patches returns the features of all patches in order: the grey values of their voxels, row-major.
// Remaining voxels at the far borders belong to no patch.
func (p *Problem) Patches() ([]int32, error) {
	values, err := p.Numbers()
	if err != nil {
		return nil, err
	}
	s, n, side, m := p.Shape(), p.Nodes(), p.Side, p.Features()
	lo, hi := span(values)
	labelled := grid.LabelsOf(p.Source) != nil
	features := make([]int32, 0, n.Voxels()*m)
	deep := m / (side * side)
	for i := range n.Voxels() {
		pz, py, px := n.Coordinates(i)
		for z := range deep {
			for y := range side {
				for _, v := range values[((pz*deep+z)*s.H+py*side+y)*s.W+px*side:][:side] {
					features = append(features, Grey(p.Type(), labelled, v, lo, hi))
				}
			}
		}
	}
	return features, nil
}

// compare prepares the data for distances of patches.
func (g *Graph) compare() {
	if g.fast = Vectors(); g.fast {
		m, row := int(g.p.Features()), g.pairsRow()
		g.pairs = make([]int32, (m+1)/2*row)
		for i, v := range g.features {
			g.pairs[i%m/2*row+i/m] |= v << (16 * (i % m % 2))
		}
		return
	}
	g.portable()
}

// portable prepares the data for distances without vector instructions.
func (g *Graph) portable() {
	n, m := g.Nodes(), int(g.p.Features())
	g.columns, g.squares = make([]float64, n*m), make([]float64, n)
	for i, v := range g.features {
		f := float64(v)
		g.columns[i%m*n+i/m] = f
		g.squares[i/m] += f * f
	}
	most := min(m*255*255+1, n*n/8, 1<<20)
	g.alike = make([]float64, max(1, most))
	each(len(g.alike), func(d int) { g.alike[d] = math.Exp(-float64(d) * g.byFeature()) })
}

// pairsRow returns the length of a row of pairs of features, with padding for vector registers.
func (g *Graph) pairsRow() int { return g.Nodes() + lanes }

func (g *Graph) byFeature() float64 {
	return 1 / (float64(g.p.Features()) * g.p.Alpha * g.p.Alpha)
}

// weigh computes the degrees of patches, and the distance beyond which weights are a negligible
// part of any row.
func (g *Graph) weigh() {
	s, b := g.shape, g.p.Beta
	farthest := math.Ceil(math.Sqrt(float64((s.W-1)*(s.W-1) + (s.H-1)*(s.H-1) + (s.D-1)*(s.D-1))))
	for exponent := g.p.farEnough(rows); ; {
		g.reach = int64(math.Min(math.Ceil(b*math.Sqrt(2*exponent)), farthest))
		g.places()
		g.eachRow(func(i int) {
			sum := 0.0
			g.runs(i, func(_ int, weights []float64) { sum += floats.Sum(weights) })
			g.Degree[i] = sum
		})
		needed := g.p.farEnough(slices.Min(g.Degree))
		if needed <= exponent || float64(g.reach) == farthest {
			return
		}
		exponent = needed // sufficient, as degrees only grow
	}
}

// rows is a guess of the least sum of a row.
const rows = 1e-2

// farEnough returns the exponent of the distance factor beyond which all weights together are a
// negligible part of a row.
func (p *Problem) farEnough(row float64) float64 {
	return math.Log(float64(p.Nodes().Voxels())) - math.Log(row) - math.Log(p.leftOut())
}

// places prepares the distance factors of places within reach.
func (g *Graph) places() {
	by := 1 / (2 * g.p.Beta * g.p.Beta)
	if g.fast {
		g.apart = make([]float64, 2*g.reach+1+lanes)
		for k := range g.apart {
			d := float64(int64(k) - g.reach)
			g.apart[k] = d * d * by
		}
		return
	}
	g.place = make([]float64, g.reach*g.reach+1)
	for d := range g.place {
		g.place[d] = math.Exp(-float64(d) * by)
	}
}

// row calls f with all neighbours of a node in order, and their weights.
func (g *Graph) row(i int, f func(j int, w float64)) {
	if g.features == nil {
		s := g.shape
		z, y, x := s.Coordinates(int64(i))
		inside := func(x, y, z int64) bool { return x >= 0 && y >= 0 && z >= 0 && x < s.W && y < s.H && z < s.D }
		for k := len(g.toward) - 1; k >= 0; k-- {
			if t := g.toward[k]; inside(x-t[0], y-t[1], z-t[2]) {
				j := i - int((t[2]*s.H+t[1])*s.W+t[0])
				f(j, g.weights[k][j])
			}
		}
		for k, t := range g.toward {
			if inside(x+t[0], y+t[1], z+t[2]) {
				f(i+int((t[2]*s.H+t[1])*s.W+t[0]), g.weights[k][i])
			}
		}
		return
	}
	g.runs(i, func(first int, weights []float64) {
		for k, w := range weights {
			if j := first + k; j != i {
				f(j, w)
			}
		}
	})
}

// runs calls f with the patches within reach of one, in contiguous runs: the first patch and all
// weights. The weight of the patch to itself is 0.
func (g *Graph) runs(i int, f func(first int, weights []float64)) {
	s := g.shape
	pz, py, px := s.Coordinates(int64(i))
	buffer := make([]float64, min(s.W, 2*g.reach+1)+lanes)
	weigh := g.weighing(i)
	for z := max(0, pz-g.reach); z < min(s.D, pz+g.reach+1); z++ {
		for y := max(0, py-g.reach); y < min(s.H, py+g.reach+1); y++ {
			beside := (z-pz)*(z-pz) + (y-py)*(y-py)
			if beside > g.reach*g.reach {
				continue
			}
			wide := int64(math.Sqrt(float64(g.reach*g.reach - beside)))
			from, to := max(0, px-wide), min(s.W, px+wide+1)
			first := int((z*s.H+y)*s.W + from)
			run := weigh(buffer, first, int(to-from), from-px, beside)
			if beside == 0 {
				run[px-from] = 0
			}
			f(first, run)
		}
	}
}

// weighing returns a function that computes the weights of a patch to a run of others. along is the
// distance of the first one along x. The argument across is the squared distance of all along the
// other axes.
func (g *Graph) weighing(i int) func(to []float64, first, length int, along, across int64) []float64 {
	n, m := g.Nodes(), int(g.p.Features())
	if g.fast {
		row := g.pairsRow()
		own := make([]int32, len(g.pairs)/row)
		for k := range own {
			own[k] = g.pairs[k*row+i]
		}
		byFeature, byPlace := g.byFeature(), 1/(2*g.p.Beta*g.p.Beta)
		return func(to []float64, first, length int, along, across int64) []float64 {
			full := (length + lanes - 1) / lanes * lanes
			weighVector(to[:full], g.pairs[first:], row, own, g.apart[g.reach+along:], float64(across)*byPlace, byFeature)
			return to[:length]
		}
	}
	own := blas64.Vector{N: m, Inc: 1, Data: make([]float64, m)}
	for k, v := range g.features[i*m:][:m] {
		own.Data[k] = float64(v)
	}
	return func(to []float64, first, length int, along, across int64) []float64 {
		// |x_i − x_j|² = |x_i|² + |x_j|² − 2x_i·x_j is exact: integers below 2^32.
		run := to[:length]
		for k, v := range g.squares[first:][:length] {
			run[k] = g.squares[i] + v
		}
		columns := blas64.General{Rows: m, Cols: length, Stride: n, Data: g.columns[first : first+(m-1)*n+length]}
		blas64.Gemv(blas.Trans, -2, columns, own, 1, blas64.Vector{N: length, Inc: 1, Data: run})
		for k, d := range run {
			far := along + int64(k)
			var like float64
			if int(d) < len(g.alike) {
				like = g.alike[int(d)]
			} else {
				like = math.Exp(-d * g.byFeature())
			}
			run[k] = like * g.place[across+far*far]
		}
		return run
	}
}

// squaredDistance returns the squared distance of two patches' features, an integer.
func squaredDistance(a, b []int32) (d int32) {
	b = b[:len(a)]
	for k, v := range a {
		e := v - b[k]
		d += e * e
	}
	return d
}

// weight returns the weight between two patches.
func (g *Graph) weight(i, j int) float64 {
	m := int(g.p.Features())
	az, ay, ax := g.shape.Coordinates(int64(i))
	bz, by, bx := g.shape.Coordinates(int64(j))
	apart := (ax-bx)*(ax-bx) + (ay-by)*(ay-by) + (az-bz)*(az-bz)
	d := squaredDistance(g.features[i*m:][:m], g.features[j*m:][:m])
	return math.Exp(-float64(d)/(float64(m)*g.p.Alpha*g.p.Alpha) - float64(apart)/(2*g.p.Beta*g.p.Beta))
}

// eachRow calls f with every node, in parallel.
func (g *Graph) eachRow(f func(i int)) { each(g.Nodes(), f) }

func each(n int, f func(i int)) {
	inParts(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// inParts calls f with parts of n in parallel.
func inParts(n int, f func(lo, hi int)) { inAtMost(runtime.GOMAXPROCS(0), n, f) }

// inAtMost calls f with at most the given number of parts of n, in parallel.
func inAtMost(parts, n int, f func(lo, hi int)) {
	const least = 1 << 10 // goroutines cost more than smaller parts
	if parts = min(parts, max(1, n/least)); parts == 1 {
		f(0, n)
		return
	}
	var c crew.Group
	for k := range parts {
		c.Go(func() { f(n*k/parts, n*(k+1)/parts) })
	}
	c.Wait()
}

// Matrix returns the whole matrix L, computed by Apply from unit vectors.
func (g *Graph) Matrix() *mat.SymDense {
	n := g.Nodes()
	l := mat.NewSymDense(n, nil)
	unit, to := [][]float64{make([]float64, n)}, [][]float64{make([]float64, n)}
	for i := range n {
		unit[0][i] = 1
		g.Apply(to, unit)
		unit[0][i] = 0
		for k := i; k < n; k++ {
			l.SetSym(i, k, to[0][k])
		}
	}
	return l
}

// Apply computes Lx for several vectors x from differences. With x_i = m_i^½ u_i it is
//
//	m_i^−½ Σ_j w_ij (u_i − u_j)
//
// This avoids cancellation where u hardly changes. It returns xᵀLx of each vector from the edges as
// ½ Σ_ij w_ij (u_i − u_j)², in which no term is negative.
func (g *Graph) Apply(to, from [][]float64) (energies []float64) {
	u, rows := make([][]float64, len(from)), make([][]float64, len(from))
	for k, x := range from {
		u[k], rows[k] = make([]float64, len(x)), make([]float64, len(x))
		for i, v := range x {
			u[k][i] = v / g.root[i]
		}
	}
	inParts(g.Nodes(), func(lo, hi int) {
		if g.features != nil {
			g.flowPatches(to, rows, u, lo, hi)
			return
		}
		for k, v := range u {
			clear(to[k][lo:hi])
			g.flowVoxels(to[k], rows[k], v, lo, hi)
		}
	})
	for k, r := range rows {
		for i := range r {
			to[k][i] /= g.root[i]
		}
		energies = append(energies, algebra.Sum(r)/2)
	}
	return energies
}

// flowPatches computes for nodes lo ≤ i < hi of several vectors: to is Σ_j w_ij (u_i − u_j), and
// energies is Σ_j w_ij (u_i − u_j)².
func (g *Graph) flowPatches(to, energies, u [][]float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		for k := range u {
			to[k][i] = 0
		}
		g.runs(i, func(first int, weights []float64) {
			for k, v := range u {
				own, sum, energy, done := v[i], 0.0, 0.0, 0
				if g.fast {
					done = len(weights) / lanes * lanes
					sum, energy = flowVector(v[first:], weights[:done], own)
				}
				for j, other := range v[first+done:][:len(weights)-done] {
					d := own - other
					flow := weights[done+j] * d
					sum += flow
					energy += flow * d
				}
				to[k][i] += sum
				energies[k][i] += energy
			}
		})
	}
}

// flowVoxels adds the same sums for one vector; energies may be nil.
func (g *Graph) flowVoxels(to, energies, u []float64, lo, hi int) {
	g.eachRun(lo, hi, func(from, by int, w []float64) {
		to, i, j := to[from:][:len(w)], u[from:][:len(w)], u[from+by:][:len(w)]
		if energies == nil {
			for x, w := range w {
				to[x] += w * (i[x] - j[x])
			}
			return
		}
		energies := energies[from:][:len(w)]
		for x, w := range w {
			d := i[x] - j[x]
			f := w * d
			to[x] += f
			energies[x] += f * d
		}
	})
}

// eachRun calls f with all links of nodes lo ≤ i < hi, as runs of weights: those of the nodes after from, to nodes by
// further on.
func (g *Graph) eachRun(lo, hi int, f func(from, by int, weights []float64)) {
	s := g.shape
	inside := func(y, z int64) bool { return y >= 0 && z >= 0 && y < s.H && z < s.D }
	for i := lo; i < hi; { // by lines along x
		z, y, x := s.Coordinates(int64(i))
		line, end := int64(i)-x, min(s.W, x+int64(hi-i))
		for k, t := range g.toward {
			by := (t[2]*s.H+t[1])*s.W + t[0]
			if from, to := line+max(x, -t[0]), line+min(end, s.W-t[0]); from < to && inside(y+t[1], z+t[2]) {
				f(int(from), int(by), g.weights[k][from:to])
			}
			if from, to := line+max(x, t[0]), line+min(end, s.W+t[0]); from < to && inside(y-t[1], z-t[2]) {
				f(int(from), int(-by), g.weights[k][from-by:to-by])
			}
		}
		i = int(line + end)
	}
}

// components numbers the connected parts of the graph and returns their number. Edges are the
// weights above 0.
func (g *Graph) components() (of []int, n int) {
	parent := make([]int, g.Nodes())
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	parts := len(parent)
	join := func(i, j int, w float64) {
		if a, b := root(i), root(j); w > 0 && a != b {
			parent[a] = b
			parts--
		}
	}
	if g.features == nil {
		g.eachRun(0, len(parent), func(from, by int, weights []float64) {
			if by < 0 || parts == 1 { // both ends have a link
				return
			}
			for i, w := range weights {
				join(from+i, from+i+by, w)
			}
		})
	} else {
		for i := range parent {
			for _, by := range [][3]int64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} {
				if j := g.nodeAt(i, by); j >= 0 {
					join(i, j, g.weight(i, j))
				}
			}
		}
		// Adjacent patches are usually connected. The other edges are needed only where they are not.
		for i := 0; i < len(parent) && parts > 1; i++ {
			g.row(i, func(j int, w float64) {
				if j > i {
					join(i, j, w)
				}
			})
		}
	}
	of, number := make([]int, len(parent)), map[int]int{}
	for i := range of {
		r := root(i)
		if _, ok := number[r]; !ok {
			number[r] = len(number)
		}
		of[i] = number[r]
	}
	return of, len(number)
}
