package multigrid

import (
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// An axis of a level is cells that lie side by side.
type axis struct {
	gvf.Axis
	n       int
	width32 []float32 // with zeros behind the last, as links have, so that a whole number of vectors may be read
	link32  []float32
	// A cell is interpolated from two cells of the next level.
	near, far []float32 // their shares; 0 behind the last cell
	// What a cell of the next level is given by the cells of its pair and by those beside the pair:
	// the transpose.
	nearGiven, farGiven []float32
}

func newAxis(of gvf.Axis) axis {
	a := axis{Axis: of, n: len(of.Width)}
	a.width32, a.link32 = a.list(of.Width), a.list(of.Link)
	return a
}

// list is values of the cells as float32, with zeros behind them.
func (a *axis) list(values []float64) []float32 {
	out := make([]float32, rows.Padded(a.n)+2)
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// coarser is the axis of the next level, and says how cells are interpolated from it.
func (a *axis) coarser(mu float64) axis {
	c, near, far := a.Coarser(mu)
	a.near, a.far = a.list(near), a.list(far)
	a.nearGiven, a.farGiven = slices.Clone(a.near), slices.Clone(a.far)
	return newAxis(c)
}

// givers are the cells that a cell of the next level is given something by, and the shares of
// them that it is given: at most four.
func (a *axis) givers(next int) (at [4]int, share [4]float32) {
	for k := range at {
		i := 2*next - 1 + k
		if i < 0 || i >= a.n {
			continue // a share of 0 of the first cell
		}
		at[k], share[k] = i, a.nearGiven[i]
		if k == 0 || k == 3 {
			share[k] = a.farGiven[i]
		}
	}
	return at, share
}

// interpolationCells returns the cells of the next level that a cell is interpolated from, and their shares.
func (a *axis) interpolationCells(i, cells int) (near, far int, wn, wf float32) {
	near, far = i/2, i/2-1+i%2*2
	if far < 0 || far >= cells {
		far = near
	}
	return near, far, a.near[i], a.far[i]
}

// interpolateRow interpolates a row of cells to a row of the next level.
func (a *axis) interpolateRow(to, from []float32) {
	last := float32(0) // of the pair before, what it gives to this one
	for x := range to {
		i := 2 * x
		to[x] = last + (a.nearGiven[i]*from[i] + a.nearGiven[i+1]*from[i+1]) + a.farGiven[i+2]*from[i+2]
		last = a.farGiven[i+1] * from[i+1]
	}
}

// spread sets a row to what is interpolated from one of the next level.
func (a *axis) spread(to, from []float32) {
	before, here := float32(0), from[0]
	for x := range (a.n + 1) / 2 {
		after := from[x+1] // behind the last is a 0
		i := 2 * x
		to[i] = a.near[i]*here + a.far[i]*before
		to[i+1] = a.near[i+1]*here + a.far[i+1]*after
		before, here = here, after
	}
}

// A level is the operator on cells of one size, with what a cycle keeps there. The equation of
// a cell is that of finite volumes: its b times its value, and what flows to its neighbours, are
// what it is given.
type level struct {
	x, y, z    axis
	kit        *rows.Kit
	threads    int
	stride     int       // from row to row of each list
	diag, inv  []float32 // of the operator, and 1 over it
	u, f, rest []float32 // values, of which a row is l.row, what is given, and what is left of it
	desks      []desk    // one for each part of what is done at the same time
}

// A desk is what is passed to kernels by its address, which would be made anew for each row.
type desk struct {
	row   rows.Row
	rest  rows.Rest
	from  [4][]float32
	share [4]float32
	sums  rows.Sums
	line  []float32 // as long as a row of the level, and a vector more
}

// newLevel makes the level of cells along these axes, of no b yet.
func newLevel(x, y, z axis, kit *rows.Kit, threads int) *level {
	l := &level{x: x, y: y, z: z, kit: kit, threads: threads, stride: rows.Padded(x.n)}
	n := l.stride * y.n * z.n
	l.diag, l.inv, l.f, l.rest = room(n), room(n), room(n), room(n+rows.Lanes)
	l.u = l.values()
	if x.n*y.n*z.n < 1<<14 {
		l.threads = 1 // less than what goroutines cost
	}
	l.desks = make([]desk, l.threads)
	for k := range l.desks {
		l.desks[k].line = make([]float32, l.stride+rows.Lanes)
	}
	return l
}

// link makes the operator of what diag has, b of each cell times its width.
func (l *level) link() {
	l.rows(func(part, r int) {
		w := l.rowContext(part, r)
		at := r * l.stride
		diag, inv := l.diag[at:][:l.x.n], l.inv[at:][:l.x.n]
		for k, i := range l.x.width32[:l.x.n] {
			diag[k] += w.Along*(l.x.link32[k]+l.x.link32[k+1]) + i*(w.LinkNorth+w.LinkSouth+w.LinkBelow+w.LinkAbove)
			inv[k] = 1 / diag[k]
		}
	})
}

// values is a list with a 0 before and behind each row, which a cell takes nothing of.
func (l *level) values() []float32 {
	return room(rows.Lanes + l.y.n*l.z.n*l.stride + rows.Lanes)
}

func room(n int) []float32 { return grid.NewValues[float32](int64(n)) }

// rowOf returns row r of such a list, with its padding of zeros.
func (l *level) rowOf(values []float32, r int) []float32 {
	return values[rows.Lanes+r*l.stride:][:l.stride]
}

// row is a row of values.
func (l *level) row(r int) []float32 { return l.rowOf(l.u, r) }

// rows calls f with every row, in parts at the same time.
func (l *level) rows(f func(part, r int)) { inParts(l.y.n*l.z.n, l.threads, f) }

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

// rowContext returns a row with its neighbouring rows, in the scratch memory of a part.
func (l *level) rowContext(part, r int) *rows.Row {
	y, z := r%l.y.n, r/l.y.n
	wy, wz := l.y.width32[y], l.z.width32[z]
	at := rows.Lanes + r*l.stride
	w := &l.desks[part].row
	w.U, w.N, w.Link, w.Width, w.Along = l.u, l.stride, l.x.link32, l.x.width32, wy*wz
	w.At, w.North, w.South, w.Below, w.Above = at, at, at, at, at
	// Beyond a border is the row itself, of which nothing is taken.
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
	w.F, w.Inv, w.Diag = l.f[first:][:l.stride], l.inv[first:][:l.stride], l.diag[first:][:l.stride]
	return w
}

// smooth sets the cells of a colour of a chessboard so that their equations hold, and then
// those of the other (Gauss and Seidel); none of a colour is beside another of it.
func (l *level) smooth(colour int, relax func(*rows.Row, int)) {
	of := func(r int) int { return (r%l.y.n + r/l.y.n + colour) & 1 }
	l.follow(func(part, r int) { relax(l.rowContext(part, r), of(r)) }, func(part, r int) { l.kit.Relax(l.rowContext(part, r), 1-of(r)) })
}

// follow calls first with every row, and second with every row once first had all that are
// around it. Second follows a plane behind first, while that is in the cache.
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
	// Those beside planes of another part.
	inParts(parts, parts, func(_, part int) {
		lo, hi := begin(part), begin(part+1)
		plane(part, lo, second)
		if hi-1 > lo {
			plane(part, hi-1, second)
		}
	})
}

// remain sets rest to what is left.
func (l *level) remain() {
	l.rows(func(part, r int) { l.kit.Remain(l.rowContext(part, r), l.rest[r*l.stride:][:l.stride]) })
}

// restrict gives what is in from, by cells of l, to those of the next level: the transpose of
// interpolate.
func (l *level) restrict(next *level, from []float32) {
	next.rows(func(part, r int) { // no more parts than of l
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

// interpolate adds the values of the next level to those of l. It overwrites rest.
func (l *level) interpolate(next *level) {
	spread := l.rest // rows of the next level, as long as those of l
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

// A hierarchy is all levels, the finest first and a single cell last.
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

// link makes the operators of what diag of the finest level has, b of its cells times their
// width.
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
					for i := range to {
						to[i] += from[2*i] + from[2*i+1] // behind the last is a 0
					}
				}
			})
		}
		l.link()
	}
}

// cycle brings the values of a level nearer to what they are given to be, from those that are
// there, or from 0: a V-cycle that smooths once before and once after, in reverse, so that from
// zero it is a symmetric operator.
func (h *hierarchy) cycle(k int, fromZero bool) {
	l := h.levels[k]
	if k == len(h.levels)-1 {
		l.row(0)[0] = l.f[0] * l.inv[0]
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
		h.cycle(k, false)
	}
}
