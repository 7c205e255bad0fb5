package eigenmap

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/crew"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
	"eccbench/internal/workloads/eigenmap/inertia"
)

// misshapen returns a difference if a map does not have the requested number of values and vectors.
func (p *Problem) misshapen(m Map) *verify.Diff {
	if len(m.Values) != p.K || len(m.Vectors) != p.K {
		return &verify.Diff{Where: "the map", Want: fmt.Sprintf("%d pairs", p.K),
			Got: fmt.Sprintf("%d values, %d vectors", len(m.Values), len(m.Vectors))}
	}
	n := int(p.Nodes().Voxels())
	for i, x := range m.Vectors {
		if len(x) != n {
			return &verify.Diff{Where: fmt.Sprintf("vector %d", i+1), Want: fmt.Sprintf("%d numbers", n),
				Got: fmt.Sprint(len(x))}
		}
	}
	if len(m.Diagonal) != p.Steps || len(m.OffDiagonal) != max(0, p.Steps-1) || len(m.Basis) != p.Steps*n {
		return &verify.Diff{Where: "the steps", Want: fmt.Sprintf("%d", p.Steps),
			Got: fmt.Sprintf("%d of T, %d beside them, %d numbers of vectors", len(m.Diagonal), len(m.OffDiagonal), len(m.Basis))}
	}
	return nil
}

// Limits that allow for rounding in float64.
const (
	mostSkew   = 1e-10 // of |XᵀX − I|
	mostAngle  = 1e-6  // of a kernel vector from the span
	ofValue    = 1e-6  // of a value from the energy over edges, relative
	ofCancels  = 1e-13 // … and absolute
	ofSteps    = 1e-9  // of the values after the requested steps from the definition's
	mostLength = 2     // the norm of a normalised L
)

// A certificate holds the measurements of a map on the harness's own graph, in float64.
type certificate struct {
	residuals []float64 // |Lx − λx|, with λ computed from the edges
	energies  []float64 // xᵀLx, computed from the edges
	product   [][]float64
	digest    [sha256.Size]byte // of the map
}

// certified caches the last certificate, which all laws about a map use.
type certified struct {
	certificate
	sync.Mutex
}

// certify returns the certificate of a map.
func (p *Problem) certify(m Map) (c certificate, err error) {
	hash := sha256.New()
	if err := Encode(hash, m); err != nil {
		return c, err
	}
	p.last.Lock()
	defer p.last.Unlock()
	if hash.Sum(c.digest[:0]); p.last.residuals != nil && p.last.digest == c.digest {
		return p.last.certificate, nil
	}
	if c, err = p.certificate(m, c.digest); err == nil {
		p.last.certificate = c
	}
	return c, err
}

// certificate computes the certificate. For patches the omitted weights count as residual too.
func (p *Problem) certificate(m Map, digest [sha256.Size]byte) (c certificate, err error) {
	c.digest = digest
	g, err := p.graph()
	if err != nil {
		return c, err
	}
	left := 0.0
	if p.Kind != Grid {
		left = 3 * p.leftOut()
	}
	c.product = make([][]float64, p.K)
	for k := range c.product {
		c.product[k] = make([]float64, g.Nodes())
	}
	c.energies = g.Apply(c.product, m.Vectors)
	rest := make([]float64, g.Nodes())
	for k, x := range m.Vectors {
		for i, v := range x {
			rest[i] = c.product[k][i] - m.Values[k]*v
		}
		c.residuals = append(c.residuals, algebra.Norm(rest)+left)
	}
	return c, nil
}

// residual is the name of the measure in the tables.
const residual = "residual"

func nan(name, at string) []verify.Measure {
	return []verify.Measure{{Name: name, Value: math.NaN(), At: at}}
}

// worst returns the worst measure of a list over all pairs.
func worst(name string, limit float64, list []float64) verify.Measure {
	m := verify.Measure{Name: name, Limit: limit}
	for k, v := range list {
		if m.Below(v) {
			m.Value, m.At = v, fmt.Sprintf("pair %d", k+1)
		}
	}
	return m
}

// pairs verifies that a map consists of eigenpairs: small residuals, orthonormal vectors, values
// that match the vectors, in order. It does not verify that no pair is missing.
func (p *Problem) pairs(m Map) ([]verify.Measure, certificate, error) {
	if d := p.misshapen(m); d != nil {
		return nan(residual, d.String()), certificate{}, nil
	}
	c, err := p.certify(m)
	if err != nil {
		return nil, c, err
	}
	limit := p.Tol
	if p.Kind == Lanczos {
		limit = mostLength // the residual after a number of steps is reported; any value is right
	}
	list := []verify.Measure{worst(residual, limit, c.residuals), {Name: "orthogonality", Limit: mostSkew}}
	for i, x := range m.Vectors {
		for j, y := range m.Vectors[:i+1] {
			e := algebra.Dot(x, y)
			if i == j {
				e--
			}
			if o := &list[1]; o.Below(math.Abs(e)) {
				o.Value, o.At = math.Abs(e), fmt.Sprintf("vectors %d and %d", j+1, i+1)
			}
		}
	}
	value := verify.Measure{Name: "value off xᵀLx, of what may be", Limit: 1}
	for k, v := range m.Values {
		allowed := ofCancels*max(1, p.length()) + ofValue*c.energies[k]
		if e := math.Abs(v-c.energies[k]) / allowed; value.Below(e) {
			value.Value, value.At = e, fmt.Sprintf("pair %d: %g, xᵀLx is %g", k+1, v, c.energies[k])
		}
		if k > 0 && !(v >= m.Values[k-1]-allowed) {
			value.Value, value.At = math.Inf(1), fmt.Sprintf("pair %d: %g after %g", k+1, v, m.Values[k-1])
		}
	}
	return append(list, value), c, nil
}

// length returns a bound on the norm of L.
func (p *Problem) length() float64 {
	if p.Plain {
		return 4 * float64(len(p.followers())) * (1 + p.Floor)
	}
	return mostLength
}

// kernel measures how far the known kernel vectors are from the span of a map. Each connected part
// has the kernel vector m^½, if there are no more parts than pairs. Otherwise all values are 0.
func (p *Problem) kernel(m Map) ([]verify.Measure, error) {
	if p.misshapen(m) != nil {
		return nil, nil
	}
	g, err := p.graph()
	if err != nil {
		return nil, err
	}
	part, parts := g.components()
	zero := verify.Measure{Name: "values that are 0", Limit: p.Tol}
	for k := range min(parts, p.K) {
		if zero.Below(math.Abs(m.Values[k])) {
			zero.Value, zero.At = math.Abs(m.Values[k]), fmt.Sprintf("pair %d of a graph in %d parts", k+1, parts)
		}
	}
	if parts > p.K {
		return []verify.Measure{zero}, nil
	}
	angle := verify.Measure{Name: "angle of the kernel from the span", Limit: mostAngle}
	x := make([]float64, g.Nodes())
	for c := range parts {
		for i := range x {
			if x[i] = 0; part[i] == c {
				x[i] = math.Sqrt(g.mass[i])
			}
		}
		size := algebra.Norm(x)
		algebra.Project(x, m.Vectors)
		if e := algebra.Norm(x) / size; angle.Below(e) {
			angle.Value, angle.At = e, fmt.Sprintf("part %d of %d", c+1, parts)
		}
	}
	return []verify.Measure{zero, angle}, nil
}

// measuresOf returns all measures of a map except the proof of completeness.
func (p *Problem) measuresOf(m Map) ([]verify.Measure, certificate, error) {
	list, c, err := p.pairs(m)
	if err != nil || c.residuals == nil {
		return list, c, err
	}
	more, err := p.kernel(m)
	return append(list, more...), c, err
}

// factored reports whether the matrix of n patches is factored: at most 3e9 products and 1 << 25
// numbers.
func factored(n int) bool {
	const mostProducts, mostNumbers = 3e9, 1 << 25
	return math.Pow(float64(n), 3)/2 <= mostProducts && n*n <= mostNumbers
}

// countBelow returns the number of eigenvalues of L below a shift. It also returns a bound on the
// error of these eigenvalues by rounding.
func (g *Graph) countBelow(shift float64) (n int, moved float64, err error) {
	if g.features == nil {
		s := g.shape
		return inertia.Graph{
			Size: [3]int{int(s.W), int(s.H), int(s.D)}, Square: int(g.p.square()), Degree: g.Degree, Mass: g.mass, Row: g.row,
		}.Count(shift, runtime.GOMAXPROCS(0))
	}
	b := algebra.NewBand(g.Nodes(), g.Nodes()-1)
	for i := range g.Nodes() {
		b.Add(i, i, g.Degree[i]/g.mass[i])
		g.row(i, func(j int, w float64) {
			if j < i {
				b.Add(i, j, -w/g.root[i]/g.root[j])
			}
		})
	}
	n, moved, err = b.Factor(shift)
	return n, moved + 3*g.p.leftOut(), err
}

// starts is the number of start vectors of a search.
const starts = 3

// search looks for a pair that a map misses, in the complement of its span. A pair v refutes the
// map: on the span with v, the k-th value of L is at least the k-th eigenvalue. If the search finds
// none, this proves nothing.
func search(p *Problem, m Map, _ ask) ([]verify.Measure, error) {
	list, c, err := p.measuresOf(m)
	if err != nil || c.residuals == nil {
		return list, err
	}
	g, err := p.graph()
	if err != nil {
		return nil, err
	}
	if g.Nodes() <= p.K {
		return nil, verify.ErrNotApplicable
	}
	last := m.Values[p.K-1]
	least, from := math.Inf(1), 0
	coarse, apply := g.searching()
	var found, products [][]float64
	all := make([][]float64, starts)
	var group crew.Group
	for start := range starts {
		group.Go(func() { all[start] = g.seek(apply, m.Vectors, coarse, uint64(start)) })
	}
	group.Wait()
	for _, v := range all {
		if v != nil {
			found, products = append(found, v), append(products, make([]float64, len(v)))
		}
	}
	energies := g.Apply(products, found)
	for start := range found {
		// The k-th value on the span and the new vector.
		lv, energy := products[start:], energies[start]
		small := mat.NewSymDense(p.K+1, nil)
		for i := range p.K {
			for j := range i + 1 {
				small.SetSym(i, j, (algebra.Dot(m.Vectors[i], c.product[j])+algebra.Dot(m.Vectors[j], c.product[i]))/2)
			}
			small.SetSym(i, i, c.energies[i])
			small.SetSym(i, p.K, algebra.Dot(m.Vectors[i], lv[0]))
		}
		small.SetSym(p.K, p.K, energy)
		var e mat.EigenSym
		if !e.Factorize(small, false) {
			return nil, errors.New("the eigenvalues of a small matrix were not found")
		}
		if k := e.Values(nil)[p.K-1]; k < least {
			least, from = k, start+1
		}
	}
	delta := slices.Max(c.residuals) + ofCancels
	return append(list, verify.Measure{Name: "last value above what a search found", Value: max(0, last-least),
		Limit: delta, At: fmt.Sprintf("start %d of %d finds %g", from, starts, least)}), nil
}

// Residuals returns |Lx − λx| of each pair, in float64 on the definition's graph.
func (p *Problem) Residuals(m Map) ([]float64, error) {
	if d := p.misshapen(m); d != nil {
		return nil, errors.New(d.String())
	}
	c, err := p.certify(m)
	return c.residuals, err
}
