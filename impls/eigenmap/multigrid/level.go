package multigrid

import (
	"eccbench/internal/crew"
	"eccbench/internal/workloads/eigenmap"
)

// Lanes is the number of vectors that are stored side by side: the numbers of a cell are adjacent.
const Lanes = 4

// A level is a grid of cells with masses, and with links between cells that share a face:
//
//	(Au)_i = Σ_j link_ij (u_i − u_j)
//
// The finest level may have additional links. A cell of a coarser level contains up to two cells
// along each axis of the finer level.
type level struct {
	nx, ny, nz int
	threads    int
	fast       bool // use vector instructions
	mass       []float64
	link       [3][]float64 // from a cell to the next one along x, y and z; 0 at the end
	beside     []offset     // all links of the finest level, if some are not between faces

	// Data of the smoother in float32. To interpolate, a cell takes a share of the neighbouring
	// coarser cell along each axis, and the rest (own) of the coarser cell that contains it.
	along        []float32    // links along x to the previous cell, and one more at the end
	link32       [3][]float32 // links along y and z
	inv          []float32
	share        [3][]float32
	own          []float32
	u, f, rest   []float32 // u has an additional cell at both ends
	none         []float32 // zero links for a row without a neighbour
	foldx, foldy int       // cells of a coarser cell along x and y
	foldz        int
}

// An offset is the links from each cell to the cell at a distance.
type offset struct {
	x, y, z int
	link    []float64
}

func (l *level) cells() int { return l.nx * l.ny * l.nz }

// rows calls f with parts of all rows, in parallel.
func (l *level) rows(f func(lo, hi int)) { parts(l.ny*l.nz, l.threadsFor(), f) }

func (l *level) threadsFor() int {
	if l.cells() < 1<<12 {
		return 1 // goroutines would cost more
	}
	return l.threads
}

// parts calls f with parts of n, in parallel.
func parts(n, threads int, f func(lo, hi int)) {
	if threads <= 1 || n < 2 {
		f(0, n)
		return
	}
	var g crew.Group
	for k := range threads {
		if lo, hi := n*k/threads, n*(k+1)/threads; lo < hi {
			g.Go(func() { f(lo, hi) })
		}
	}
	g.Wait()
}

func newLevel(nx, ny, nz, threads int) *level {
	l := &level{nx: nx, ny: ny, nz: nz, threads: threads, fast: eigenmap.Vectors()}
	n := l.cells()
	l.mass = make([]float64, n)
	for a := range l.link {
		l.link[a] = make([]float64, n)
	}
	return l
}

// ready prepares the smoother's data from the links.
func (l *level) ready() {
	const least = 1e-30 // float32 has no inverse of less
	n := l.cells()
	stride := l.stride()
	l.inv = make([]float32, n)
	l.along = make([]float32, n+1)
	l.link32[1], l.link32[2] = make([]float32, n), make([]float32, n)
	l.rows(func(lo, hi int) {
		for i := lo * l.nx; i < hi*l.nx; i++ {
			d := 0.0
			for a, links := range l.link {
				if a == 0 {
					l.along[i+1] = float32(links[i])
				} else {
					l.link32[a][i] = float32(links[i])
				}
				d += links[i]
				if i >= stride[a] {
					d += links[i-stride[a]] // 0 beyond the end of a row
				}
			}
			if d > least {
				l.inv[i] = float32(1 / d)
			}
		}
	})
	l.none = make([]float32, l.nx)
	l.u, l.f, l.rest = make([]float32, Lanes*(n+2)), make([]float32, Lanes*n), make([]float32, Lanes*n)
}

// fold returns the number of cells of a coarser cell along an axis of n cells.
func fold(n int) int {
	if n > 1 {
		return 2
	}
	return 1
}

// coarser makes the next level and the interpolation from it. A cell between the centres of two
// coarser cells takes shares of both according to the resistances to them, so that values jump at
// weak links.
func (l *level) coarser() *level {
	l.foldx, l.foldy, l.foldz = fold(l.nx), fold(l.ny), fold(l.nz)
	for a := range l.share {
		l.share[a] = make([]float32, l.cells())
	}
	l.own = make([]float32, l.cells())
	l.rows(l.divide)
	c := newLevel((l.nx+l.foldx-1)/l.foldx, (l.ny+l.foldy-1)/l.foldy, (l.nz+l.foldz-1)/l.foldz, l.threads)
	c.rows(func(lo, hi int) { // by rows of c, so that sums have one order
		for r := lo; r < hi; r++ {
			l.gather(c, r)
		}
	})
	return c
}

func (l *level) size() [3]int { return [3]int{l.nx, l.ny, l.nz} }

func (l *level) stride() [3]int { return [3]int{1, l.nx, l.nx * l.ny} }

// divide sets the shares of rows lo ≤ r < hi.
func (l *level) divide(lo, hi int) {
	size, stride := l.size(), l.stride()
	for i := lo * l.nx; i < hi*l.nx; i++ {
		at := [3]int{i % l.nx, i / l.nx % l.ny, i / (l.nx * l.ny)}
		sum := float32(0)
		for a, links := range l.link {
			switch k := at[a]; {
			case k&1 == 1 && k+1 < size[a]: // the second of a pair that is not the last
				before, after := l.halves(a, k, i)
				l.share[a][i] = share(before, before+1/links[i]+after)
			case k&1 == 0 && k > 0: // the first of a pair that is not the first
				before, after := l.halves(a, k-1, i-stride[a])
				l.share[a][i] = share(after, before+1/links[i-stride[a]]+after)
			}
			sum += l.share[a][i]
		}
		if sum > 1 {
			for a := range l.share {
				l.share[a][i] /= sum
			}
			sum = 1
		}
		l.own[i] = 1 - sum
	}
}

// halves returns two resistances along an axis: from the centre of a coarser cell to its last cell
// i, and from the next cell to the centre of the next coarser cell.
func (l *level) halves(a, k, i int) (before, after float64) {
	stride := l.stride()[a]
	if k+2 < l.size()[a] {
		after = 0.5 / l.link[a][i+stride]
	}
	return 0.5 / l.link[a][i-stride], after
}

// pull applies A at cell i to the interpolated coordinate along an axis. The share of the cell is
// towards the previous coarser cell, or towards the next one.
func (l *level) pull(a, i int, at [3]int) (sum float64) {
	share := l.share[a]
	here, odd := float64(share[i]), at[a]&1 == 1
	for b, stride := range l.stride() {
		links := l.link[b]
		before, after := 0.0, links[i] // 0 at the end
		if at[b] > 0 {
			before = links[i-stride]
		}
		// How much farther cell i is than its neighbours.
		var behind, ahead float64
		if before > 0 {
			behind = float64(share[i-stride])
		}
		if after > 0 {
			ahead = float64(share[i+stride])
		}
		switch {
		case b != a && odd:
			sum += before*(here-behind) + after*(here-ahead)
		case b != a:
			sum += before*(behind-here) + after*(ahead-here)
		case odd:
			sum += before*(here+behind) + after*(here+ahead-1)
		default:
			sum += before*(1-here-behind) - after*(here+ahead)
		}
	}
	return sum
}

// gather sets the masses and links of a row of the next level. The link of two coarser cells comes
// from the resistances between their centres, over all parallel lines of cells. It is at least half
// of the link that gives the interpolated coordinate the same energy on both levels. The first
// alone is far too weak where a cell in the way of currents takes a share that currents do not give
// it, as in thin tubes. The corrections of coarser levels would then be far too large.
func (l *level) gather(c *level, r int) {
	size, stride := l.size(), l.stride()
	y0, z0 := r%c.ny*l.foldy, r/c.ny*l.foldz
	out := r * c.nx
	energy := [3][]float64{make([]float64, c.nx), make([]float64, c.nx), make([]float64, c.nx)}
	for z := z0; z < min(z0+l.foldz, l.nz); z++ {
		for y := y0; y < min(y0+l.foldy, l.ny); y++ {
			row := (z*l.ny + y) * l.nx
			for x := range l.nx {
				i, to, at := row+x, x/l.foldx, [3]int{x, y, z}
				c.mass[out+to] += l.mass[i]
				for a, k := range at {
					if k&1 == 0 || k+1 >= size[a] {
						continue
					}
					w, next := l.link[a][i], i+stride[a]
					before, after := l.halves(a, k, i)
					c.link[a][out+to] += 1 / (before + 1/w + after)
					here, there := float64(l.share[a][i]), float64(l.share[a][next])
					e := here*l.pull(a, i, at) + w*(1-here-there)
					at[a]++
					energy[a][to] += e - there*l.pull(a, next, at)
					at[a]--
				}
			}
		}
	}
	for a, list := range energy {
		for x, e := range list {
			link := &c.link[a][out+x]
			*link = max(*link, e/2)
		}
	}
}

// share returns part/total, which may be infinite.
func share(part, total float64) float32 {
	if part > 1e30 {
		return 0
	}
	return float32(part / total)
}
