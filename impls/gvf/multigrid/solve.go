package multigrid

import (
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// A solver solves (μL + b)V = b·V0, one component after the other. Both sides are multiplied by the
// widths of the cells, which makes the operator symmetric for every boundary.
//
// The solution and the directions are float32. After each step the residual is computed from the
// solution itself, in float64, so errors do not accumulate.
type solver struct {
	p       *gvf.Problem
	levels  *hierarchy
	threads int

	b, over []float32 // by rows of the finest level; over is 1 over the widths along x
	v0      []float32 // of the component, without space between rows
	zero    []float32 // a row of zeros
	x, d    []float32 // the solution and a direction, as values of the finest level
	parts   []float64 // partial sums by row
	scale   float64   // of the right side of the levels
}

func newSolver(p *gvf.Problem, kit *rows.Kit, threads int) *solver {
	shape, mu := p.Shape(), float64(p.Mu)
	along := func(n int64) axis { return newAxis(gvf.FinestAxis(n, mu, p.Boundary)) }
	y, z := along(shape.H), along(shape.D)
	s := &solver{p: p, parts: make([]float64, y.n*z.n), levels: newHierarchy(along(shape.W), y, z, mu, kit, threads)}
	l := s.finest()
	s.threads, s.zero = l.threads, make([]float32, l.stride)
	s.b = room(len(l.f))
	s.x, s.d = l.values(), l.values()
	over := make([]float64, l.x.n)
	for i, w := range l.x.Width {
		over[i] = 1 / w
	}
	s.over = l.x.list(over)
	return s
}

// begin makes the operators for b, whose rows follow one another. It moves them apart.
func (s *solver) begin() {
	l := s.finest()
	for r := len(s.parts) - 1; r >= 0; r-- {
		b := s.b[r*l.stride:][:l.stride]
		copy(b, s.b[r*l.x.n:][:l.x.n])
		clear(b[l.x.n:])
	}
	l.rows(func(_, r int) {
		of := l.y.width32[r%l.y.n] * l.z.width32[r/l.y.n]
		mass := l.diag[r*l.stride:]
		for k, v := range s.b[r*l.stride:][:l.x.n] {
			mass[k] = of * l.x.width32[k] * v
		}
	})
	s.levels.link()
}

func (s *solver) finest() *level { return s.levels.levels[0] }

// sum adds f of each row, in order.
func (s *solver) sum(f func(part, r int) float64) float64 {
	inParts(len(s.parts), s.threads, func(part, r int) { s.parts[r] = f(part, r) })
	return s.total()
}

// total returns the sum of the parts.
func (s *solver) total() (sum float64) {
	for _, v := range s.parts {
		sum += v
	}
	return sum
}

// updateResidual adds step · add to the solution, and sets the right side of the finest level to
// the new residual. It returns the norm of the residual of the original equations, not multiplied
// by widths.
func (s *solver) updateResidual(add []float32, step float32) float64 {
	l := s.finest()
	l.follow(func(_, r int) { l.kit.Advance(l.rowOf(s.x, r), l.rowOf(add, r), step) }, func(part, r int) {
		w := l.rowContext(part, r)
		w.U = s.x
		v0 := l.desks[part].line[:l.stride] // zeros behind the last cell
		clear(v0[copy(v0, s.v0[r*l.x.n:][:l.x.n]):])
		squares, _ := l.kit.Rest(w, s.rest(part, r, v0, l.f[r*l.stride:]))
		s.parts[r] = squares / (float64(w.Along) * float64(w.Along))
	})
	return math.Sqrt(s.total())
}

// energy sets the direction to the values of the finest level plus keep times the previous
// direction. It returns the product of the direction and the operator applied to it.
func (s *solver) energy(keep float32) float64 {
	l := s.finest()
	l.follow(func(_, r int) { l.kit.Turn(l.rowOf(s.d, r), l.row(r), keep) }, func(part, r int) {
		w := l.rowContext(part, r)
		w.U = s.d
		_, product := l.kit.Rest(w, s.rest(part, r, s.zero, l.desks[part].line)) // the residual itself is not needed
		s.parts[r] = -product
	})
	return s.total()
}

func (s *solver) rest(part, r int, v0, to []float32) *rows.Rest {
	l := s.finest()
	of := &l.desks[part].rest
	of.B, of.V0, of.Over, of.Scale, of.To = s.b[r*l.stride:][:l.stride], v0[:l.stride], s.over, s.scale, to[:l.stride]
	return of
}

// enough is the maximum number of cycles, and patience the maximum number of cycles without
// progress.
const enough, patience = 100, 6

// solve computes the steady state of one component. V0 may be in the memory of the result, which is
// written last.
func (s *solver) solve(out, v0 []float32) (cycles int, err error) {
	l := s.finest()
	s.v0 = v0
	nx := l.x.n
	source := math.Sqrt(s.sum(func(_, r int) (sum float64) {
		clear(l.rowOf(s.x, r))
		clear(l.rowOf(s.d, r))
		b := s.b[r*l.stride:]
		for x, v := range v0[r*nx:][:nx] {
			e := float64(b[x]) * float64(v)
			sum += e * e
		}
		return sum
	}))
	if source == 0 {
		clear(out)
		return 0, nil
	}
	// Scale the right side to about 1, where float32 works well.
	_, e := math.Frexp(source / math.Sqrt(float64(len(out))))
	s.scale = math.Ldexp(1, -e)
	s.updateResidual(s.d, 0)
	s.levels.full()
	add, step := l.u, float32(1/s.scale) // the increment of the solution

	best, since := math.Inf(1), 0
	gained := 0.0 // residual · preconditioned residual, in the previous step
	for ; ; cycles++ {
		left := s.updateResidual(add, step)
		if left <= s.p.Tol*source {
			break
		}
		if left < 0.9*best {
			best, since = left, 0
		} else if since++; since == patience && math.IsInf(best, 1) {
			return cycles, bench.Limitf("mu of %.3g is too large for float32, whose residual overflows: ask for a smaller mu",
				s.p.Mu)
		} else if since == patience {
			return cycles, bench.Limitf("in float32 it leaves %.3g of |b·V0|, not %.3g: ask for a larger tolerance", best/source,
				s.p.Tol)
		}
		if cycles == enough {
			return cycles, bench.Limitf("%d cycles leave %.3g of |b·V0|, not %.3g: ask for a larger tolerance", cycles,
				left/source, s.p.Tol)
		}
		s.levels.cycle(0, true)
		product := s.sum(func(part, r int) float64 {
			return l.kit.Dot(l.row(r), l.f[r*l.stride:][:l.stride], &l.desks[part].sums)
		})
		keep := 0.0
		if gained != 0 {
			keep = product / gained
		}
		gained = product
		energy := s.energy(float32(keep))
		add, step = s.d, float32(product/energy/s.scale) // the direction is scaled like the residual
	}
	l.rows(func(_, r int) { copy(out[r*nx:][:nx], l.rowOf(s.x, r)) })
	return cycles, nil
}
