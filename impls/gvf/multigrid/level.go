package multigrid

import (
	"eccbench/internal/crew"
	"eccbench/internal/workloads/gvf"
)

// An axis of a level is cells that lie side by side.
type axis struct {
	n          int
	width, pos []float64 // of each cell, in voxels, and where its middle is
	link       []float64 // μ over the distance from a cell's middle to that of the one before; 0 before the first and behind the last
	width32    []float32
	link32     []float32
	near, far  []int32   // the cells of the next level that a cell is interpolated from: the one that holds it, and the one that is next nearest
	share      []float32 // of the far one
	givers     [][]giver // of each cell of the next level, which cells give to it: the transpose
}

// A giver is a cell with the share of it that a cell of the next level takes.
type giver struct {
	at    int32
	share float32
}

// finest is the axis of n voxels. Where the neighbour beyond the border is the one before it,
// half as wide cells at the border make the operator symmetric.
func finest(n int64, mu float64, boundary gvf.Boundary) axis {
	a := axis{n: int(n), width: make([]float64, n), pos: make([]float64, n), link: make([]float64, n+1)}
	for i := range a.n {
		a.width[i], a.pos[i] = 1, float64(i)
		if i > 0 {
			a.link[i] = mu
		}
	}
	if boundary == gvf.Third && n > 1 {
		a.width[0], a.width[n-1] = 0.5, 0.5
	}
	a.narrow()
	return a
}

// narrow keeps widths and links as float32, too.
func (a *axis) narrow() {
	a.width32, a.link32 = narrowed(a.width), narrowed(a.link)
}

func narrowed(list []float64) []float32 {
	out := make([]float32, len(list))
	for i, v := range list {
		out[i] = float32(v)
	}
	return out
}

// coarser is the axis of pairs of cells, the last of which is one of an odd number, and says
// how cells are interpolated from pairs.
func (a *axis) coarser(mu float64) axis {
	c := axis{n: (a.n + 1) / 2}
	c.width, c.pos, c.link = make([]float64, c.n), make([]float64, c.n), make([]float64, c.n+1)
	for i := range a.n {
		c.width[i/2] += a.width[i]
		c.pos[i/2] += a.width[i] * a.pos[i]
	}
	for i := range c.n {
		if c.pos[i] /= c.width[i]; i > 0 {
			c.link[i] = mu / (c.pos[i] - c.pos[i-1])
		}
	}
	c.narrow()
	a.near, a.far, a.share = make([]int32, a.n), make([]int32, a.n), make([]float32, a.n)
	a.givers = make([][]giver, c.n)
	for i := range a.n {
		near, far := i/2, i/2
		switch {
		case a.pos[i] < c.pos[near] && near > 0:
			far--
		case a.pos[i] > c.pos[near] && near < c.n-1:
			far++
		}
		share := 0.0
		if far != near {
			share = (a.pos[i] - c.pos[near]) / (c.pos[far] - c.pos[near])
		}
		a.near[i], a.far[i], a.share[i] = int32(near), int32(far), float32(share)
		a.givers[near] = append(a.givers[near], giver{int32(i), 1 - a.share[i]})
		if far != near {
			a.givers[far] = append(a.givers[far], giver{int32(i), a.share[i]})
		}
	}
	return c
}

// A level is the operator on cells of one size, with what a cycle keeps there. The equation of
// a cell is that of finite volumes: its b times its value, and what flows to its neighbours, are
// what it is given.
type level struct {
	x, y, z    axis
	threads    int
	diag, inv  []float32 // of the operator, and 1 over it
	u, f, rest []float32 // values, of which a row is l.row, what is given, and what is left of it
}

func newLevel(x, y, z axis, mass []float32, threads int) *level {
	n := len(mass)
	l := &level{x: x, y: y, z: z, threads: threads, diag: mass, inv: make([]float32, n), u: make([]float32, 1+y.n*z.n*(x.n+1)), f: make([]float32, n), rest: make([]float32, n)}
	if n < 1<<14 {
		l.threads = 1 // less than what goroutines cost
	}
	l.rows(func(r int) {
		w := l.around(r)
		for k, i := range l.x.width32 {
			at := r*l.x.n + k
			mass[at] += w.along*(l.x.link32[k]+l.x.link32[k+1]) + i*(w.north+w.south+w.below+w.above)
			l.inv[at] = 1 / mass[at]
		}
	})
	return l
}

// row is a row of values. There is a 0 before and behind each, which a cell takes nothing of.
func (l *level) row(r int) []float32 { return l.u[l.first(r):][:l.x.n] }

// first is where a row begins.
func (l *level) first(r int) int { return 1 + r*(l.x.n+1) }

// rows calls f with every row, in parts at the same time.
func (l *level) rows(f func(r int)) { inParts(l.y.n*l.z.n, l.threads, func(_, r int) { f(r) }) }

// inParts calls f with part and index of all i < n, those of a part in order.
func inParts(n, parts int, f func(part, i int)) {
	if parts == 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var g crew.Group
	for k := range parts {
		g.Go(func() {
			for i := n * k / parts; i < n*(k+1)/parts; i++ {
				f(k, i)
			}
		})
	}
	g.Wait()
}

// A ring is what lies around a row: what it takes of the rows beside it for each unit of a
// cell's width, where these are, and what cells of the row take of each other.
type ring struct {
	along                      float32
	north, south, below, above float32
	toNorth, toSouth           int
	toBelow, toAbove           int
}

func (l *level) around(r int) (w ring) {
	y, z := r%l.y.n, r/l.y.n
	wy, wz := l.y.width32[y], l.z.width32[z]
	w.along = wy * wz
	w.north, w.south = l.y.link32[y]*wz, l.y.link32[y+1]*wz
	w.below, w.above = l.z.link32[z]*wy, l.z.link32[z+1]*wy
	// Beyond a border is the row itself, of which nothing is taken.
	apart := l.x.n + 1
	if y > 0 {
		w.toNorth = -apart
	}
	if y < l.y.n-1 {
		w.toSouth = apart
	}
	if z > 0 {
		w.toBelow = -apart * l.y.n
	}
	if z < l.z.n-1 {
		w.toAbove = apart * l.y.n
	}
	return w
}

// relax sets the cells of one colour of a chessboard so that their equations hold (Gauss and
// Seidel); none of them is beside another.
func (l *level) relax(colour int) {
	nx := l.x.n
	l.rows(func(r int) {
		w := l.around(r)
		at, first := r*nx, l.first(r)
		u := l.u
		f, inv := l.f[at:][:nx], l.inv[at:][:nx]
		link, width := l.x.link32, l.x.width32
		for x := (r%l.y.n + r/l.y.n + colour) & 1; x < nx; x += 2 {
			i := first + x
			sum := w.along*(link[x]*u[i-1]+link[x+1]*u[i+1]) + width[x]*(w.north*u[i+w.toNorth]+w.south*u[i+w.toSouth]+(w.below*u[i+w.toBelow]+w.above*u[i+w.toAbove]))
			u[i] = (f[x] + sum) * inv[x]
		}
	})
}

// remain sets rest to what is left.
func (l *level) remain() {
	nx := l.x.n
	l.rows(func(r int) {
		w := l.around(r)
		at, first := r*nx, l.first(r)
		u := l.u
		f, diag, rest := l.f[at:][:nx], l.diag[at:][:nx], l.rest[at:][:nx]
		link, width := l.x.link32, l.x.width32
		for x := range rest {
			i := first + x
			sum := w.along*(link[x]*u[i-1]+link[x+1]*u[i+1]) + width[x]*(w.north*u[i+w.toNorth]+w.south*u[i+w.toSouth]+(w.below*u[i+w.toBelow]+w.above*u[i+w.toAbove]))
			rest[x] = f[x] + sum - diag[x]*u[i]
		}
	})
}

// restrict gives what is in from, by cells of l, to those of the next level: the transpose of
// interpolate.
func (l *level) restrict(next *level, from []float32) {
	lines := make([][]float32, next.threads)
	for k := range lines {
		lines[k] = make([]float32, l.x.n)
	}
	inParts(next.y.n*next.z.n, next.threads, func(part, r int) {
		line := lines[part]
		clear(line)
		for _, z := range l.z.givers[r/next.y.n] {
			for _, y := range l.y.givers[r%next.y.n] {
				share := z.share * y.share
				for x, v := range from[(int(z.at)*l.y.n+int(y.at))*l.x.n:][:l.x.n] {
					line[x] += share * v
				}
			}
		}
		for x, givers := range l.x.givers {
			sum := float32(0)
			for _, g := range givers {
				sum += g.share * line[g.at]
			}
			next.f[r*next.x.n+x] = sum
		}
	})
}

// interpolate adds the values of the next level to those of l.
func (l *level) interpolate(next *level) {
	lines := make([][]float32, l.threads)
	for k := range lines {
		lines[k] = make([]float32, next.x.n)
	}
	inParts(l.y.n*l.z.n, l.threads, func(part, r int) {
		y, z := r%l.y.n, r/l.y.n
		row := func(z, y int32) []float32 { return next.row(int(z)*next.y.n + int(y)) }
		sy, sz := l.y.share[y], l.z.share[z]
		a, b := row(l.z.near[z], l.y.near[y]), row(l.z.near[z], l.y.far[y])
		c, d := row(l.z.far[z], l.y.near[y]), row(l.z.far[z], l.y.far[y])
		line := lines[part]
		for x := range line {
			line[x] = (1-sz)*((1-sy)*a[x]+sy*b[x]) + sz*((1-sy)*c[x]+sy*d[x])
		}
		u := l.row(r)
		for x, near := range l.x.near {
			u[x] += (1-l.x.share[x])*line[near] + l.x.share[x]*line[l.x.far[x]]
		}
	})
}

// A hierarchy is all levels, the finest first and a single cell last.
type hierarchy struct{ levels []*level }

// newHierarchy makes the levels of a field whose cells have these b times their width.
func newHierarchy(x, y, z axis, mu float64, mass []float32, threads int) *hierarchy {
	h := new(hierarchy)
	for {
		if x.n*y.n*z.n == 1 {
			h.levels = append(h.levels, newLevel(x, y, z, mass, threads))
			return h
		}
		cx, cy, cz := x.coarser(mu), y.coarser(mu), z.coarser(mu)
		sums := make([]float64, cx.n*cy.n*cz.n)
		for r := range y.n * z.n {
			row := sums[(r/y.n/2*cy.n+r%y.n/2)*cx.n:]
			for k, m := range mass[r*x.n:][:x.n] {
				row[k/2] += float64(m)
			}
		}
		h.levels = append(h.levels, newLevel(x, y, z, mass, threads))
		x, y, z, mass = cx, cy, cz, narrowed(sums)
	}
}

// cycle brings the values of a level nearer to what they are given to be, from those that are
// there: a V-cycle that smooths once before and once after, in reverse, so that from zero it is
// a symmetric operator.
func (h *hierarchy) cycle(k int) {
	l := h.levels[k]
	if k == len(h.levels)-1 {
		l.u[1] = l.f[0] * l.inv[0]
		return
	}
	next := h.levels[k+1]
	l.relax(0)
	l.relax(1)
	l.remain()
	l.restrict(next, l.rest)
	clear(next.u)
	h.cycle(k + 1)
	l.interpolate(next)
	l.relax(1)
	l.relax(0)
}

// full solves from the coarsest level to the finest, each from what the one before it is
// interpolated to: full multigrid.
func (h *hierarchy) full() {
	for k, l := range h.levels[:len(h.levels)-1] {
		l.restrict(h.levels[k+1], l.f)
	}
	for k := len(h.levels) - 1; k >= 0; k-- {
		l := h.levels[k]
		clear(l.u)
		if k < len(h.levels)-1 {
			l.interpolate(h.levels[k+1])
		}
		h.cycle(k)
	}
}
