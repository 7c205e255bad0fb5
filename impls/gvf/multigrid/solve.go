package multigrid

import (
	"fmt"
	"math"
	"slices"

	"eccbench/internal/workloads/gvf"
)

// A solver solves (μL + b)V = b·V0 for one component after the other. Both sides are multiplied
// by the widths of the cells, which makes the operator symmetric whatever the boundary.
type solver struct {
	p       *gvf.Problem
	b       []float32
	levels  *hierarchy
	threads int
	early   bool // a fault

	x, r, d, q []float64 // the solution, what is left, the direction, and what the operator makes of it
	parts      []float64 // of a sum, by row
}

func newSolver(p *gvf.Problem, b []float32, threads int) *solver {
	shape, mu := p.Shape(), float64(p.Mu)
	x, y, z := finest(shape.W, mu, p.Boundary), finest(shape.H, mu, p.Boundary), finest(shape.D, mu, p.Boundary)
	s := &solver{p: p, b: b, threads: threads, parts: make([]float64, y.n*z.n)}
	mass := make([]float32, len(b))
	inParts(y.n*z.n, threads, func(_, r int) {
		of := y.width32[r%y.n] * z.width32[r/y.n]
		for k, w := range x.width32 {
			mass[r*x.n+k] = of * w * b[r*x.n+k]
		}
	})
	s.levels = newHierarchy(x, y, z, mu, mass, threads)
	for _, list := range []*[]float64{&s.x, &s.r, &s.d, &s.q} {
		*list = make([]float64, len(b))
	}
	return s
}

// sum adds up what f says of each row, in their order.
func (s *solver) sum(f func(r int) float64) (sum float64) {
	inParts(len(s.parts), s.threads, func(_, r int) { s.parts[r] = f(r) })
	for _, v := range s.parts {
		sum += v
	}
	return sum
}

// apply sets a row of to to what the operator makes of from.
func (s *solver) apply(to, from []float64, r int) {
	l := s.levels.levels[0]
	nx, ny, nz := l.x.n, l.y.n, l.z.n
	y, z := r%ny, r/ny
	wy, wz := l.y.width[y], l.z.width[z]
	row := func(r int) []float64 { return from[r*nx:][:nx] }
	here, north, south, below, above := row(r), row(r), row(r), row(r), row(r)
	if y > 0 {
		north = row(r - 1)
	}
	if y < ny-1 {
		south = row(r + 1)
	}
	if z > 0 {
		below = row(r - ny)
	}
	if z < nz-1 {
		above = row(r + ny)
	}
	mu := float64(s.p.Mu)
	b, out := s.b[r*nx:][:nx], to[r*nx:][:nx]
	for x, u := range here {
		flow := ((north[x]-u)+(south[x]-u))*mu*wz + ((below[x]-u)+(above[x]-u))*mu*wy
		if wx := l.x.width[x]; wx != 1 {
			flow *= wx
		}
		along := 0.0
		if x > 0 {
			along += here[x-1] - u
		}
		if x < nx-1 {
			along += here[x+1] - u
		}
		out[x] = l.x.width[x]*wy*wz*float64(b[x])*u - flow - along*mu*wy*wz
	}
}

// rest is the root of the sum of squares of what is left of the equations as they are asked,
// which are not multiplied by widths.
func (s *solver) rest() float64 {
	l := s.levels.levels[0]
	return math.Sqrt(s.sum(func(r int) (sum float64) {
		for x, e := range s.r[r*l.x.n:][:l.x.n] {
			if w := l.x.width[x]; w != 1 { // at the ends alone
				e /= w
			}
			sum += e * e
		}
		of := l.y.width[r%l.y.n] * l.z.width[r/l.y.n]
		return sum / (of * of)
	}))
}

// left sets r to what is left of b·V0, and gives the size of that itself.
func (s *solver) left(v0 []float32) (source float64) {
	l := s.levels.levels[0]
	nx := l.x.n
	return math.Sqrt(s.sum(func(r int) (sum float64) {
		s.apply(s.q, s.x, r)
		of := l.y.width[r%l.y.n] * l.z.width[r/l.y.n]
		for x, w := range l.x.width {
			i := r*nx + x
			e := float64(s.b[i]) * float64(v0[i])
			s.r[i] = of*w*e - s.q[i]
			sum += e * e
		}
		return sum
	}))
}

// given sets what the finest level is given to what is left, divided by a scale that float32
// holds it well with.
func (s *solver) given() (scale float64) {
	l := s.levels.levels[0]
	inParts(len(s.parts), s.threads, func(_, r int) {
		top := 0.0
		for _, v := range s.r[r*l.x.n:][:l.x.n] {
			top = max(top, math.Abs(v))
		}
		s.parts[r] = top
	})
	_, e := math.Frexp(slices.Max(s.parts))
	scale, down := math.Ldexp(1, e), math.Ldexp(1, -e)
	inParts(len(s.parts), s.threads, func(_, r int) {
		f := l.f[r*l.x.n:][:l.x.n]
		for x, v := range s.r[r*l.x.n:][:l.x.n] {
			f[x] = float32(v * down)
		}
	})
	return scale
}

// precondition sets the values of the finest level to about the solution of what is left,
// divided by a scale, and gives the product of that solution with what is left.
func (s *solver) precondition() (product, scale float64) {
	l := s.levels.levels[0]
	scale = s.given()
	clear(l.u)
	s.levels.cycle(0)
	return scale * s.sum(func(r int) (sum float64) {
		left := s.r[r*l.x.n:]
		for x, v := range l.row(r) {
			sum += float64(v) * left[x]
		}
		return sum
	}), scale
}

// mostCycles is how many steps of conjugate gradients are tried.
const mostCycles = 100

// solve sets out to the steady state of one component.
func (s *solver) solve(out, v0 []float32) (cycles int, err error) {
	l := s.levels.levels[0]
	nx := l.x.n
	clear(s.x)
	source := s.left(v0)
	if source == 0 {
		clear(out)
		return 0, nil
	}
	scale := s.given()
	s.levels.full()
	inParts(len(s.parts), s.threads, func(_, r int) {
		for x, v := range l.row(r) {
			s.x[r*nx+x] = scale * float64(v)
		}
	})
	// What rounding the solution to float32 adds is seen in the end.
	for target := s.p.Tol * 0.8; ; target /= 2 {
		s.left(v0)
		gained := 0.0 // what is left times its preconditioned self, in the step before
		for ; !s.early && s.rest() > target*source; cycles++ {
			if cycles == mostCycles {
				return cycles, fmt.Errorf("%d cycles leave %.3g of |b·V0|, not %.3g: ask for a larger tolerance", cycles, s.rest()/source, s.p.Tol)
			}
			product, scale := s.precondition()
			keep := 0.0
			if gained != 0 {
				keep = product / gained
			}
			gained = product
			inParts(len(s.parts), s.threads, func(_, r int) {
				d := s.d[r*nx:]
				for x, v := range l.row(r) {
					d[x] = scale*float64(v) + keep*d[x]
				}
			})
			energy := s.sum(func(r int) (sum float64) {
				s.apply(s.q, s.d, r)
				for i := r * nx; i < (r+1)*nx; i++ {
					sum += s.d[i] * s.q[i]
				}
				return sum
			})
			step := product / energy
			inParts(len(s.parts), s.threads, func(_, r int) {
				for i := r * nx; i < (r+1)*nx; i++ {
					s.x[i] += step * s.d[i]
					s.r[i] -= step * s.q[i]
				}
			})
		}
		inParts(len(s.parts), s.threads, func(_, r int) {
			for i := r * nx; i < (r+1)*nx; i++ {
				out[i] = float32(s.x[i])
				s.d[i] = s.x[i]
				s.x[i] = float64(out[i])
			}
		})
		s.left(v0)
		left := s.rest()
		if s.early || left <= s.p.Tol*source {
			return cycles, nil
		}
		if target < s.p.Tol/8 {
			return cycles, fmt.Errorf("rounded to float32 it leaves %.3g of |b·V0|, not %.3g: ask for a larger tolerance", left/source, s.p.Tol)
		}
		s.x, s.d = s.d, s.x // as it was before rounding
	}
}
