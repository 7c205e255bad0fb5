package multigrid

import (
	"eccbench/internal/crew"
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
	l := &level{nx: nx, ny: ny, nz: nz, threads: threads, fast: vectors()}
	n := l.cells()
	l.mass = make([]float64, n)
	for a := range l.link {
		l.link[a] = make([]float64, n)
	}
	return l
}

// ready makes what smoothing takes of the links.
func (l *level) ready() {
	n := l.cells()
	stride := [3]int{1, l.nx, l.nx * l.ny}
	l.inv = make([]float32, n)
	l.along = make([]float32, n+1)
	for a := 1; a < 3; a++ {
		l.link32[a] = make([]float32, n)
	}
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
			if d > 0 {
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

// coarser makes the next level, and how cells are interpolated from it. Along an axis, the link
// of two coarser cells is that of the resistances between their middles in series, of all lines of
// cells between them in parallel; a cell between two middles has a share of either by the
// resistances to them, so that a weak link is where values jump.
func (l *level) coarser() *level {
	l.foldx, l.foldy, l.foldz = fold(l.nx), fold(l.ny), fold(l.nz)
	folds := [3]int{l.foldx, l.foldy, l.foldz}
	size := [3]int{l.nx, l.ny, l.nz}
	stride := [3]int{1, l.nx, l.nx * l.ny}
	c := newLevel((l.nx+l.foldx-1)/l.foldx, (l.ny+l.foldy-1)/l.foldy, (l.nz+l.foldz-1)/l.foldz, l.threads)
	n := l.cells()
	for a := range l.share {
		l.share[a] = make([]float32, n)
	}
	l.own = make([]float32, n)
	// Coarser cells by rows, so that what is added up has one order.
	c.rows(func(lo, hi int) {
		for r := lo; r < hi; r++ {
			cy, cz := r%c.ny, r/c.ny
			for z := cz * l.foldz; z < min((cz+1)*l.foldz, l.nz); z++ {
				for y := cy * l.foldy; y < min((cy+1)*l.foldy, l.ny); y++ {
					row := (z*l.ny + y) * l.nx
					for x := range l.nx {
						c.mass[r*c.nx+x/l.foldx] += l.mass[row+x]
					}
					for x := range l.nx {
						i := row + x
						at := [3]int{x, y, z}
						sum := float32(0)
						for a, links := range l.link {
							if k := at[a]; folds[a] == 2 {
								next := i + stride[a]
								switch before, after := 0.0, 0.0; {
								case k&1 == 1 && k+1 < size[a]: // the second of a pair, with a cell behind it
									if before = 0.5 / links[i-stride[a]]; k+2 < size[a] {
										after = 0.5 / links[next]
									}
									total := before + 1/links[i] + after
									c.link[a][r*c.nx+x/l.foldx] += 1 / total
									l.share[a][i] = share(before, total)
								case k&1 == 0 && k > 0: // the first, with a pair before it
									if before = 0.5 / links[i-2*stride[a]]; k+1 < size[a] {
										after = 0.5 / links[i]
									}
									l.share[a][i] = share(after, before+1/links[i-stride[a]]+after)
								}
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
			}
		}
	})
	return c
}

// share is a part of a resistance as a share of all of it, which may be without end.
func share(part, total float64) float32 {
	if part > 1e30 {
		return 0
	}
	return float32(part / total)
}
