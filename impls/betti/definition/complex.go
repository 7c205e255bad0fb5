package definition

import (
	"fmt"
	"slices"

	"eccbench/internal/workloads/betti"
)

// A term of a chain is a cell with its coefficient.
type term struct {
	cell  int32
	times int64
}

// A chain is terms with descending cells.
type chain []term

// A complex is cells by dimension, each with its boundary over the integers.
type complex struct {
	count    [4]int64
	boundary [4][]chain
}

// newComplex is the complex of the voxels inside with all their faces.
func newComplex(depth, height, width int64, inside func(z, y, x int64) bool) *complex {
	// Twice the coordinates: odd ones are within a voxel, even ones between two.
	d, h, w := 2*depth+1, 2*height+1, 2*width+1
	there := make([]bool, d*h*w)
	for z := range depth {
		for y := range height {
			for x := range width {
				if !inside(z, y, x) {
					continue
				}
				for k := 2 * z; k <= 2*z+2; k++ {
					for j := 2 * y; j <= 2*y+2; j++ {
						for i := 2 * x; i <= 2*x+2; i++ {
							there[(k*h+j)*w+i] = true
						}
					}
				}
			}
		}
	}
	return complexOf(there, h, w)
}

// complexOf is the complex of the cells that are there, at twice their coordinates in planes
// of h × w.
func complexOf(there []bool, h, w int64) *complex {
	c := &complex{}
	id := make([]int32, len(there))
	for at := range int64(len(there)) {
		if there[at] {
			dim := at%w&1 + at/w%h&1 + at/w/h&1
			id[at] = int32(c.count[dim])
			c.count[dim]++
		}
	}
	for at := range int64(len(there)) {
		if !there[at] {
			continue
		}
		var b chain
		sign := int64(1) // of the face behind along the next axis that the cell spans
		for _, axis := range [3]struct{ place, step int64 }{{at % w, 1}, {at / w % h, w}, {at / w / h, w * h}} {
			if axis.place%2 == 1 {
				b = append(b, term{id[at+axis.step], sign}, term{id[at-axis.step], -sign})
				sign = -sign
			}
		}
		slices.SortFunc(b, func(a, b term) int { return int(b.cell) - int(a.cell) })
		dim := len(b) / 2
		c.boundary[dim] = append(c.boundary[dim], b)
	}
	return c
}

// betti are the numbers over the field of p elements.
func (c *complex) betti(p int64) (betti.Numbers, error) {
	var rank [5]int64 // of the boundaries of each dimension
	for dim := 1; dim <= 3; dim++ {
		rank[dim] = c.rank(dim, p)
	}
	var b [4]int64
	for dim := range b {
		b[dim] = c.count[dim] - rank[dim] - rank[dim+1]
	}
	if b[3] != 0 {
		return betti.Numbers{}, fmt.Errorf("%d cycles of cubes, but in space there are none", b[3])
	}
	return betti.Numbers{B0: b[0], B1: b[1], B2: b[2]}, nil
}

// rank is that of a boundary matrix, whose columns are eliminated from left to right: each
// is reduced by those before that begin in the same row.
func (c *complex) rank(dim int, p int64) (rank int64) {
	first := map[int32]chain{} // by their row, with 1 there
	for _, column := range c.boundary[dim] {
		now := make(chain, 0, len(column))
		for _, t := range column {
			if times := modulo(t.times, p); times != 0 {
				now = append(now, term{t.cell, times})
			}
		}
		for len(now) > 0 {
			other, ok := first[now[0].cell]
			if !ok {
				inverse := power(now[0].times, p-2, p)
				for i := range now {
					now[i].times = now[i].times * inverse % p
				}
				first[now[0].cell] = now
				rank++
				break
			}
			now = minus(now, other, now[0].times, p)
		}
	}
	return rank
}

func modulo(v, p int64) int64 { return (v%p + p) % p }

// power is v to the power of n: v itself for a field of 2, whose only unit is 1.
func power(v, n, p int64) int64 {
	out := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = out * v % p
		}
		v = v * v % p
	}
	return out
}

// minus is a chain less so many times another.
func minus(a, b chain, times, p int64) chain {
	out := make(chain, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].cell > b[0].cell:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0].cell > a[0].cell:
			out, b = append(out, term{b[0].cell, modulo(-times*b[0].times, p)}), b[1:]
		default:
			if t := modulo(a[0].times-times*b[0].times%p, p); t != 0 {
				out = append(out, term{a[0].cell, t})
			}
			a, b = a[1:], b[1:]
		}
	}
	return out
}
