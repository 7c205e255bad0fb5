package multigrid

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/eigenmap"
)

// A solver finds the lowest pairs of Au = λMu on one level, in the complement of the kernel.
type solver struct {
	*level
	h       hierarchy // from this level on
	part    []int     // connected part of each cell; nil if there is only one
	parts   int
	weights []float64 // total mass of each part
	direct  *direct   // preconditioner that replaces the cycle, unless nil
	settled float64   // largest relative residual of unwanted pairs

	x, w, p, ax, aw, ap []block // by quads
	values              []float64
	residuals           []float64
	iterations          int
	withP               bool // p has directions
}

func newSolver(h hierarchy, quads int, part []int, parts int) *solver {
	s := &solver{level: h[0], h: h, part: part, parts: parts, settled: math.Inf(1)}
	n := s.cells()
	for _, list := range []*[]block{&s.x, &s.w, &s.p, &s.ax, &s.aw, &s.ap} {
		for range quads {
			*list = append(*list, make(block, Lanes*n))
		}
	}
	s.weights = sums(n, parts, s.threads, func(lo, hi int, to []float64) {
		for i := lo; i < hi; i++ {
			to[s.partOf(i)] += s.mass[i]
		}
	})
	return s
}

func (s *solver) partOf(i int) int {
	if s.part == nil {
		return 0
	}
	return s.part[i]
}

// deflate subtracts from each lane its mean over each part, weighted by mass.
func (s *solver) deflate(b block) {
	means := sums(s.cells(), Lanes*s.parts, s.threads, func(lo, hi int, to []float64) {
		for i := lo; i < hi; i++ {
			t, v, m := (*wide)(to[Lanes*s.partOf(i):]), (*wide)(b[Lanes*i:]), s.mass[i]
			for k := range t {
				t[k] += m * v[k]
			}
		}
	})
	for i := range means {
		means[i] /= s.weights[i/Lanes]
	}
	s.rows(func(lo, hi int) {
		for i := lo * s.nx; i < hi*s.nx; i++ {
			t, v := (*wide)(means[Lanes*s.partOf(i):]), (*wide)(b[Lanes*i:])
			for k := range t {
				v[k] -= t[k]
			}
		}
	})
}

// applyAll sets to to A · from.
func (s *solver) applyAll(to, from []block) {
	for q := range from {
		s.rows(func(lo, hi int) { s.apply(to[q], from[q], lo, hi) })
	}
}

// products returns the inner products uᵀMv and uᵀAv of all lanes of some quads. a contains Au.
func (s *solver) products(u, a []block) (gram2, energy *mat.SymDense) {
	n := len(u)
	const each = Lanes * Lanes
	total := sums(s.cells(), 2*each*n*(n+1)/2, s.threads, func(lo, hi int, to []float64) {
		for i := range n {
			for j := range i + 1 {
				gram(s.fast, to[:each], u[i], u[j], s.mass, lo, hi)
				gram(s.fast, to[each:], u[i], a[j], nil, lo, hi)
				to = to[2*each:]
			}
		}
	})
	gram2, energy = mat.NewSymDense(Lanes*n, nil), mat.NewSymDense(Lanes*n, nil)
	for i := range n {
		for j := range i + 1 {
			for k := range Lanes {
				for l := range Lanes {
					if i != j || l <= k {
						gram2.SetSym(Lanes*i+k, Lanes*j+l, total[Lanes*k+l])
						energy.SetSym(Lanes*i+k, Lanes*j+l, total[each+Lanes*k+l])
					}
				}
			}
			total = total[2*each:]
		}
	}
	return gram2, energy
}

var errSmall = errors.New("the eigenvalues of a small matrix were not found")

// Ritz finds the lowest pairs of a pencil of small matrices: values, and vectors as columns. It
// drops nearly dependent vectors.
func Ritz(gram2, energy *mat.SymDense, want int) ([]float64, *mat.Dense, error) {
	n := gram2.SymmetricDim()
	size := make([]float64, n)
	for i := range size {
		if d := gram2.At(i, i); d > 0 && !math.IsInf(d, 0) {
			size[i] = 1 / math.Sqrt(d)
		}
	}
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			scaled.SetSym(i, j, gram2.At(i, j)*size[i]*size[j])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(scaled, true) {
		return nil, nil, errSmall
	}
	var v mat.Dense
	e.VectorsTo(&v)
	var kept []int
	lengths := e.Values(nil)
	for i, l := range lengths {
		if l > 1e-12*lengths[n-1] {
			kept = append(kept, i)
		}
	}
	if len(kept) < want {
		return nil, nil, bench.Limitf("%d vectors of a basis of %d are independent, of %d wanted: ask for a larger tolerance",
			len(kept), n, want)
	}
	t := mat.NewDense(n, len(kept), nil)
	for c, i := range kept {
		for r := range n {
			t.Set(r, c, size[r]*v.At(r, i)/math.Sqrt(lengths[i]))
		}
	}
	var half, whole mat.Dense
	half.Mul(energy, t)
	whole.Mul(t.T(), &half)
	sym := mat.NewSymDense(len(kept), nil)
	for i := range kept {
		for j := range i + 1 {
			sym.SetSym(i, j, (whole.At(i, j)+whole.At(j, i))/2)
		}
	}
	if !e.Factorize(sym, true) {
		return nil, nil, errSmall
	}
	var y mat.Dense
	e.VectorsTo(&y)
	var c mat.Dense
	c.Mul(t, y.Slice(0, len(kept), 0, want))
	return e.Values(nil)[:want], &c, nil
}

// square returns the coefficients from one quad to another, by rows.
func square(c *mat.Dense, from, to int) *[Lanes * Lanes]float64 {
	var out [Lanes * Lanes]float64
	for k := range Lanes {
		for l := range Lanes {
			out[Lanes*k+l] = c.At(Lanes*from+k, Lanes*to+l)
		}
	}
	return &out
}

// combine sets x and p, and their products with A, to linear combinations of the basis: x of all
// vectors, p of all except x. The basis begins with x.
func (s *solver) combine(c *mat.Dense, withP bool) {
	quads := len(s.x)
	type mixed struct{ x, w, p []block }
	scratch := (chunk + Lanes) * Lanes
	for _, m := range []mixed{{s.x, s.w, s.p}, {s.ax, s.aw, s.ap}} {
		parts((s.cells()+chunk-1)/chunk, s.threadsFor(), func(first, last int) {
			nx, np := make([]block, quads), make([]block, quads)
			for q := range quads {
				nx[q], np[q] = make(block, scratch), make(block, scratch)
			}
			for part := first; part < last; part++ {
				lo, hi := part*chunk, min((part+1)*chunk, s.cells())
				of := func(b block) block { return b[Lanes*lo : Lanes*hi] }
				for q := range quads {
					clear(nx[q])
					clear(np[q])
					for from := range quads {
						accumulate(s.fast, nx[q], of(m.x[from]), square(c, from, q))
						accumulate(s.fast, np[q], of(m.w[from]), square(c, quads+from, q))
						if withP {
							accumulate(s.fast, np[q], of(m.p[from]), square(c, 2*quads+from, q))
						}
					}
				}
				for q := range quads {
					x, p := of(m.x[q]), of(m.p[q])
					copy(p, np[q])
					for i := range x {
						x[i] = nx[q][i] + p[i]
					}
				}
			}
		})
	}
}

// MostIterations is the maximum number of iterations.
const MostIterations = 400

// begin makes the current vectors an orthonormal approximation of the level's pairs.
func (s *solver) begin() error {
	s.withP = false
	for _, b := range s.x {
		s.deflate(b)
	}
	s.applyAll(s.ax, s.x)
	g, e := s.products(s.x, s.ax)
	values, c, err := Ritz(g, e, Lanes*len(s.x))
	if errors.As(err, new(bench.Limit)) {
		s.independent()
		s.applyAll(s.ax, s.x)
		g, e = s.products(s.x, s.ax)
		values, c, err = Ritz(g, e, Lanes*len(s.x))
	}
	if err != nil {
		return err
	}
	s.values = values
	all := mat.NewDense(2*Lanes*len(s.x), Lanes*len(s.x), nil)
	all.Slice(0, Lanes*len(s.x), 0, Lanes*len(s.x)).(*mat.Dense).Copy(c)
	s.combine(all, false)
	return nil
}

// remainders sets w to the residuals, and computes their norms in the normalised form.
func (s *solver) remainders() {
	s.residuals = s.residuals[:0]
	for q := range s.x {
		values := (*wide)(s.values[Lanes*q:])
		x, ax, w := s.x[q], s.ax[q], s.w[q]
		squares := sums(s.cells(), Lanes, s.threads, func(lo, hi int, to []float64) {
			for i := lo; i < hi; i++ {
				m := s.mass[i]
				over := 1 / m
				a, u, r := (*wide)(ax[Lanes*i:]), (*wide)(x[Lanes*i:]), (*wide)(w[Lanes*i:])
				for k := range r {
					r[k] = a[k] - values[k]*m*u[k]
					to[k] += r[k] * r[k] * over
				}
			}
		})
		for _, v := range squares {
			s.residuals = append(s.residuals, Root(v))
		}
	}
}

// grow adds a quad of smoothed random vectors. It helps if the current vectors do not separate the
// wanted pairs from the following ones.
func (s *solver) grow() {
	n := s.cells()
	for _, list := range []*[]block{&s.x, &s.w, &s.p, &s.ax, &s.aw, &s.ap} {
		*list = append(*list, make(block, Lanes*n))
	}
	q := len(s.x) - 1
	if s.direct != nil {
		for k := range Lanes {
			s.random(Lanes*q+k, 1)
		}
		return
	}
	for i := range s.f {
		s.f[i] = float32(eigenmap.Uniform(uint64(q), uint64(i)))
	}
	s.h.cycle(0, fewSweeps)
	for i := range s.x[q] {
		s.x[q][i] = float64(s.u[Lanes+i])
	}
}

// precondition replaces w by an approximate solution for it, in the complement of the kernel.
func (s *solver) precondition() {
	if s.direct != nil {
		for _, w := range s.w {
			s.direct.precondition(w)
		}
	} else {
		s.cycles()
	}
	if !s.small() {
		for _, w := range s.w {
			s.deflate(w)
		}
		return
	}
	for range 3 { // cancellation may leave little of a vector
		s.project()
		for _, w := range s.w {
			s.deflate(w)
		}
	}
}

// small reports whether values are so small that incremental sums lose all their digits.
func (s *solver) small() bool { return s.direct != nil || s.values[0] < 1e-9 }

// cycles replaces w by approximate solutions for it, with one cycle per quad.
func (s *solver) cycles() {
	sweeps := fewSweeps
	if s.iterations > Soon && s.beside == nil {
		sweeps = manySweeps
	}
	for q, w := range s.w {
		var scale [Lanes]float64
		for k := range scale {
			if r := s.residuals[Lanes*q+k]; r > 0 {
				scale[k] = 1 / r
			}
		}
		s.rows(func(lo, hi int) {
			for i := lo * s.nx; i < hi*s.nx; i++ {
				f, r := (*lane4)(s.f[Lanes*i:]), (*wide)(w[Lanes*i:])
				for k := range f {
					f[k] = float32(r[k] * scale[k])
				}
			}
		})
		s.h.cycle(0, sweeps)
		s.rows(func(lo, hi int) {
			for i := lo * s.nx; i < hi*s.nx; i++ {
				u, r := (*lane4)(s.u[Lanes*(i+1):]), (*wide)(w[Lanes*i:])
				for k := range u {
					r[k] = float64(u[k])
				}
			}
		})
	}
}

// unsettled reports whether the residual of a wanted pair is above settled.
func (s *solver) unsettled(wanted int) bool {
	for k, v := range s.values[:wanted] {
		if s.residuals[k] > settled*v {
			return true
		}
	}
	return false
}

// iterate runs LOBPCG (Knyazev 2001) until the residuals of the wanted pairs are small enough.
func (s *solver) iterate(wanted int, most int, enough func(value, residual float64) bool) error {
	for range most {
		s.remainders()
		done := true
		for k, v := range s.values {
			done = done && (k < wanted && enough(v, s.residuals[k]) || k >= wanted && s.residuals[k] <= s.settled*v)
		}
		if done {
			return nil
		}
		s.iterations++
		s.precondition()
		s.applyAll(s.aw, s.w)
		u, a := append(append([]block(nil), s.x...), s.w...), append(append([]block(nil), s.ax...), s.aw...)
		if s.withP {
			u, a = append(u, s.p...), append(a, s.ap...)
		}
		g, e := s.products(u, a)
		values, c, err := Ritz(g, e, Lanes*len(s.x))
		if err != nil {
			return err
		}
		s.values = values
		s.combine(c, s.withP)
		if s.withP = true; s.small() {
			s.applyAll(s.ax, s.x)
			s.applyAll(s.ap, s.p)
		}
	}
	return ErrUnfinished
}

// ErrUnfinished reports that iterations ended before the pairs had converged.
var ErrUnfinished = errors.New("unfinished")

// few is the largest number of cells for which the whole matrix is solved.
const few = 128

// coarse solves for some quads of pairs on a level, as accurately as a guess for the next finer
// level needs. It returns nil if it cannot.
func coarse(h hierarchy, quads int) *solver {
	s := newSolver(h, quads, nil, 1)
	want := Lanes * quads
	if s.cells() <= 2*want {
		return nil
	}
	s.interpolateFrom(nil)
	if s.cells() <= few {
		_, vectors, err := s.dense(nil)
		if err != nil {
			return nil
		}
		for k := range want {
			for i := range s.cells() {
				s.x[k/Lanes][Lanes*i+k%Lanes] = vectors.At(i, k+1) / math.Sqrt(s.mass[i])
			}
		}
	} else {
		s.interpolateFrom(coarse(h[1:], quads))
	}
	if s.begin() != nil {
		return nil
	}
	err := s.iterate(want-Lanes/2, 6, func(value, residual float64) bool { return residual < 0.05*value })
	if err != nil && !errors.Is(err, ErrUnfinished) {
		return nil
	}
	return s
}

// interpolateFrom sets x to the interpolated vectors of the next level, and further vectors to
// random ones.
func (s *solver) interpolateFrom(c *solver) {
	for q, b := range s.x {
		if c == nil {
			for i := range b {
				b[i] = eigenmap.Uniform(uint64(q), uint64(i))
			}
			continue
		}
		for i, v := range c.x[q] {
			c.u[Lanes+i] = float32(v)
		}
		clear(s.u)
		s.interpolate(c.level)
		for i := range b {
			b[i] = float64(s.u[Lanes+i])
		}
	}
}

// EnoughGap is the relative gap between the last wanted value and the first value beyond all
// vectors that LOBPCG needs to converge quickly.
const EnoughGap = 0.3

// solverOf returns the solver of the finest level with a first guess. It has enough vectors to
// separate the wanted pairs from the following ones, if necessary a quad more.
func solverOf(h hierarchy, wanted int, part []int, parts int) *solver {
	n := Quads(wanted + 1)
	if h[0].cells() <= 4*few {
		s := newSolver(h, n, part, parts)
		s.interpolateFrom(nil)
		return s
	}
	c := coarse(h[1:], n+1)
	if c != nil {
		if next, last := c.values[Lanes*n], c.values[wanted-1]; next-last < EnoughGap*next {
			n++
		}
	}
	s := newSolver(h, n, part, parts)
	s.interpolateFrom(c)
	return s
}

// dense finds all pairs of M^−½AM^−½. Given orthonormal vectors of its kernel, it puts them last
// and keeps the others free of them, even if other values are tiny.
func (s *solver) dense(kernel [][]float64) ([]float64, *mat.Dense, error) {
	n := s.cells()
	sym := mat.NewSymDense(n, nil)
	unit, to := make(block, Lanes*n), make(block, Lanes*n)
	for i := range n {
		unit[Lanes*i] = 1
		s.apply(to, unit, 0, s.ny*s.nz)
		unit[Lanes*i] = 0
		for j := range n {
			sym.SetSym(i, j, to[Lanes*j]/math.Sqrt(s.mass[i])/math.Sqrt(s.mass[j]))
		}
	}
	top := 0.0
	for i := range n {
		top = max(top, sym.At(i, i))
	}
	for _, x := range kernel { // raise them to twice the largest possible value
		sym.SymRankOne(sym, 4*top, mat.NewVecDense(n, x))
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		return nil, nil, errSmall
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v, nil
}
