// Package multigrid computes the lowest eigenpairs of the graph of an image's voxels without a
// matrix. It runs LOBPCG (Knyazev 2001) in float64 on differences. The preconditioner is a
// multigrid cycle in float32, or LDLᵀ for few voxels. The kernel is known and excluded exactly. The
// first guess comes from the next coarser grid.
package multigrid

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/eigenmap"
)

// Estimated nanoseconds per voxel and core for each four pairs, and per link if there are many.
const voxelNS, linkNS = 1500, 200

// Implementation is ready to use as its zero value.
type Implementation struct {
	cycles bool // use cycles even for few cells
}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("multigrid",
		"LOBPCG in float64 without a matrix, preconditioned by a multigrid cycle in float32, or by "+
			"LDLᵀ of few voxels, all cores", "doc/proofs/eigenmap.md; Knyazev 2001", bench.E2E)
}

// Quads returns the number of quads of vectors for k pairs. One pair is known, and there is at
// least one extra vector, because the last ones converge slowly.
func Quads(k int) int { return (k - 1 + Lanes) / Lanes }

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (i Implementation) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	if err := p.CheckKind(eigenmap.Grid); err != nil {
		return err
	}
	n, q, threads := p.Nodes().Voxels(), int64(Quads(p.K)+1), int64(max(1, c.Threads))
	ns := int64(voxelNS)
	if p.Radius > 1 {
		ns += linkNS * links(p)
	}
	if err := c.Allow(quantity.Seconds(float64(n*q*q*ns)*1e-9/float64(threads)), "%d voxels × %d² × %d ns on %d cores",
		n, q, ns, threads); err != nil {
		return err
	}
	each := bytesEach(p)
	if e := dissect(p); e.affordable() && !i.cycles {
		each += int64(directBytes*e.numbers) / n
	}
	return c.AllowMemory(n*each, "%d bytes for each of %d voxels", each, n)
}

// links returns the approximate number of a voxel's later neighbours.
func links(p *eigenmap.Problem) int64 {
	r, n := p.Radius, int64(3)
	if p.Corners {
		n += 13
	}
	if r > 1 && p.Shape().D > 1 { // half of a ball
		return 3 + 2*r*r*r
	}
	if r > 1 {
		n += 3 * r * r / 2
	}
	return n
}

// bytesEach returns the bytes per voxel without a direct solver. Per quad six lists of vectors; then
// the data of the cycle, the links and the answer. Coarser levels add a third.
func bytesEach(p *eigenmap.Problem) int64 {
	return (6*8*Lanes*int64(Quads(p.K)+1) + 4*(3*Lanes+8) + 8*(links(p)+2) + 8*int64(p.K)) * 4 / 3
}

// Setup allocates the map. The choice of the solver, and so the bits of the answer, depends on the
// problem alone, unless the memory does not suffice for a direct solver.
func (i Implementation) Setup(p *eigenmap.Problem, c bench.Conditions) (bench.Job[eigenmap.Map], error) {
	j := &job{p: p, cycles: i.cycles, threads: c.Cores(), Output: eigenmap.NewOutput(p)}
	e := dissect(p)
	j.products = e.products
	need := p.Nodes().Voxels()*bytesEach(p) + int64(directBytes*e.numbers)
	j.factors = !j.cycles && e.affordable() && c.AllowMemory(need, "") == nil
	return j, nil
}

type job struct {
	p       *eigenmap.Problem
	cycles  bool
	threads int

	products float64 // of a factorisation
	factors  bool    // it is affordable after cycles have failed

	eigenmap.Output
	iterations int // on the finest level
}

const (
	// Patience is the number of iterations after which a direct solver of few products per voxel
	// replaces the cycles. With residuals above settled, promising iterations are enough.
	Patience, promising, cheapEach = 14, 4, 2e4
	// hopeful is the number of further iterations after which any affordable direct solver does. Before
	// them a quad of vectors is added: clustered pairs converge sooner if the vectors cover the whole
	// cluster.
	hopeful = 100
)

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("links")
	l, err := finest(j.p, j.threads)
	end()
	if err != nil {
		return err
	}
	part, parts := l.parts()
	known := min(parts, j.p.K)
	wanted := j.p.K - known
	j.setKnown(l, part, parts)
	if wanted == 0 {
		return nil
	}
	if l.cells() <= 4*Lanes*Quads(wanted+1)+parts { // too few for a basis
		return j.whole(newSolver(hierarchy{l}, 1, part, parts), known)
	}
	s := j.solver(trace, l, wanted, part, parts)
	defer trace.Span("solve")()
	if err := j.refine(s, l, wanted, parts); err != nil {
		return err
	}
	j.iterations = s.iterations
	of := make([]wide, len(s.x))
	for q, b := range s.x {
		of[q] = l.energies(b)
	}
	for k := range wanted {
		j.Values[known+k] = of[k/Lanes][k%Lanes]
		x := j.Vectors[known+k]
		for i, m := range l.mass {
			x[i] = math.Sqrt(m) * s.x[k/Lanes][Lanes*i+k%Lanes]
		}
	}
	return nil
}

// setKnown sets the pairs of the kernel, which are constant on each part.
func (j *job) setKnown(l *level, part []int, parts int) {
	values, vectors := l.partPairs(part, parts)
	for k := range min(parts, j.p.K) {
		j.Values[k] = values[k]
		x, size := j.Vectors[k], 0.0
		for i, m := range l.mass {
			x[i] = math.Sqrt(m)
			if part != nil {
				x[i] *= vectors.At(part[i], k)
			}
			size += x[i] * x[i]
		}
		size = math.Sqrt(size)
		for i := range x {
			x[i] /= size
		}
	}
}

// refine iterates until the wanted pairs have the tolerance. Products with A are updated incrementally,
// so it checks with new ones, and repeats with a smaller tolerance if rounding has changed them.
func (j *job) refine(s *solver, l *level, wanted, parts int) error {
	tol := j.p.Tol * 0.9 // margin for rounding
	for range 3 {
		if err := s.begin(); err != nil {
			return err
		}
		err := j.approach(s, l, wanted, parts, tol)
		if errors.Is(err, ErrUnfinished) && Largest(s.residuals[:wanted]) <= tol {
			err = nil // small values may have few digits
		}
		if errors.Is(err, ErrUnfinished) {
			return bench.Limitf("%d iterations leave residuals up to %.3g: ask for a larger tolerance than %.3g, "+
				"or a larger floor", s.iterations, Largest(s.residuals[:wanted]), j.p.Tol)
		}
		if err != nil {
			return err
		}
		if err := s.begin(); err != nil {
			return err
		}
		if s.remainders(); Largest(s.residuals[:wanted]) <= j.p.Tol {
			break
		}
		if tol /= 2; tol < j.p.Tol/4 {
			return bench.Limitf("residuals stay at %.3g, not %.3g: ask for a larger tolerance",
				Largest(s.residuals[:wanted]), j.p.Tol)
		}
	}
	return nil
}

// approach iterates until the wanted pairs are precise enough. As long as they are not, it tries a
// direct solver if it is cheap, then another quad of vectors, and then a direct solver at any price.
func (j *job) approach(s *solver, l *level, wanted, parts int, tol float64) error {
	iterate := func(most int) error {
		return s.iterate(wanted, most, func(value, residual float64) bool { return residual <= Limit(tol, value) })
	}
	direct := func() error { // in place of the cycles
		s.direct = newDirect(l, reach(j.p))
		return s.begin()
	}
	err := iterate(promising)
	cheap := j.factors && s.direct == nil && j.products <= cheapEach*float64(l.cells())
	if errors.Is(err, ErrUnfinished) && !(cheap && s.unsettled(wanted)) {
		err = iterate(Patience - promising)
	}
	if errors.Is(err, ErrUnfinished) && cheap {
		if err = direct(); err == nil {
			err = iterate(Patience)
		}
	}
	if errors.Is(err, ErrUnfinished) {
		err = nil
		if len(s.x) <= Quads(wanted+1) && l.cells() > 4*Lanes*(len(s.x)+1)+parts {
			s.grow()
			err = s.begin()
		}
		if err == nil {
			err = iterate(hopeful)
		}
	}
	if errors.Is(err, ErrUnfinished) {
		err = nil
		if s.direct == nil && j.factors {
			err = direct()
		}
		if err == nil {
			err = iterate(MostIterations)
		}
	}
	return err
}

// solver returns the solver of the finest level with a first guess: random vectors for few cells,
// with a direct solver as preconditioner, and otherwise the result of the coarser levels.
func (j *job) solver(trace *bench.Trace, l *level, wanted int, part []int, parts int) *solver {
	defer trace.Span("guess")()
	if j.products <= soonFactored && !j.cycles {
		n := Quads(wanted + 1)
		if l.cells() > 4*Lanes*(n+1)+parts && Lanes*n < wanted+2 {
			n++
		}
		s := newSolver(hierarchy{l}, n, part, parts)
		s.direct = newDirect(l, reach(j.p))
		s.interpolateFrom(nil)
		return s
	}
	l.support()
	s := solverOf(newHierarchy(l), wanted, part, parts)
	// Coarser levels do not resolve structures of a few cells.
	all := Lanes * len(s.x)
	for k := min(all-1, max(wanted, all-Lanes/2)); k < all; k++ {
		s.random(k, 1)
	}
	s.settled = settled
	return s
}

// settled is the relative residual that unwanted pairs must reach before the search ends. These
// start at random, and so find pairs that the first guess has missed.
const settled = 0.3

// Limit returns the largest residual of a pair: the tolerance, or 3/1000 of its value if that is
// less, so that small values have correct digits. It is at least the precision of float64.
func Limit(tol, value float64) float64 {
	const ofValue, least = 3e-3, 3e-15
	return max(min(tol, ofValue*value), least)
}

// whole computes all pairs of a small matrix.
func (j *job) whole(s *solver, known int) error {
	values, vectors, err := s.dense(j.Vectors[:known])
	if err != nil {
		return err
	}
	for k, x := range j.Vectors[known:] {
		j.Values[known+k] = max(0, values[k])
		mat.Col(x, k, vectors)
	}
	return nil
}

// Largest returns the largest number of a list, at least 0.
func Largest(list []float64) (top float64) {
	for _, v := range list {
		top = max(top, v)
	}
	return top
}
