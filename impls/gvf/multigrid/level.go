package multigrid

import (
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// An axis is the cells of a level along one axis.
type axis struct {
	gvf.Axis
	n       int
	width32 []float32 // padded with zeros, like links, to a whole number of vectors
	link32  []float32
	// A cell is interpolated from two cells of the next level.
	near, far []float32 // their shares; 0 after the last cell
	// The transpose: the shares that a coarser cell receives from its own cells, and from the
	// neighbours of its pair.
	nearGiven, farGiven []float32
}

func newAxis(of gvf.Axis) axis {
	a := axis{Axis: of, n: len(of.Width)}
	a.width32, a.link32 = a.list(of.Width), a.list(of.Link)
	return a
}

// list converts values of the cells to float32 and pads them with zeros.
func (a *axis) list(values []float64) []float32 {
	out := make([]float32, rows.Padded(a.n)+2)
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// coarser returns the axis of the next level, and sets the interpolation from it.
func (a *axis) coarser(mu float64) axis {
	c, near, far := a.Coarser(mu)
	a.near, a.far = a.list(near), a.list(far)
	a.nearGiven, a.farGiven = slices.Clone(a.near), slices.Clone(a.far)
	return newAxis(c)
}

// givers returns the cells from which a cell of the next level receives values, at most four, with
// their shares.
func (a *axis) givers(next int) (at [4]int, share [4]float32) {
	for k := range at {
		i := 2*next - 1 + k
		if i < 0 || i >= a.n {
			continue // share 0 of the first cell
		}
		at[k], share[k] = i, a.nearGiven[i]
		if k == 0 || k == 3 {
			share[k] = a.farGiven[i]
		}
	}
	return at, share
}

// interpolationCells returns the two cells of the next level from which a cell is interpolated,
// with their shares.
func (a *axis) interpolationCells(i, cells int) (near, far int, wn, wf float32) {
	near, far = i/2, i/2-1+i%2*2
	if far < 0 || far >= cells {
		far = near
	}
	return near, far, a.near[i], a.far[i]
}

// interpolateRow restricts a row of cells to a row of the next level.
func (a *axis) interpolateRow(to, from []float32) {
	last := float32(0) // contribution of the previous pair to this one
	for x := range to {
		i := 2 * x
		to[x] = last + (a.nearGiven[i]*from[i] + a.nearGiven[i+1]*from[i+1]) + a.farGiven[i+2]*from[i+2]
		last = a.farGiven[i+1] * from[i+1]
	}
}

// spread interpolates a row from a row of the next level.
func (a *axis) spread(to, from []float32) {
	before, here := float32(0), from[0]
	for x := range (a.n + 1) / 2 {
		after := from[x+1] // 0 after the last
		i := 2 * x
		to[i] = a.near[i]*here + a.far[i]*before
		to[i+1] = a.near[i+1]*here + a.far[i+1]*after
		before, here = here, after
	}
}

// A level is the operator on cells of one size, with the lists of a cycle. The equation of a cell
// comes from finite volumes: b times its value, plus the flow to its neighbours, equals its right
// side.
type level struct {
	x, y, z    axis
	kit        *rows.Kit
	threads    int
	stride     int       // distance between rows of a list
	diag       []float32 // diagonal of the operator
	u, f, rest []float32 // values (see row), right side, residual
	desks      []desk    // one per parallel part
}

// A desk is the arguments that a kernel receives by address. It avoids an allocation per row.
type desk struct {
	row   rows.Row
	rest  rows.Rest
	from  [4][]float32
	share [4]float32
	sums  rows.Sums
	line  []float32 // as long as a row of the level plus a vector
}

// newLevel makes a level of cells along these axes, without b.
func newLevel(x, y, z axis, kit *rows.Kit, threads int) *level {
	l := &level{x: x, y: y, z: z, kit: kit, threads: threads, stride: rows.Padded(x.n)}
	n := l.stride * y.n * z.n
	l.diag, l.f, l.rest = room(n), room(n), room(n+rows.Lanes)
	l.u = l.values()
	if x.n*y.n*z.n < 1<<14 {
		l.threads = 1 // goroutines would cost more
	}
	l.desks = make([]desk, l.threads)
	for k := range l.desks {
		l.desks[k].line = make([]float32, l.stride+rows.Lanes)
	}
	return l
}

// link completes the operator. diag contains b of each cell times its width.
func (l *level) link() {
	l.rows(func(part, r int) {
		w := l.rowContext(part, r)
		at := r * l.stride
		diag := l.diag[at:][:l.stride]
		for k, i := range l.x.width32[:l.x.n] {
			diag[k] += w.Along*(l.x.link32[k]+l.x.link32[k+1]) + i*(w.LinkNorth+w.LinkSouth+w.LinkBelow+w.LinkAbove)
		}
		for k := l.x.n; k < l.stride; k++ { // behind the last cell
			diag[k] = 1
		}
	})
}

// values allocates a list with a zero before and after each row, for neighbours that do not exist.
func (l *level) values() []float32 {
	return room(rows.Lanes + l.y.n*l.z.n*l.stride + rows.Lanes)
}

func room(n int) []float32 { return grid.NewValues[float32](int64(n)) }

// rowOf returns row r of such a list, with its padding of zeros.
func (l *level) rowOf(values []float32, r int) []float32 {
	return values[rows.Lanes+r*l.stride:][:l.stride]
}

// row returns a row of the values.
func (l *level) row(r int) []float32 { return l.rowOf(l.u, r) }

// rows calls f with every row, in parallel parts.
func (l *level) rows(f func(part, r int)) { inParts(l.y.n*l.z.n, l.threads, f) }

// inParts calls f with part and index for all i < n; a part's indices are in order.
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

// rowContext returns a row with its neighbouring rows, in the scratch memory of a part.
func (l *level) rowContext(part, r int) *rows.Row {
	y, z := r%l.y.n, r/l.y.n
	wy, wz := l.y.width32[y], l.z.width32[z]
	at := rows.Lanes + r*l.stride
	w := &l.desks[part].row
	w.U, w.N, w.Link, w.Width, w.Along = l.u, l.stride, l.x.link32, l.x.width32, wy*wz
	w.At, w.North, w.South, w.Below, w.Above = at, at, at, at, at
	// Beyond a border the neighbour is the row itself, with link 0.
	w.LinkNorth, w.LinkSouth = l.y.link32[y]*wz, l.y.link32[y+1]*wz
	w.LinkBelow, w.LinkAbove = l.z.link32[z]*wy, l.z.link32[z+1]*wy
	if y > 0 {
		w.North -= l.stride
	}
	if y < l.y.n-1 {
		w.South += l.stride
	}
	if z > 0 {
		w.Below -= l.stride * l.y.n
	}
	if z < l.z.n-1 {
		w.Above += l.stride * l.y.n
	}
	first := r * l.stride
	w.F, w.Diag = l.f[first:][:l.stride], l.diag[first:][:l.stride]
	return w
}

// smooth solves the equations of the cells of one chessboard colour, then cells of the other
// (Gauss–Seidel). No two cells of one colour are neighbours.
func (l *level) smooth(colour int, relax func(*rows.Row, int)) {
	of := func(r int) int { return (r%l.y.n + r/l.y.n + colour) & 1 }
	l.follow(func(part, r int) { relax(l.rowContext(part, r), of(r)) },
		func(part, r int) { l.kit.Relax(l.rowContext(part, r), 1-of(r)) })
}

// follow calls first with every row, and second with every row after first has processed its
// neighbours. Second is one plane behind first, so that the plane is still in the cache.
func (l *level) follow(first, second func(part, r int)) {
	planes, each := l.z.n, l.y.n
	if planes == 1 {
		planes, each = l.y.n, 1
	}
	plane := func(part, p int, f func(part, r int)) {
		for r := p * each; r < (p+1)*each; r++ {
			f(part, r)
		}
	}
	parts := min(l.threads, planes)
	begin := func(part int) int { return planes * part / parts }
	inParts(parts, parts, func(_, part int) {
		lo, hi := begin(part), begin(part+1)
		for p := lo; p < hi; p++ {
			plane(part, p, first)
			if p > lo+1 {
				plane(part, p-1, second)
			}
		}
	})
	// The planes next to another part.
	inParts(parts, parts, func(_, part int) {
		lo, hi := begin(part), begin(part+1)
		plane(part, lo, second)
		if hi-1 > lo {
			plane(part, hi-1, second)
		}
	})
}

// remain sets rest to the residual.
func (l *level) remain() {
	l.rows(func(part, r int) { l.kit.Remain(l.rowContext(part, r), l.rest[r*l.stride:][:l.stride]) })
}

// restrict passes from, a list of l, to the right side of the next level: the transpose of
// interpolate.
func (l *level) restrict(next *level, from []float32) {
	next.rows(func(part, r int) { // next has no more parts than l
		desk := &l.desks[part]
		line := desk.line
		clear(line)
		zs, ofZ := l.z.givers(r / next.y.n)
		ys, ofY := l.y.givers(r % next.y.n)
		for k, z := range zs {
			if ofZ[k] == 0 {
				continue
			}
			for i, y := range ys {
				desk.from[i] = from[(z*l.y.n+y)*l.stride:][:l.stride]
				desk.share[i] = ofY[i] * ofZ[k]
			}
			l.kit.Blend(line[:l.stride], &desk.from, &desk.share)
		}
		l.x.interpolateRow(next.f[r*next.stride:][:next.x.n], line)
	})
}

// interpolate adds the interpolated values of the next level. It overwrites rest.
func (l *level) interpolate(next *level) {
	spread := l.rest // rows of the next level, with the length of rows of l
	next.rows(func(_, r int) { l.x.spread(spread[r*l.stride:], next.rowOf(next.u, r)) })
	l.rows(func(part, r int) {
		yn, yf, wn, wf := l.y.interpolationCells(r%l.y.n, next.y.n)
		zn, zf, vn, vf := l.z.interpolationCells(r/l.y.n, next.z.n)
		of := func(z, y int) []float32 { return spread[(z*next.y.n+y)*l.stride:][:l.stride] }
		desk := &l.desks[part]
		desk.from = [4][]float32{of(zn, yn), of(zn, yf), of(zf, yn), of(zf, yf)}
		desk.share = [4]float32{vn * wn, vn * wf, vf * wn, vf * wf}
		l.kit.Blend(l.row(r), &desk.from, &desk.share)
	})
}

// A hierarchy is the list of all levels, from the finest to a single cell.
type hierarchy struct{ levels []*level }

// newHierarchy makes the levels of a field.
func newHierarchy(x, y, z axis, mu float64, kit *rows.Kit, threads int) *hierarchy {
	h := new(hierarchy)
	for {
		if x.n*y.n*z.n == 1 {
			h.levels = append(h.levels, newLevel(x, y, z, kit, threads))
			return h
		}
		cx, cy, cz := x.coarser(mu), y.coarser(mu), z.coarser(mu)
		h.levels = append(h.levels, newLevel(x, y, z, kit, threads))
		x, y, z = cx, cy, cz
	}
}

// link makes the operators of all levels. diag of the finest level contains b of its cells times
// their width.
func (h *hierarchy) link() {
	for k, l := range h.levels {
		if k < len(h.levels)-1 {
			next := h.levels[k+1]
			next.rows(func(_, r int) {
				to := next.diag[r*next.stride:][:next.x.n]
				clear(to)
				for part := range 4 {
					y, z := r%next.y.n*2+part%2, r/next.y.n*2+part/2
					if y >= l.y.n || z >= l.z.n {
						continue
					}
					from := l.diag[(z*l.y.n+y)*l.stride:][:l.stride]
					clear(from[l.x.n:])
					for i := range to {
						to[i] += from[2*i] + from[2*i+1] // 0 after the last
					}
				}
			})
		}
		l.link()
	}
}

// cycle improves the values of a level for its right side by one V-cycle, from the current values
// or from 0. It smooths once before and once after, in reverse order, so that from 0 it is a
// symmetric operator.
func (h *hierarchy) cycle(k int, fromZero bool) {
	l := h.levels[k]
	if k == len(h.levels)-1 {
		l.row(0)[0] = l.f[0] * (1 / l.diag[0])
		return
	}
	next := h.levels[k+1]
	if fromZero {
		l.smooth(0, l.kit.Begin)
	} else {
		l.smooth(0, l.kit.Relax)
	}
	l.remain()
	l.restrict(next, l.rest)
	h.cycle(k+1, true)
	l.interpolate(next)
	l.smooth(1, l.kit.Relax)
}

// full runs full multigrid: it solves from the coarsest level to the finest, each from the
// interpolated result of the one before.
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
		h.cycle(k, false)
	}
}
