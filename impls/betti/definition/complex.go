package definition

import (
	"fmt"

	"eccbench/internal/ranks"
	"eccbench/internal/workloads/betti"
)

// A chain is a sum of cells with coefficients.
type chain []ranks.Term

// A complex is a cell complex: the number of cells by dimension, and their boundaries over the
// integers.
type complex struct {
	count    [4]int64
	boundary [4][]chain
}

// newComplex returns the complex of the voxels inside, with all their faces.
func newComplex(depth, height, width int64, inside func(z, y, x int64) bool) *complex {
	// Doubled coordinates: odd ones are within a voxel, even ones between two.
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

// complexOf returns the complex of the present cells, at doubled coordinates in planes of h × w.
func complexOf(there []bool, h, w int64) *complex {
	c := &complex{}
	id := make([]uint32, len(there))
	for at := range int64(len(there)) {
		if there[at] {
			dim := at%w&1 + at/w%h&1 + at/w/h&1
			id[at] = uint32(c.count[dim])
			c.count[dim]++
		}
	}
	for at := range int64(len(there)) {
		if !there[at] {
			continue
		}
		var b chain
		sign := int64(1) // sign of the far face along the next axis that the cell spans
		for _, axis := range [3]struct{ place, step int64 }{{at % w, 1}, {at / w % h, w}, {at / w / h, w * h}} {
			if axis.place%2 == 1 {
				b = append(b, ranks.Term{Row: id[at+axis.step], Times: sign}, ranks.Term{Row: id[at-axis.step], Times: -sign})
				sign = -sign
			}
		}
		dim := len(b) / 2
		c.boundary[dim] = append(c.boundary[dim], b)
	}
	return c
}

// numbers returns the Betti numbers, which must be equal over all fields.
func (c *complex) numbers() (n betti.Numbers, err error) {
	for i, p := range fields() {
		over, err := c.betti(p)
		if err != nil {
			return n, err
		}
		if i > 0 && over != n {
			return n, fmt.Errorf("the Betti numbers differ: %v over ℤ₂, %v over the field of %d, but a subset of space has no torsion",
				n, over, p)
		}
		n = over
	}
	return n, nil
}

// betti returns the Betti numbers over the field of p elements.
func (c *complex) betti(p int64) (betti.Numbers, error) {
	var rank [5]int64 // of the boundary matrix of each dimension
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

// rank returns the rank of a boundary matrix.
func (c *complex) rank(dim int, p int64) int64 {
	return ranks.Rank(c.count[dim-1], int64(len(c.boundary[dim])), p, func(i int64, list []ranks.Term) []ranks.Term {
		return append(list, c.boundary[dim][i]...)
	})
}
