package simplicial

import (
	"fmt"
	"math/rand/v2"

	"eccbench/internal/grid"
)

// A Cut is a way to cut the cubes of a grid into simplices.
type Cut string

// Kuhn and Five are the known cuts.
const (
	Kuhn Cut = "kuhn" // six tetrahedra a cube, two triangles a square, all around a diagonal
	Five Cut = "five" // five tetrahedra a cube, every second cube mirrored
)

// Grid returns the complex of some cubes of a grid with w × h × d vertices. Vertices are numbered x
// first, with their coordinates as points. With one plane of vertices, the cubes are squares, cut
// in two.
func Grid(w, h, d int, cut Cut, keep func(x, y, z int) bool) *Complex {
	c := &Complex{Vertices: w * h * d}
	c.Points = grid.NewValues[float64](int64(3 * c.Vertices))[:0]
	for z := range d {
		for y := range h {
			for x := range w {
				c.Points = append(c.Points, float64(x), float64(y), float64(z))
			}
		}
	}
	at := func(x, y, z int) uint32 { return uint32((z*h+y)*w + x) }
	if d == 1 {
		var tops []uint32
		for y := range h - 1 {
			for x := range w - 1 {
				if keep(x, y, 0) {
					tops = append(tops, at(x, y, 0), at(x+1, y, 0), at(x+1, y+1, 0), at(x, y, 0), at(x, y+1, 0), at(x+1, y+1, 0))
				}
			}
		}
		c.Tops = [][]uint32{nil, nil, tops}
		return c.trim()
	}
	pieces, mirror := kuhnPieces(), 0
	if cut == Five {
		pieces = fivePieces()
	}
	cubes := 0 // to allocate once
	eachCube(w, h, d, keep, func(int, int, int) { cubes++ })
	tops := grid.NewValues[uint32](int64(4 * len(pieces) * cubes))[:0]
	eachCube(w, h, d, keep, func(x, y, z int) {
		if cut == Five {
			mirror = (x + y + z) & 1
		}
		var corners [8]uint32
		for k := range corners {
			corner := k ^ mirror
			corners[k] = at(x+corner&1, y+corner>>1&1, z+corner>>2)
		}
		for _, s := range pieces {
			tops = append(tops, corners[s[0]], corners[s[1]], corners[s[2]], corners[s[3]])
		}
	})
	c.Tops = [][]uint32{nil, nil, nil, tops}
	return c.trim()
}

// eachCube calls f for each cube of a grid to keep.
func eachCube(w, h, d int, keep func(x, y, z int) bool, f func(x, y, z int)) {
	for z := range d - 1 {
		for y := range h - 1 {
			for x := range w - 1 {
				if keep(x, y, z) {
					f(x, y, z)
				}
			}
		}
	}
}

// kuhnPieces returns the tetrahedra of a cube by its corners, whose bits are x, y and z: a path
// from corner 0 to corner 7 for each order of the axes.
func kuhnPieces() [][4]int {
	return [][4]int{{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}}
}

// fivePieces returns the tetrahedron of the corners with an even number of bits, and one at each of
// the other four corners.
func fivePieces() [][4]int {
	return [][4]int{{0, 3, 5, 6}, {0, 1, 3, 5}, {0, 2, 3, 6}, {0, 4, 5, 6}, {3, 5, 6, 7}}
}

// A piercing is a grid, of two or more vertices along x and y, without some of its cubes. It has
// straight holes through all planes, and missing single cubes inside. None of them touch each other
// or a side. Their order is fixed.
type piercing struct {
	w, h, d          int
	cut              Cut
	drills, cavities int64
}

// room returns the number of removable columns of cubes along y, of all removable columns, and of
// removable cubes in each.
func (p piercing) room() (down, columns, deep int64) {
	down = int64(p.h/2 - 1)
	return down, int64(p.w/2-1) * down, int64(max(1, p.d/2) - 1)
}

// check rejects more holes than the grid has room for.
func (p piercing) check() error {
	_, columns, deep := p.room()
	if p.drills > columns {
		return fmt.Errorf("%d drills: %dx%d vertices have room for %d", p.drills, p.w, p.h, columns)
	}
	if room := (columns - p.drills) * deep; p.cavities > room {
		return fmt.Errorf("%d cavities beside %d drills: the grid has room for %d", p.cavities, p.drills, room)
	}
	return nil
}

// complex makes the complex of a piercing that passes check.
func (p piercing) complex() *Complex {
	down, _, deep := p.room()
	across := int64(p.w/2 - 1)
	c := Grid(p.w, p.h, p.d, p.cut, func(x, y, z int) bool {
		if x%2 == 0 || y%2 == 0 || int64(x/2) >= across || int64(y/2) >= down {
			return true
		}
		column := int64(y/2)*across + int64(x/2)
		if column < p.drills {
			return false
		}
		return z%2 == 0 || int64(z/2) >= deep || (column-p.drills)*deep+int64(z/2) >= p.cavities
	})
	c.counts = p.counts()
	return c
}

// counts returns the number of simplices of each dimension by a formula, nil for a single plane. A
// hole removes the inside of its cubes. A drill also removes the d squares between and at the ends
// of its cubes.
func (p piercing) counts() []int64 {
	if p.d == 1 {
		return nil
	}
	w, h, d := int64(p.w), int64(p.h), int64(p.d)
	tetrahedra, edges := int64(6), int64(1) // of a cube, and the number of those edges inside it
	if p.cut == Five {
		tetrahedra, edges = 5, 0
	}
	triangles := (4*tetrahedra - 12) / 2 // inside a cube
	cubes := (w-1)*(h-1)*(d-1) - p.drills*(d-1) - p.cavities
	squares := (w-1)*(h-1)*d + (w-1)*h*(d-1) + w*(h-1)*(d-1) - p.drills*d
	sides := (w-1)*h*d + w*(h-1)*d + w*h*(d-1)
	return []int64{w * h * d, sides + squares + edges*cubes, 2*squares + triangles*cubes, tetrahedra * cubes}
}

// sketch returns a complex of the same size, without values of its simplices and points.
func (p piercing) sketch() *Complex {
	counts := p.counts()
	if counts == nil {
		return nil
	}
	c := &Complex{Vertices: int(counts[0]), Points: make([]float64, 3*counts[0]), counts: counts}
	c.Tops = [][]uint32{nil, nil, nil, make([]uint32, 4*counts[3])}
	c.Try(func() error { return nil }) // no two holes touch
	return c
}

// Shuffled returns the complex with permuted vertex numbers, simplices, and vertices in each
// simplex.
func Shuffled(c *Complex, seed uint64) *Complex {
	rng := rand.New(rand.NewPCG(seed, 0x5111111))
	to := permutation(rng, c.Vertices)
	out := &Complex{Tops: make([][]uint32, len(c.Tops)), Vertices: c.Vertices, counts: c.counts}
	if c.Points != nil {
		out.Points = grid.NewValues[float64](int64(len(c.Points)))
		for v, at := range to {
			copy(out.Points[3*int(at):], c.Points[3*v:3*v+3])
		}
	}
	for d, tops := range c.Tops {
		s := make([]uint32, d+1) // apart from the list, whose places miss the caches
		list := grid.NewValues[uint32](int64(len(tops)))
		for at, place := range permutation(rng, len(tops)/(d+1)) {
			for i, v := range tops[at*(d+1):][:d+1] {
				s[i] = to[v]
			}
			shuffle(rng, s)
			for i, v := range s { // copy would wait for the list, where the collector of garbage cannot stop it
				list[int(place)*(d+1)+i] = v
			}
		}
		out.Tops[d] = list
	}
	return out
}

// permutation is rng.Perm in half the memory.
func permutation(rng *rand.Rand, n int) []uint32 {
	p := grid.NewValues[uint32](int64(n))
	for i := range p {
		p[i] = uint32(i)
	}
	shuffle(rng, p)
	return p
}

// shuffle is rng.Shuffle of a list, without a call for each swap.
func shuffle(rng *rand.Rand, list []uint32) {
	for i := len(list) - 1; i > 0; i-- {
		k := rng.Uint64N(uint64(i + 1))
		list[i], list[k] = list[k], list[i]
	}
}
