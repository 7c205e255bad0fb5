package multigrid

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"eccbench/internal/workloads/eigenmap"
)

// A direct solver is the LDLᵀ factorisation of a level's A + σM with a tiny σ. It replaces the
// cycle as the preconditioner if the level has few cells. Cells are numbered so that links are
// short, with the longest axis slowest.
type direct struct {
	at    []int     // the number of each cell
	width int       // distance of the longest link
	rows  []float64 // per number: the entries of L for the preceding width numbers, then 1/D
}

// Maximum number of products of a factorisation: at first, and after cycles have failed.
const soonFactored, mostFactoring = 3e8, 1e10

// newDirect factors a level, or returns nil if that takes too many products.
func newDirect(l *level, most float64) *direct {
	size, stride := l.size(), [3]int{1, 1, 1}
	for a, n := range size {
		for b, m := range size {
			if b != a && (m < n || m == n && b < a) {
				stride[a] *= m
			}
		}
	}
	d := &direct{at: make([]int, l.cells())}
	all := l.links()
	for _, o := range all {
		if abs(o.x) < l.nx && abs(o.y) < l.ny && o.z < l.nz {
			d.width = max(d.width, abs(o.x*stride[0]+o.y*stride[1]+o.z*stride[2]))
		}
	}
	n := l.cells()
	if float64(n)*float64(d.width)*float64(d.width) > most {
		return nil
	}
	d.rows = make([]float64, n*(d.width+1))
	for i := range d.at {
		d.at[i] = i%l.nx*stride[0] + i/l.nx%l.ny*stride[1] + i/(l.nx*l.ny)*stride[2]
	}
	const shift = 1e-15 // A has a kernel
	for i, m := range l.mass {
		d.row(d.at[i])[d.width] += shift * m
	}
	for _, o := range all {
		by := (o.z*l.ny+o.y)*l.nx + o.x
		for i, w := range o.link {
			if w == 0 {
				continue
			}
			a, b := d.at[i], d.at[i+by]
			d.row(a)[d.width] += w
			d.row(b)[d.width] += w
			d.row(max(a, b))[d.width-abs(a-b)] -= w
		}
	}
	d.factor()
	return d
}

func (d *direct) row(i int) []float64 { return d.rows[i*(d.width+1):][:d.width+1] }

func (d *direct) factor() {
	scaled := make([]float64, d.width+1)
	for i := range d.at {
		row := d.row(i)
		pivot, size := row[d.width], row[d.width]
		for j := max(0, i-d.width); j < i; j++ {
			at, other := d.width-(i-j), d.row(j)
			first := max(0, i-d.width, j-d.width)
			s := row[at] - floats.Dot(scaled[d.width-(i-first):at], other[d.width-(j-first):d.width])
			scaled[at] = s
			row[at] = s * other[d.width]
			pivot -= s * row[at]
		}
		if row[d.width] = 1 / pivot; pivot < 1e-14*size { // for the last node of a part only rounding remains
			row[d.width] = 0
		}
	}
}

// solve replaces x, a right side by numbers, by the solution.
func (d *direct) solve(x []float64) {
	for i := range x {
		n := min(i, d.width)
		x[i] -= floats.Dot(d.row(i)[d.width-n:d.width], x[i-n:i])
	}
	for i := range x {
		x[i] *= d.row(i)[d.width]
	}
	for i := len(x) - 1; i >= 0; i-- {
		n := min(i, d.width)
		floats.AddScaled(x[i-n:i], -x[i], d.row(i)[d.width-n:d.width])
	}
}

// precondition replaces each lane of a block, a right side, by the solution.
func (d *direct) precondition(b block) {
	x := make([]float64, len(d.at))
	for k := range lanes {
		for i, at := range d.at {
			x[at] = b[lanes*i+k]
		}
		d.solve(x)
		for i, at := range d.at {
			b[lanes*i+k] = x[at]
		}
	}
}

// energies returns Σ w(u_i − u_j)² of each lane of a block, divided by its squared norm by mass.
// Small values are as exact as large ones.
func (l *level) energies(b block) (values wide) {
	var norms wide
	for i, m := range l.mass {
		u := (*wide)(b[lanes*i:])
		for k, v := range u {
			norms[k] += m * v * v
		}
	}
	for _, o := range l.links() {
		by := (o.z*l.ny+o.y)*l.nx + o.x
		for i, w := range o.link {
			if w == 0 {
				continue
			}
			u, v := (*wide)(b[lanes*i:]), (*wide)(b[lanes*(i+by):])
			for k := range u {
				d := u[k] - v[k]
				values[k] += w * d * d
			}
		}
	}
	for k, n := range norms {
		if n > 0 {
			values[k] /= n
		}
	}
	return values
}

// links returns all links of a level.
func (l *level) links() []offset {
	if l.beside != nil {
		return l.beside
	}
	return []offset{{1, 0, 0, l.link[0]}, {0, 1, 0, l.link[1]}, {0, 0, 1, l.link[2]}}
}

// independent makes the current vectors orthonormal by mass, one after the other. It replaces
// dependent ones by random vectors.
func (s *solver) independent() {
	n := s.cells()
	lane := func(k int) (block, int) { return s.x[k/lanes], k % lanes }
	dot := func(i, j int) (sum float64) {
		a, k := lane(i)
		b, l := lane(j)
		for c, m := range s.mass {
			sum += m * a[lanes*c+k] * b[lanes*c+l]
		}
		return sum
	}
	for i := range lanes * len(s.x) {
		b, k := lane(i)
		for try := range 4 {
			before := math.Sqrt(dot(i, i))
			for range 2 {
				for j := range i {
					other, l := lane(j)
					c := dot(i, j)
					for at := range n {
						b[lanes*at+k] -= c * other[lanes*at+l]
					}
				}
			}
			after := math.Sqrt(dot(i, i))
			if after > 1e-7*before {
				for at := range n {
					b[lanes*at+k] /= after
				}
				break
			}
			s.random(i, try+1)
		}
	}
}

// random sets vector i to random numbers without a kernel component.
func (s *solver) random(i, seed int) {
	b := s.x[i/lanes]
	for at := range s.cells() {
		b[lanes*at+i%lanes] = eigenmap.Uniform(uint64(i)<<8|uint64(seed), uint64(at))
	}
	s.deflate(b)
}

// project removes from the vectors of w their components along the vectors of x, by mass.
func (s *solver) project() {
	const each = lanes * lanes
	quads := len(s.x)
	has := sums(s.cells(), each*quads*quads, s.threads, func(lo, hi int, to []float64) {
		for _, x := range s.x {
			for _, w := range s.w {
				gram(s.fast, to[:each], x, w, s.mass, lo, hi)
				to = to[each:]
			}
		}
	})
	for k := range has {
		has[k] = -has[k]
	}
	parts((s.cells()+chunk-1)/chunk, s.threadsFor(), func(first, last int) {
		lo, hi := first*chunk*lanes, min(last*chunk, s.cells())*lanes
		for i, x := range s.x {
			for j, w := range s.w {
				accumulate(s.fast, w[lo:hi], x[lo:hi], (*[each]float64)(has[each*(i*quads+j):]))
			}
		}
	})
}
