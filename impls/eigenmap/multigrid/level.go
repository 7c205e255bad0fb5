package multigrid

import (
	"eccbench/internal/crew"
	"eccbench/internal/workloads/eigenmap"
)

// lanes is how many vectors are kept side by side: the numbers of a cell, one after the other.
const lanes = 4

// A level is a grid of cells with links between those that share a face, on which
//
//	(Au)_i = Σ_j link_ij (u_i − u_j)
//
// and of each cell its mass. The finest one may have other links beside, and a cell of a coarser
// one is a block of up to two along each axis of the one before.
type level struct {
	nx, ny, nz int
	threads    int
	fast       bool // by vector instructions
	mass       []float64
	link       [3][]float64 // of a cell to the next one along x, y and z; 0 at the end
	beside     []offset     // of the finest, with corners: all links

	// What smoothing takes, in float32. From the finest on, the share of the next level's cell
	// that lies beside a cell along each axis in its value, and that of the one that holds it.
	along        []float32    // links along x: that before a cell, and after the last one that behind it
	link32       [3][]float32 // along y and z
	inv          []float32
	share        [3][]float32
	own          []float32
	u, f, rest   []float32 // u begins and ends with a cell more
	none         []float32 // links of a row to none
	foldx, foldy int       // how many cells a cell of the next level has along an axis
	foldz        int
}

// An offset is links from each cell to the one that lies so far from it.
type offset struct {
	x, y, z int
	link    []float64
}

func (l *level) cells() int { return l.nx * l.ny * l.nz }

// rows calls f with parts of all rows, at the same time.
func (l *level) rows(f func(lo, hi int)) { parts(l.ny*l.nz, l.threadsFor(), f) }

func (l *level) threadsFor() int {
	if l.cells() < 1<<12 {
		return 1 // less than what goroutines cost
	}
	return l.threads
}

// parts calls f with parts of n, at the same time.
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

// ready makes what smoothing takes of the links.
func (l *level) ready() {
	const least = 1e-30 // of which float32 has no inverse
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
					d += links[i-stride[a]] // 0 behind the end of a row
				}
			}
			if d > least {
				l.inv[i] = float32(1 / d)
			}
		}
	})
	l.none = make([]float32, l.nx)
	l.u, l.f, l.rest = make([]float32, lanes*(n+2)), make([]float32, lanes*n), make([]float32, lanes*n)
}

// fold is how many cells a coarser cell has along an axis of n.
func fold(n int) int {
	if n > 1 {
		return 2
	}
	return 1
}

// coarser makes the next level, and how cells are interpolated from it: a cell between the middles of
// two coarser cells has a share of either by the resistances to them, so that a weak link is where
// values jump.
func (l *level) coarser() *level {
	l.foldx, l.foldy, l.foldz = fold(l.nx), fold(l.ny), fold(l.nz)
	for a := range l.share {
		l.share[a] = make([]float32, l.cells())
	}
	l.own = make([]float32, l.cells())
	l.rows(l.divide)
	c := newLevel((l.nx+l.foldx-1)/l.foldx, (l.ny+l.foldy-1)/l.foldy, (l.nz+l.foldz-1)/l.foldz, l.threads)
	c.rows(func(lo, hi int) { // rows of c, so that what is added up has one order
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
			case k&1 == 1 && k+1 < size[a]: // the second of a pair, with a cell behind it
				before, after := l.halves(a, k, i)
				l.share[a][i] = share(before, before+1/links[i]+after)
			case k&1 == 0 && k > 0: // the first, with a pair before it
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

// halves are the resistances along an axis from the middle of a coarser cell to the last cell i of its
// line, and from the cell behind that to the middle of the next coarser cell.
func (l *level) halves(a, k, i int) (before, after float64) {
	stride := l.stride()[a]
	if k+2 < l.size()[a] {
		after = 0.5 / l.link[a][i+stride]
	}
	return 0.5 / l.link[a][i-stride], after
}

// pull is what A makes, at cell i, of the place along an axis as it is interpolated: a share before the
// middle of its coarser cell, or behind it.
func (l *level) pull(a, i int, at [3]int) (sum float64) {
	share := l.share[a]
	here, odd := float64(share[i]), at[a]&1 == 1
	for b, stride := range l.stride() {
		links := l.link[b]
		before, after := 0.0, links[i] // 0 at the end
		if at[b] > 0 {
			before = links[i-stride]
		}
		// How much farther cell i is than the one before it and the one behind it.
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

// gather sets the masses and links of a row of the next level. The link of two coarser cells is that of
// the resistances between their middles, of all lines of cells side by side, and at least half of what
// makes the energy of the place along an axis, interpolated, the same on both levels. The first alone is
// far too weak where a cell that is in the way of currents takes a share that currents do not give it,
// as those of thin tubes do: what coarser levels find is then many times too much.
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

// share is a part of a resistance as a share of all of it, which may be without end.
func share(part, total float64) float32 {
	if part > 1e30 {
		return 0
	}
	return float32(part / total)
}
