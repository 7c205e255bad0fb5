package definition

import (
	"cmp"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/pairs"
)

// A cell is a point of the grid of all cells: the place of its voxel in their order, its dimension and its position.
type cell struct {
	rank, voxel uint32
	dim, at     int
}

// A complex is the cells of an image in the order in which they enter, with their boundaries as places in this order,
// the last one first.
type complex struct {
	cells    []cell
	boundary [][]uint32
}

// An axis is the cells along an axis of an image: whether each spans it, and the voxels that determine it.
type axis struct {
	spans  []bool
	voxels [][]int64
}

// tops returns the cells along an axis of n voxels that are intervals: an even position is a point between two voxels,
// or at an end, an odd one a voxel.
func tops(n int64) (a axis) {
	for c := range 2*n + 1 {
		list := []int64{c / 2}
		if c%2 == 0 {
			list = slices.DeleteFunc([]int64{c/2 - 1, c / 2}, func(k int64) bool { return k < 0 || k >= n })
		}
		a.spans, a.voxels = append(a.spans, c%2 == 1), append(a.voxels, list)
	}
	return a
}

// points returns the cells along an axis of n voxels that are points: an even position is a voxel, an odd one the
// interval between two.
func points(n int64) (a axis) {
	for c := range 2*n - 1 {
		list := []int64{c / 2}
		if c%2 == 1 {
			list = append(list, c/2+1)
		}
		a.spans, a.voxels = append(a.spans, c%2 == 1), append(a.voxels, list)
	}
	return a
}

// newComplex returns the complex of an image. A cell enters with the first of its present voxels if voxels are top
// cells, and with the last one, if all are present, if they are vertices.
func newComplex(s grid.Shape, times []uint32, vertices bool) *complex {
	cellsOf := tops
	if vertices {
		cellsOf = points
	}
	z, y, x := cellsOf(s.D), cellsOf(s.H), cellsOf(s.W)
	if s.Dim() == 2 {
		z = points(1)
	}
	h, w := len(y.spans), len(x.spans)
	rank, c := ranks(times), &complex{}
	for at := range len(z.spans) * h * w {
		k, j, i := at/(h*w), at/w%h, at%w
		entry, ok := cell{at: at}, false
		absent := false
		for _, spans := range []bool{z.spans[k], y.spans[j], x.spans[i]} {
			if spans {
				entry.dim++
			}
		}
		for _, vz := range z.voxels[k] {
			for _, vy := range y.voxels[j] {
				for _, vx := range x.voxels[i] {
					v := (vz*s.H+vy)*s.W + vx
					if times[v] == pairs.Absent {
						absent = true
					} else if !ok || rank[v] < entry.rank != vertices {
						entry.rank, entry.voxel, ok = rank[v], uint32(v), true
					}
				}
			}
		}
		if ok && !(vertices && absent) {
			c.cells = append(c.cells, entry)
		}
	}
	slices.SortFunc(c.cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.dim, b.dim), cmp.Compare(a.at, b.at))
	})
	place := make([]uint32, len(z.spans)*h*w)
	for i, e := range c.cells {
		place[e.at] = uint32(i)
	}
	c.boundary = make([][]uint32, len(c.cells))
	for n, e := range c.cells {
		k, j, i := e.at/(h*w), e.at/w%h, e.at%w
		for _, side := range []struct {
			spans bool
			step  int
		}{{z.spans[k], h * w}, {y.spans[j], w}, {x.spans[i], 1}} {
			if side.spans {
				c.boundary[n] = append(c.boundary[n], place[e.at-side.step], place[e.at+side.step])
			}
		}
	}
	return c
}

// pairs returns the pairs of the voxels of cells, without those of voxels at one time.
func (c *complex) pairs(times []uint32) []pairs.Pair {
	list := []pairs.Pair{}
	const positive = -1
	death := slices.Repeat([]int{positive}, len(c.cells))
	low, _ := reduce(c.boundary)
	for n, row := range low {
		if row == none {
			continue
		}
		death[row], death[n] = n, n // n begins no class
	}
	for n, e := range c.cells {
		p := pairs.Pair{Dim: e.dim, Birth: int64(e.voxel), Death: pairs.Never}
		switch d := death[n]; {
		case d == n:
			continue
		case d != positive:
			if p.Death = int64(c.cells[d].voxel); times[p.Birth] == times[p.Death] {
				continue
			}
		}
		list = append(list, p)
	}
	slices.SortFunc(list, pairs.Pair.Compare)
	return list
}

// none is the pivot of a column without rows.
const none = -1

// reduce adds earlier columns to each column until no two have the same pivot, their greatest row. It changes the
// columns, whose rows it sorts from the greatest on. It returns the pivots, and the columns that were added to each.
func reduce(columns [][]uint32) (pivot []int, added [][]uint32) {
	pivot, added = make([]int, len(columns)), make([][]uint32, len(columns))
	owner := map[uint32]uint32{}
	for n, column := range columns {
		slices.SortFunc(column, func(a, b uint32) int { return cmp.Compare(b, a) })
		for pivot[n] = none; len(column) > 0; {
			by, ok := owner[column[0]]
			if !ok {
				pivot[n], owner[column[0]] = int(column[0]), uint32(n)
				break
			}
			column, added[n] = sum(column, columns[by]), append(added[n], by)
		}
		columns[n] = column
	}
	return pivot, added
}

// sum returns the rows that exactly one of two columns has.
func sum(a, b []uint32) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] > b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] < b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
