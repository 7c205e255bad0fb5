package multigrid

import (
	"math"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/workloads/eigenmap"
)

// A direct solver is the LDLᵀ factorisation of a level's A + σM with a tiny σ. It replaces the
// cycle as the preconditioner if that is affordable. Cells are eliminated by nested dissection of
// the box (George 1973), those of a front together (Duff and Reid 1983).
type direct struct {
	*level
	all   []offset
	apart [3]int // distance of the farthest neighbours along each axis
	root  *front
}

// A front is the columns of L of some cells, the pivots. Its rows are the pivots, as many dummies as
// fill a quad, and the border: the other cells that the pivots, or those eliminated before, are
// linked to.
type front struct {
	kids   []*front // of both sides
	cells  int      // eliminated here and before
	pivots []int32  // cells
	up     []int32  // the row of each row of the border in the front above
	quads  int      // of pivots and dummies
	l      block    // by quads of rows: for each column the numbers of four rows
	d      []float64
	over   []float64 // 1/d; 0 for the last cell of a part, whose pivot is only rounding
	x      block     // right side or solution of each row
}

const (
	// soonFactored and mostFactored are the greatest numbers of products of a factorisation: at first,
	// and after cycles.
	soonFactored, mostFactored = 6e7, 2e10
	mostNumbers                = 8e7 // of L; with those of the rest 1 GB
	directBytes                = 12  // per number of L, with those of the rest
)

// newDirect factors a level.
func newDirect(l *level, apart [3]int) *direct {
	d := &direct{level: l, all: l.links(), apart: apart}
	d.root, _, _ = d.eliminate(box{hi: l.size()}, &workspace{place: make([]int32, l.cells())}, l.threadsFor())
	return d
}

// A workspace is the memory that the fronts of one goroutine share.
type workspace struct {
	place []int32 // the row of each cell in the current front from 1 on; 0 before and after
	rests []block // for later fronts, so that they stay in a core's cache
}

// mostKept is the largest number of float64 that is kept: larger blocks would add to the greatest memory.
const mostKept = 1 << 17

// newRest returns a block of 0, in the last kept one that has the room and is at most twice as large.
func (w *workspace) newRest(n int) block {
	for k, b := range slices.Backward(w.rests) {
		if cap(b) >= n && cap(b) <= 2*n {
			w.rests = slices.Delete(w.rests, k, k+1)
			clear(b[:n])
			return b[:n]
		}
	}
	return make(block, n)
}

// keep takes a block for the rests of later fronts.
func (w *workspace) keep(b block) {
	if cap(b) <= mostKept {
		w.rests = append(w.rests, b)
	}
}

// reach returns the distance of the farthest neighbours along each axis.
func reach(p *eigenmap.Problem) (apart [3]int) {
	s := p.Shape()
	for a, n := range [3]int64{s.W, s.H, s.D} {
		apart[a] = int(min(n-1, max(1, p.Radius)))
	}
	return apart
}

// A box is cells lo ≤ x < hi.
type box struct{ lo, hi [3]int }

func (b box) cells() int { return (b.hi[0] - b.lo[0]) * (b.hi[1] - b.lo[1]) * (b.hi[2] - b.lo[2]) }

func (b box) contains(at [3]int) bool {
	for a, x := range at {
		if x < b.lo[a] || x >= b.hi[a] {
			return false
		}
	}
	return true
}

// cut divides a box by layers of pivots across its longest axis, which separate both sides. A small
// box is all pivots.
func (b box) cut(apart [3]int) (sides []box, pivots box) {
	const small = 32
	a := 0
	for k := range b.lo {
		if b.hi[k]-b.lo[k] > b.hi[a]-b.lo[a] {
			a = k
		}
	}
	n, layers := b.hi[a]-b.lo[a], max(1, apart[a])
	if b.cells() <= small || n < layers+2 {
		return nil, b
	}
	before, behind, pivots := b, b, b
	pivots.lo[a] = b.lo[a] + (n-layers)/2
	pivots.hi[a] = pivots.lo[a] + layers
	before.hi[a], behind.lo[a] = pivots.lo[a], pivots.hi[a]
	return []box{before, behind}, pivots
}

// A dissection estimates a factorisation. Boxes of one outline are estimated once.
type dissection struct {
	size, apart [3]int
	known       map[outline]estimate
	boxes       int // estimated
}

// An outline is the size of a box, and how far the cells around it reach.
type outline struct{ size, before, behind [3]int }

// An estimate is the approximate number of products of a factorisation, and of numbers of L.
type estimate struct{ products, numbers float64 }

// affordable reports whether a direct solver may replace cycles that do not converge.
func (e estimate) affordable() bool { return e.products <= mostFactored && e.numbers <= mostNumbers }

// dissect estimates the factorisation of the matrix of a problem. Estimates of more than mostFactored
// products are too low.
func dissect(p *eigenmap.Problem) estimate {
	s := p.Shape()
	e, _ := dissectBox([3]int{int(s.W), int(s.H), int(s.D)}, reach(p))
	return e
}

// dissectBox also returns the number of boxes that were estimated.
func dissectBox(size, apart [3]int) (e estimate, boxes int) {
	d := dissection{size: size, apart: apart, known: map[outline]estimate{}}
	e = d.estimate(box{hi: size})
	return e, d.boxes
}

func (d *dissection) estimate(b box) estimate {
	var s outline
	around := b
	for a, n := range d.apart {
		around.lo[a], around.hi[a] = max(0, b.lo[a]-n), min(d.size[a], b.hi[a]+n)
		s.size[a], s.before[a], s.behind[a] = b.hi[a]-b.lo[a], b.lo[a]-around.lo[a], around.hi[a]-b.hi[a]
	}
	if e, ok := d.known[s]; ok {
		return e
	}
	d.boxes++
	sides, pivots := b.cut(d.apart)
	p, border := float64(pivots.cells()), float64(around.cells()-b.cells())
	e := estimate{p*p*p/6 + p*border*(p+border)/2, p*p/2 + p*border}
	if e.products <= mostFactored {
		for _, side := range sides {
			of := d.estimate(side)
			e.products, e.numbers = e.products+of.products, e.numbers+of.numbers
		}
	}
	d.known[s] = e
	return e
}

// eachCell calls f with the cells of a box.
func (l *level) eachCell(b box, f func(i int, at [3]int)) {
	for z := b.lo[2]; z < b.hi[2]; z++ {
		for y := b.lo[1]; y < b.hi[1]; y++ {
			for x := b.lo[0]; x < b.hi[0]; x++ {
				f((z*l.ny+y)*l.nx+x, [3]int{x, y, z})
			}
		}
	}
}

// eachLink calls f with the neighbours of a cell.
func (d *direct) eachLink(i int, at [3]int, f func(j int, at [3]int, w float64)) {
	for _, o := range d.all {
		by := (o.z*d.ny+o.y)*d.nx + o.x
		for _, sign := range [2]int{1, -1} {
			to := [3]int{at[0] + sign*o.x, at[1] + sign*o.y, at[2] + sign*o.z}
			if (box{hi: d.size()}).contains(to) {
				f(i+sign*by, to, o.link[min(i, i+sign*by)])
			}
		}
	}
}

// fill sets a front to the matrix of its pivots, and returns the empty block of the border.
func (d *direct) fill(f *front, pivots box, w *workspace, border int) (rest block) {
	place := w.place
	columns, more := Lanes*f.quads, (border+Lanes-1)/Lanes
	f.l = make(block, triangle(f.quads)+Lanes*columns*more)
	f.d, f.over = make([]float64, columns), make([]float64, columns)
	f.x, rest = make(block, Lanes*(columns+Lanes*more)), w.newRest(triangle(more))
	const shift = 1e-15 // A has a kernel
	for c := len(f.pivots); c < columns; c++ {
		f.add(rest, c, c, 1)
	}
	d.eachCell(pivots, func(i int, at [3]int) {
		c := int(place[i]) - 1
		f.d[c] = shift * d.mass[i]
		d.eachLink(i, at, func(j int, _ [3]int, w float64) {
			f.d[c] += w
			if r := int(place[j]) - 1; r > c {
				f.add(rest, r, c, -w)
			}
		})
		f.add(rest, c, c, f.d[c])
	})
	return rest
}

// eliminate factors the columns of a box. It returns the cells of the border, and the lower triangle
// of their matrix.
func (d *direct) eliminate(b box, w *workspace, threads int) (f *front, border []int32, rest block) {
	sides, pivots := b.cut(d.apart)
	f = &front{kids: make([]*front, len(sides)), cells: b.cells()}
	borders, rests := make([][]int32, len(sides)), make([]block, len(sides))
	d.each(len(sides), b.cells(), threads, func(k, threads int, beside bool) {
		w := w
		if beside {
			w = &workspace{place: make([]int32, d.cells())}
		}
		f.kids[k], borders[k], rests[k] = d.eliminate(sides[k], w, threads)
	})
	place := w.place
	d.eachCell(pivots, func(i int, _ [3]int) {
		f.pivots = append(f.pivots, int32(i))
		place[i] = int32(len(f.pivots))
	})
	f.quads = (len(f.pivots) + Lanes - 1) / Lanes
	enter := func(i int32) {
		if place[i] == 0 {
			border = append(border, i)
			place[i] = int32(Lanes*f.quads + len(border))
		}
	}
	for _, list := range borders {
		for _, i := range list {
			enter(i)
		}
	}
	d.eachCell(pivots, func(i int, at [3]int) {
		d.eachLink(i, at, func(j int, at [3]int, _ float64) {
			if !b.contains(at) {
				enter(int32(j))
			}
		})
	})
	rest = d.fill(f, pivots, w, len(border))
	for k, kid := range f.kids {
		kid.up = borders[k]
		for i, cell := range kid.up {
			kid.up[i] = place[cell] - 1
		}
		f.addRest(rest, rests[k], kid.up)
		w.keep(rests[k])
	}
	for _, list := range [2][]int32{f.pivots, border} {
		for _, i := range list {
			place[i] = 0
		}
	}
	f.factor(d.fast, rest)
	return f, border, rest
}

// each calls f for n parts of a number of cells, in parallel if there are threads. It reports whether
// a call shares no goroutine with the first one.
func (d *direct) each(n, cells, threads int, f func(k, threads int, beside bool)) {
	if threads < 2 || cells < 1<<12 {
		for k := range n {
			f(k, threads, false)
		}
		return
	}
	crew.Each(n, func(k int) { f(k, (threads+k)/2, k > 0) })
}

// triangle returns the numbers of the first quads of rows of a lower triangle.
func triangle(quads int) int { return Lanes * Lanes * quads * (quads + 1) / 2 }

// row returns a quad of rows of L.
func (f *front) row(q int) block {
	if columns := Lanes * f.quads; q >= f.quads {
		return f.l[triangle(f.quads)+Lanes*columns*(q-f.quads):][:Lanes*columns]
	}
	return f.l[triangle(q):triangle(q+1)]
}

// add adds v to the matrix at (i, j) and (j, i).
func (f *front) add(rest block, i, j int, v float64) {
	i, j = max(i, j), min(i, j)
	if columns := Lanes * f.quads; j >= columns {
		i -= columns
		rest[triangle(i/Lanes)+Lanes*(j-columns)+i%Lanes] += v
		return
	}
	f.row(i / Lanes)[Lanes*j+i%Lanes] += v
}

// addRest adds the rest of a part, whose rows are up here.
func (f *front) addRest(rest, part block, up []int32) {
	columns := Lanes * f.quads
	for i, r := range up {
		row, below := part[triangle(i/Lanes)+i%Lanes:], int(r)-columns
		var pivots, others block
		if below >= 0 {
			pivots, others = f.row(int(r) / Lanes)[r%Lanes:], rest[triangle(below/Lanes)+below%Lanes:]
		}
		for j, c := range up[:i+1] {
			switch c := int(c); {
			case below < 0 || c > int(r):
				f.add(rest, int(r), c, row[Lanes*j])
			case c < columns:
				pivots[Lanes*c] += row[Lanes*j]
			default:
				others[Lanes*(c-columns)] += row[Lanes*j]
			}
		}
	}
}

// factor eliminates the pivots. d has the diagonal of A.
func (f *front) factor(fast bool, rest block) {
	var t [Lanes * Lanes]float64
	rows := len(f.x) / (Lanes * Lanes)
	for q := range f.quads {
		at := Lanes * q
		own, d, over := f.row(q), f.d[at:][:Lanes], f.over[at:][:Lanes]
		pivots := own[Lanes*at:]
		for r := q; r < rows; r++ {
			row := f.row(r)
			tile := (*[Lanes * Lanes]float64)(row[Lanes*at:])
			clear(t[:])
			gram(fast, t[:], own, row, f.d, 0, at)
			for i, v := range t {
				tile[i] -= v
			}
			for c := range Lanes {
				for b := range c {
					by := pivots[Lanes*b+c] * d[b]
					for k := range Lanes {
						tile[Lanes*c+k] -= by * tile[Lanes*b+k]
					}
				}
				if r == q {
					pivot := tile[Lanes*c+c]
					if pivot >= 1e-14*d[c] {
						over[c] = 1 / pivot
					}
					d[c] = pivot
				}
				for k := range Lanes {
					tile[Lanes*c+k] *= over[c]
				}
			}
		}
	}
	for r := f.quads; r < rows; r++ {
		row, to := f.row(r), rest[triangle(r-f.quads):]
		for c := f.quads; c <= r; c++ {
			clear(t[:])
			gram(fast, t[:], f.row(c), row, f.d, 0, Lanes*f.quads)
			for i, v := range t {
				to[Lanes*Lanes*(c-f.quads)+i] -= v
			}
		}
	}
}

// forward sets x of the fronts of a part to the solution y of Ly = b.
func (d *direct) forward(f *front, b block, threads int) {
	d.each(len(f.kids), f.cells, threads, func(k, threads int, _ bool) { d.forward(f.kids[k], b, threads) })
	clear(f.x)
	for k, i := range f.pivots {
		copy(f.x[Lanes*k:][:Lanes], b[Lanes*int(i):])
	}
	for _, kid := range f.kids {
		rest := kid.x[Lanes*Lanes*kid.quads:]
		for i, r := range kid.up {
			to, from := (*wide)(f.x[Lanes*int(r):]), (*wide)(rest[Lanes*i:])
			for k := range to {
				to[k] += from[k]
			}
		}
	}
	for q := range len(f.x) / (Lanes * Lanes) {
		var t [Lanes * Lanes]float64
		row, x := f.row(q), f.x[Lanes*Lanes*q:][:Lanes*Lanes]
		n := Lanes * min(q, f.quads)
		gram(d.fast, t[:], row, f.x, nil, 0, n)
		for i, v := range t {
			x[i] -= v
		}
		if q >= f.quads {
			continue
		}
		for c := range Lanes {
			for r := c + 1; r < Lanes; r++ {
				for k := range Lanes {
					x[Lanes*r+k] -= row[Lanes*(n+c)+r] * x[Lanes*c+k]
				}
			}
		}
	}
}

// backward sets b to the solution of LᵀX = D⁻¹y, from the last front on.
func (d *direct) backward(f *front, b block, threads int) {
	for c, over := range f.over {
		for k := range Lanes {
			f.x[Lanes*c+k] *= over
		}
	}
	subtract := func(q, n int) {
		var less [Lanes * Lanes]float64
		for i, v := range f.x[Lanes*Lanes*q:][:Lanes*Lanes] {
			less[i] = -v
		}
		accumulate(d.fast, f.x[:Lanes*n], f.row(q)[:Lanes*n], &less)
	}
	for q := f.quads; q < len(f.x)/(Lanes*Lanes); q++ {
		subtract(q, Lanes*f.quads)
	}
	for q := f.quads - 1; q >= 0; q-- {
		row, x := f.row(q), f.x[Lanes*Lanes*q:]
		for r := Lanes - 1; r > 0; r-- {
			for c := range r {
				for k := range Lanes {
					x[Lanes*c+k] -= row[Lanes*(Lanes*q+c)+r] * x[Lanes*r+k]
				}
			}
		}
		subtract(q, Lanes*q)
	}
	for k, i := range f.pivots {
		copy(b[Lanes*int(i):][:Lanes], f.x[Lanes*k:])
	}
	for _, kid := range f.kids {
		rest := kid.x[Lanes*Lanes*kid.quads:]
		for i, r := range kid.up {
			copy(rest[Lanes*i:][:Lanes], f.x[Lanes*int(r):])
		}
	}
	d.each(len(f.kids), f.cells, threads, func(k, threads int, _ bool) { d.backward(f.kids[k], b, threads) })
}

// precondition replaces each lane of a block, a right side, by the solution.
func (d *direct) precondition(b block) {
	d.forward(d.root, b, d.threadsFor())
	d.backward(d.root, b, d.threadsFor())
}

// energies returns Σ w(u_i − u_j)² of each lane of a block, divided by its squared norm by mass.
// Small values are as exact as large ones.
func (l *level) energies(b block) (values wide) {
	var norms wide
	for i, m := range l.mass {
		u := (*wide)(b[Lanes*i:])
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
			u, v := (*wide)(b[Lanes*i:]), (*wide)(b[Lanes*(i+by):])
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
	lane := func(k int) (block, int) { return s.x[k/Lanes], k % Lanes }
	dot := func(i, j int) (sum float64) {
		a, k := lane(i)
		b, l := lane(j)
		for c, m := range s.mass {
			sum += m * a[Lanes*c+k] * b[Lanes*c+l]
		}
		return sum
	}
	for i := range Lanes * len(s.x) {
		b, k := lane(i)
		for try := range 4 {
			before := math.Sqrt(dot(i, i))
			for range 2 {
				for j := range i {
					other, l := lane(j)
					c := dot(i, j)
					for at := range n {
						b[Lanes*at+k] -= c * other[Lanes*at+l]
					}
				}
			}
			after := math.Sqrt(dot(i, i))
			if after > 1e-7*before {
				for at := range n {
					b[Lanes*at+k] /= after
				}
				break
			}
			s.random(i, try+1)
		}
	}
}

// random sets vector i to random numbers without a kernel component.
func (s *solver) random(i, seed int) {
	b := s.x[i/Lanes]
	for at := range s.cells() {
		b[Lanes*at+i%Lanes] = eigenmap.Uniform(uint64(i)<<8|uint64(seed), uint64(at))
	}
	s.deflate(b)
}

// project removes from the vectors of w their components along the vectors of x, by mass.
func (s *solver) project() {
	const each = Lanes * Lanes
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
		lo, hi := first*chunk*Lanes, min(last*chunk, s.cells())*Lanes
		for i, x := range s.x {
			for j, w := range s.w {
				accumulate(s.fast, w[lo:hi], x[lo:hi], (*[each]float64)(has[each*(i*quads+j):]))
			}
		}
	})
}
