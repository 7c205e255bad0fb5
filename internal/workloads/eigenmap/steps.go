package eigenmap

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
)

// lanczos takes steps by the definition: algorithm 1 of Cheng et al. 2014. It orthogonalises each
// vector twice against all earlier ones, and applies L by the graph's rows.
func (p *Problem) lanczos() (Map, error) {
	g, err := p.graph()
	if err != nil {
		return Map{}, err
	}
	n := g.Nodes()
	q := [][]float64{make([]float64, n)}
	for i := range q[0] {
		q[0][i] = p.Start(i)
	}
	scale(q[0], 1/algebra.Norm(q[0]))
	t := mat.NewSymDense(p.Steps, nil)
	for k := range p.Steps {
		z := make([]float64, n)
		g.Apply([][]float64{z}, q[k:k+1])
		t.SetSym(k, k, algebra.Dot(q[k], z))
		algebra.Project(z, q)
		size := algebra.Norm(z)
		if k == p.Steps-1 {
			break
		}
		if size < 1e-12 {
			return Map{}, fmt.Errorf("the Krylov space ends after %d steps", k+1)
		}
		t.SetSym(k, k+1, size)
		scale(z, 1/size)
		q = append(q, z)
	}
	var e mat.EigenSym
	if !e.Factorize(t, true) {
		return Map{}, errors.New("the eigenvalues of T were not found")
	}
	var u mat.Dense
	e.VectorsTo(&u)
	m := Map{Values: e.Values(nil)[:p.K], Vectors: make([][]float64, p.K)}
	for k, v := range q {
		if m.Diagonal = append(m.Diagonal, t.At(k, k)); k > 0 {
			m.OffDiagonal = append(m.OffDiagonal, t.At(k-1, k))
		}
		m.Basis = append(m.Basis, v...)
	}
	for k := range m.Vectors {
		m.Vectors[k] = make([]float64, n)
		for j, v := range q {
			algebra.AddTimes(u.At(j, k), v, m.Vectors[k])
		}
	}
	return m, nil
}

// stepped compares the values with the definition's steps.
func stepped(p *Problem, m Map, _ ask) ([]verify.Measure, error) {
	list, _, err := p.pairs(m)
	if err != nil || p.misshapen(m) != nil {
		return list, err
	}
	want, err := p.lanczos()
	if err != nil {
		return nil, verify.ErrNotApplicable
	}
	off := make([]float64, p.K)
	for k, v := range want.Values {
		off[k] = math.Abs(v - m.Values[k])
	}
	return append(list, worst("value off the definition's steps", ofSteps, off)), nil
}

// recurrence proves that a map is the result of the steps, without taking steps. Let Q be
// orthonormal vectors whose first is the start, and T tridiagonal. Then LQ = QT, except for the
// last column, determines T and, up to signs, Q (Golub and Van Loan 2013, theorem 8.3.2). It checks
// LQz = QTz and QᵀQz = z for random z. A nonzero matrix hardly has such z in its kernel (Freivalds
// 1977). The seed of z is a hash of the map. The pairs must be the lowest of T.
func recurrence(p *Problem, m Map, _ ask) ([]verify.Measure, error) {
	list, c, err := p.pairs(m)
	if err != nil || c.residuals == nil {
		return list, err
	}
	g, err := p.graph()
	if err != nil {
		return nil, err
	}
	n, steps := g.Nodes(), p.Steps
	start := make([]float64, n)
	for i := range start {
		start[i] = p.Start(i)
	}
	scale(start, 1/algebra.Norm(start))
	algebra.AddTimes(-1, m.Basis[:n], start)

	apart, skew := verify.Measure{Name: "LQz off QTz", Limit: p.rounded()},
		verify.Measure{Name: "QᵀQz off z", Limit: mostSkew}
	from := [][]float64{m.Basis[(steps-1)*n:]}
	var want [][]float64
	seed := rand.Uint64() // after the answer, which cannot depend on it
	for draw := range draws {
		z := make([]float64, steps)
		for k := range z[:steps-1] { // without the last column
			z[k] = Uniform(seed+uint64(draw), uint64(k))
		}
		scale(z, 1/algebra.Norm(z))
		x, tz := m.combined(z), m.byT(z)
		from, want = append(from, x), append(want, m.combined(tz))
		z[steps-1] = 1 // with the last column: its length and its angles
		algebra.AddTimes(1, m.Basis[(steps-1)*n:], x)
		back := m.products(x)
		algebra.AddTimes(-1, m.Basis[(steps-1)*n:], x)
		algebra.AddTimes(-1, z, back)
		skew.Value = larger(skew.Value, algebra.Norm(back))
	}
	to := make([][]float64, len(from))
	for k := range to {
		to[k] = make([]float64, n)
	}
	energies := g.Apply(to, from)
	for draw, w := range want {
		algebra.AddTimes(-1, w, to[draw+1])
		apart.Value = larger(apart.Value, algebra.Norm(to[draw+1]))
	}
	list = append(list, apart, skew,
		verify.Measure{Name: "start off the first vector", Value: algebra.Norm(start), Limit: p.rounded()},
		verify.Measure{Name: "last number of T off", Value: math.Abs(energies[0] - m.Diagonal[steps-1]), Limit: p.rounded()})

	last := m.Values[p.K-1] - 2*mostSkew
	return append(append(list, m.inSpan()...), verify.Measure{
		Name: "values of T below the last", Value: float64(m.countBelow(last)), Limit: float64(p.K - 1),
		At: fmt.Sprintf("below %g", last),
	}), nil
}

// inSpan measures how far vectors are from the span of Q, and pairs from those of T.
func (m Map) inSpan() []verify.Measure {
	outside, off := verify.Measure{Name: "vectors off the span of Q", Limit: mostSkew},
		verify.Measure{Name: "pairs off those of T", Limit: mostSkew}
	for k, y := range m.Vectors {
		c := m.products(y)
		rest := m.combined(c)
		algebra.AddTimes(-1, y, rest)
		outside.Value = larger(outside.Value, algebra.Norm(rest))
		tc := m.byT(c)
		algebra.AddTimes(-m.Values[k], c, tc)
		off.Value = larger(off.Value, algebra.Norm(tc))
	}
	return []verify.Measure{outside, off}
}

// draws is the number of random vectors of a check. A column error e remains unnoticed only if
// every vector has less of the column than the limit divided by e.
const draws = 2

func larger(a, b float64) float64 {
	if b > a || math.IsNaN(b) {
		return b
	}
	return a
}

// rounded bounds |LQz − QTz| by rounding errors for |z| = 1. A column has the errors of a product,
// whose sums have up to n terms, and of two orthogonalisations of N terms. It also has the
// corrections along earlier vectors that rounding of their columns caused: twice the square root of
// N for N columns. Errors of a sum of n terms are taken as random. So they are about the square
// root of n units (Higham and Mary 2019); eight times this is allowed.
func (p *Problem) rounded() float64 {
	const unit, allowed = 1.0 / (1 << 53), 8
	n, steps := float64(p.Nodes().Voxels()), float64(p.Steps)
	column := allowed * unit * mostLength * math.Sqrt(n+2*steps)
	return column*math.Sqrt(steps)*(1+2*math.Sqrt(steps)) + 3*p.leftOut()
}

// combined returns the linear combination of the steps' vectors.
func (m Map) combined(c []float64) []float64 {
	n := len(m.Vectors[0])
	out := make([]float64, n)
	inParts(n, func(lo, hi int) {
		blas64.Gemv(blas.Trans, 1, blas64.General{Rows: len(c), Cols: hi - lo, Stride: n,
			Data: m.Basis[lo : (len(c)-1)*n+hi]}, blasVector(c), 0, blasVector(out[lo:hi]))
	})
	return out
}

// products returns the dot products of a vector with the steps' vectors.
func (m Map) products(x []float64) []float64 {
	n, out := len(x), make([]float64, len(m.Diagonal))
	each(len(out), func(k int) { out[k] = algebra.Dot(m.Basis[k*n:][:n], x) })
	return out
}

// byT returns the product of T with a vector.
func (m Map) byT(z []float64) []float64 {
	out := make([]float64, len(z))
	for k, a := range m.Diagonal {
		if out[k] += a * z[k]; k > 0 {
			out[k] += m.OffDiagonal[k-1] * z[k-1]
			out[k-1] += m.OffDiagonal[k-1] * z[k]
		}
	}
	return out
}

// countBelow returns the number of eigenvalues of T below a bound, from the signs of its pivots.
func (m Map) countBelow(bound float64) (n int) {
	pivot := 1.0
	for k, a := range m.Diagonal {
		next := a - bound
		if k > 0 {
			next -= m.OffDiagonal[k-1] * m.OffDiagonal[k-1] / pivot
		}
		if pivot = next; pivot == 0 {
			pivot = -math.SmallestNonzeroFloat64
		}
		if !(pivot > 0) {
			n++
		}
	}
	return n
}

func blasVector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
