package multigrid

// A lane4 is the numbers of one cell.
type lane4 = [Lanes]float32

// neighbourLinks returns the links of a row to the adjacent rows, and the distances to these in
// numbers of u. If there is no such row, the links are 0 and the distance is 0.
func (l *level) neighbourLinks(r int) (links [4][]float32, to [4]int) {
	nx, ny := l.nx, l.ny
	y, z := r%ny, r/ny
	row := r * nx
	for k := range links {
		links[k] = l.none
	}
	if y > 0 {
		links[0], to[0] = l.link32[1][row-nx:][:nx], -nx*Lanes
	}
	if y < ny-1 {
		links[1], to[1] = l.link32[1][row:][:nx], nx*Lanes
	}
	if z > 0 {
		links[2], to[2] = l.link32[2][row-nx*ny:][:nx], -nx*ny*Lanes
	}
	if z < l.nz-1 {
		links[3], to[3] = l.link32[2][row:][:nx], nx*ny*Lanes
	}
	return links, to
}

// neighbourSum returns the weighted sum of a cell's neighbours in its plane.
func neighbourSum(u []float32, at int, before, after float32, w [4]float32, to [4]int) (s lane4) {
	a, b := (*lane4)(u[at-Lanes:]), (*lane4)(u[at+Lanes:])
	c, d := (*lane4)(u[at+to[0]:]), (*lane4)(u[at+to[1]:])
	for k := range s {
		s[k] = (before*a[k] + after*b[k]) + (w[0]*c[k] + w[1]*d[k])
	}
	return s
}

// deeper adds the weighted values of the neighbours in the adjacent planes.
func deeper(s *lane4, u []float32, at int, w [4]float32, to [4]int) {
	e, f := (*lane4)(u[at+to[2]:]), (*lane4)(u[at+to[3]:])
	for k := range s {
		s[k] += w[2]*e[k] + w[3]*f[k]
	}
}

// relax solves the equations of the cells of one chessboard colour (Gauss–Seidel). No two of them
// are neighbours.
func (l *level) relax(colour int) {
	l.rows(func(lo, hi int) {
		for r := lo; r < hi; r++ {
			links, to := l.neighbourLinks(r)
			row := r * l.nx
			begin := (r%l.ny + r/l.ny + colour) & 1
			if l.fast && begin < l.nx {
				for k := range links {
					links[k] = links[k][begin:]
				}
				l.relaxVector(row+begin, (l.nx-begin+1)/2, links, to)
				continue
			}
			for x := begin; x < l.nx; x += 2 {
				i := row + x
				w := [4]float32{links[0][x], links[1][x], links[2][x], links[3][x]}
				at := Lanes * (i + 1)
				s := neighbourSum(l.u, at, l.along[i], l.along[i+1], w, to)
				if l.nz > 1 {
					deeper(&s, l.u, at, w, to)
				}
				f, u, inv := (*lane4)(l.f[Lanes*i:]), (*lane4)(l.u[at:]), l.inv[i]
				for k := range s {
					u[k] = (f[k] + s[k]) * inv
				}
			}
		}
	})
}

// first relaxes both colours, starting from 0.
func (l *level) first() {
	l.rows(func(lo, hi int) {
		for r := lo; r < hi; r++ {
			colour := (r%l.ny + r/l.ny) & 1
			for x := range l.nx {
				i := r*l.nx + x
				u := (*lane4)(l.u[Lanes*(i+1):])
				if x&1 != colour {
					*u = lane4{}
					continue
				}
				f, inv := (*lane4)(l.f[Lanes*i:]), l.inv[i]
				for k := range u {
					u[k] = f[k] * inv
				}
			}
		}
	})
	l.relax(1)
}

// remain sets rest to the residual. The residual is 0 for the colour that was relaxed last.
func (l *level) remain(relaxed int) {
	l.rows(func(lo, hi int) {
		for r := lo; r < hi; r++ {
			links, to := l.neighbourLinks(r)
			row := r * l.nx
			colour := (r%l.ny + r/l.ny + relaxed) & 1
			for x := range l.nx {
				i := row + x
				rest := (*lane4)(l.rest[Lanes*i:])
				if l.inv[i] == 0 || x&1 == colour {
					*rest = lane4{}
					continue
				}
				w := [4]float32{links[0][x], links[1][x], links[2][x], links[3][x]}
				at := Lanes * (i + 1)
				s := neighbourSum(l.u, at, l.along[i], l.along[i+1], w, to)
				if l.nz > 1 {
					deeper(&s, l.u, at, w, to)
				}
				f, u, diag := (*lane4)(l.f[Lanes*i:]), (*lane4)(l.u[at:]), 1/l.inv[i]
				for k := range s {
					rest[k] = f[k] + s[k] - diag*u[k]
				}
			}
		}
	})
}

// gatherRow adds the shares of the cells of a row, which begins with a cell, to a row of coarser cells.
func (l *level) gatherRow(out []float32, row int, share []float32) {
	done := 0
	if l.fast && l.foldx == 2 {
		gatherVector(out, l.rest[Lanes*row:], share[row:], l.nx/2, false)
		done = l.nx &^ 1
	}
	for x := done; x < l.nx; x++ {
		gatherCell(out[Lanes*(x/l.foldx):], l.rest[Lanes*(row+x):], share[row+x])
	}
}

// gatherAcross adds the shares along x of the cells of a row to the neighbours of their coarser cells.
func (l *level) gatherAcross(out []float32, row int) {
	share := l.share[0]
	if l.fast {
		gatherVector(out, l.rest[Lanes*(row+1):], share[row+1:], (l.nx-1)/2, true)
		return
	}
	for x := 1; x+1 < l.nx; x += 2 {
		gatherCell(out[Lanes*(x/2+1):], l.rest[Lanes*(row+x):], share[row+x])
		gatherCell(out[Lanes*(x/2):], l.rest[Lanes*(row+x+1):], share[row+x+1])
	}
}

func gatherCell(to, from []float32, share float32) {
	t, f := (*lane4)(to), (*lane4)(from)
	for k := range t {
		t[k] += share * f[k]
	}
}

// restrict sets the right side of the next level: the transpose of interpolate, applied to the
// residual.
func (l *level) restrict(c *level) {
	c.rows(func(lo, hi int) {
		for r := lo; r < hi; r++ {
			cy, cz := r%c.ny, r/c.ny
			y0, y1 := cy*l.foldy, min((cy+1)*l.foldy, l.ny)
			z0, z1 := cz*l.foldz, min((cz+1)*l.foldz, l.nz)
			out := c.f[Lanes*r*c.nx:][:Lanes*c.nx]
			clear(out)
			add := func(y, z int, share []float32) { l.gatherRow(out, (z*l.ny+y)*l.nx, share) }
			for z := z0; z < z1; z++ {
				for y := y0; y < y1; y++ {
					add(y, z, l.own)
					if l.foldx == 2 {
						l.gatherAcross(out, (z*l.ny+y)*l.nx)
					}
				}
				if l.foldy == 2 {
					if y0 > 0 {
						add(y0-1, z, l.share[1])
					}
					if y1 < l.ny {
						add(y1, z, l.share[1])
					}
				}
			}
			if l.foldz == 2 {
				for y := y0; y < y1; y++ {
					if z0 > 0 {
						add(y, z0-1, l.share[2])
					}
					if z1 < l.nz {
						add(y, z1, l.share[2])
					}
				}
			}
		}
	})
}

// interpolate adds the interpolated values of the next level.
func (l *level) interpolate(c *level) {
	l.rows(func(lo, hi int) {
		for r := lo; r < hi; r++ {
			y, z := r%l.ny, r/l.ny
			row, cr := r*l.nx, z/l.foldz*c.ny+y/l.foldy
			byY, byZ := 0, 0
			if l.foldy == 2 {
				byY = secondDirection(y, c.ny) * c.nx * Lanes
			}
			if l.foldz == 2 {
				byZ = secondDirection(z, c.nz) * c.nx * c.ny * Lanes
			}
			done := 0
			if l.fast && l.foldx == 2 { // shares beyond the ends of a row are 0
				l.interpolateVector(row, l.nx/2, c.u, Lanes*(cr*c.nx+1), byY, byZ)
				done = l.nx &^ 1
			}
			for x := done; x < l.nx; x++ {
				i, at := row+x, Lanes*(cr*c.nx+x/l.foldx+1)
				byX := 0
				if l.foldx == 2 {
					byX = secondDirection(x, c.nx) * Lanes
				}
				o, sx, sy, sz := l.own[i], l.share[0][i], l.share[1][i], l.share[2][i]
				u, own, cx, cy, cz := (*lane4)(l.u[Lanes*(i+1):]), (*lane4)(c.u[at:]), (*lane4)(c.u[at+byX:]),
					(*lane4)(c.u[at+byY:]), (*lane4)(c.u[at+byZ:])
				for k := range u {
					u[k] += (o*own[k] + sx*cx[k]) + (sy*cy[k] + sz*cz[k])
				}
			}
		}
	})
}

// secondDirection returns the direction of the second-nearest coarser cell of cell k: 1, −1, or 0 if there
// is none, in which case its share is 0. Coarser cells contain pairs of cells; n is their number.
func secondDirection(k, n int) int {
	switch {
	case k&1 == 1 && k/2+1 < n:
		return 1
	case k&1 == 0 && k > 0:
		return -1
	}
	return 0
}

// A hierarchy is the list of all levels, from the finest to a single cell.
type hierarchy []*level

func newHierarchy(l *level) hierarchy {
	var h hierarchy
	for ; l.cells() > 1; l = l.coarser() {
		l.ready()
		h = append(h, l)
	}
	l.ready()
	return append(h, l)
}

// Numbers of smoothing sweeps per direction of a cycle. More are used after a few iterations, as
// for thin tubes: then the products of all vectors make an iteration expensive. If the cycle is for
// a stronger graph (see support), more sweeps save no iterations.
const (
	fewSweeps, manySweeps = 2, 6
	Soon                  = 2 // iterations before manySweeps
)

// cycle sets the values of a level to an approximate solution for its right side. It is a V-cycle
// with the same number of sweeps before and after, in reverse order, so that it is a symmetric
// operator.
func (h hierarchy) cycle(k, sweeps int) {
	l := h[k]
	if k == len(h)-1 {
		clear(l.u) // a single cell: any constant is a solution
		return
	}
	l.first()
	for range sweeps - 1 {
		l.relax(0)
		l.relax(1)
	}
	l.remain(1)
	l.restrict(h[k+1])
	h.cycle(k+1, sweeps)
	l.interpolate(h[k+1])
	for range sweeps {
		l.relax(1)
		l.relax(0)
	}
}
