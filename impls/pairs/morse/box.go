package morse

import (
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// A box is the image whose V filtration gives the pairs, in a layer of pads that are later than every vertex.
//
// In construction V it is the image. In construction T it is the dual image: mirrored, with a layer of vertices that
// are earlier than all, and the times reversed (doc/proofs/pairs.md). A vertex is named by its index in the padded box.
type box struct {
	dim      int
	dual     bool // construction T
	shape    grid.Shape
	w, h, d  uint32 // of the padded box; d is 1 in 2D
	last     uint32 // key of the pads
	absent   uint32 // key of vertices that are no voxel
	key      []uint32
	star     []uint16 // entry of each vertex
	entries  []entry
	off      [directions]int
	far      [squares]int // the vertex of each square opposite to its star's
	corner   [octants][]int
	critical []uint64 // vertices whose star has critical cells, below their keys, ascending
	shift    uint     // of the key in a name of a star
}

// newBox returns the box of the times of an image.
func newBox(s grid.Shape, times []uint32, levels int64, c ecc.Convention) *box {
	b := &box{dim: s.Dim(), dual: !c.Vertices, shape: s, last: uint32(levels + 1), absent: uint32(levels)}
	around := uint32(1)
	if b.dual {
		around, b.absent = 2, 0
	}
	b.w, b.h, b.d = uint32(s.W)+2*around, uint32(s.H)+2*around, 1
	if b.dim == 3 {
		b.d = uint32(s.D) + 2*around
	}
	row, plane := int(b.w), int(b.w)*int(b.h)
	b.off = [directions]int{-plane, -row, -1, 1, row, plane}
	b.shift = shiftOf(plane * int(b.d))
	for i, q := range sides {
		b.far[i] = b.off[q.a] + b.off[q.b]
	}
	for t := range b.corner {
		d := octant(t)
		x, y, z := b.off[d[2]], b.off[d[1]], b.off[d[0]]
		if b.corner[t] = []int{x, y, x + y}; b.dim == 3 {
			b.corner[t] = append(b.corner[t], z, x+z, y+z, x+y+z)
		}
	}
	b.fill(times, uint32(levels))
	return b
}

// fill sets the keys of the padded box.
func (b *box) fill(times []uint32, levels uint32) {
	b.key = make([]uint32, int(b.w)*int(b.h)*int(b.d))
	for i := range b.key {
		b.key[i] = b.last
	}
	if b.dual {
		for row := range b.rows() {
			clear(b.key[row : row+int(b.w)-2])
		}
	}
	n := int(b.shape.W)
	for i := 0; i < len(times); i += n {
		first := b.vertex(int64(i))
		to := b.key[first:]
		if b.dual {
			to = b.key[first-n+1:]
		}
		for x, t := range times[i : i+n] {
			switch {
			case b.dual && t == pairs.Absent:
				to[n-1-x] = 0
			case b.dual:
				to[n-1-x] = levels - t
			default:
				to[x] = min(t, levels)
			}
		}
	}
}

// rows iterates over the first vertices of the rows.
func (b *box) rows() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for z := range b.planes() {
			for y := 1; y < int(b.h)-1; y++ {
				if !yield((z*int(b.h)+y)*int(b.w) + 1) {
					return
				}
			}
		}
	}
}

// planes iterates over the planes between the pads.
func (b *box) planes() func(yield func(int) bool) {
	lo, hi := 0, 1
	if b.dim == 3 {
		lo, hi = 1, int(b.d)-1
	}
	return func(yield func(int) bool) {
		for z := lo; z < hi && yield(z); z++ {
		}
	}
}

// vertex returns the vertex of a voxel.
func (b *box) vertex(voxel int64) int {
	z, y, x := b.shape.Coordinates(voxel)
	if b.dual {
		z, y, x = b.shape.D-z+1, b.shape.H-y+1, b.shape.W-x+1
	} else {
		z, y, x = z+1, y+1, x+1
	}
	if b.dim == 2 {
		z = 0
	}
	return (int(z)*int(b.h)+int(y))*int(b.w) + int(x)
}

// voxel returns the voxel of a vertex that is one.
func (b *box) voxel(v uint32) int64 {
	row := v / b.w
	z, y, x := int64(row/b.h), int64(row%b.h), int64(v%b.w)
	s := b.shape
	if b.dual {
		z, y, x = s.D-z+1, s.H-y+1, s.W-x+1
	} else {
		z, y, x = z-1, y-1, x-1
	}
	if b.dim == 2 {
		z = 0
	}
	return (z*s.H+y)*s.W + x
}

// index returns the index of a vertex on the box without pads.
func (b *box) index(v uint32) uint32 {
	row := v / b.w
	z, y, x := row/b.h, row%b.h, v%b.w
	return ((z-1)*(b.h-2)+y-1)*(b.w-2) + x - 1
}

// isLater reports whether a vertex comes after another one.
func (b *box) isLater(v, than int) bool {
	if k, l := b.key[v], b.key[than]; k != l {
		return k > l
	}
	return v > than
}

// name returns the key and the vertex as a number in the order of vertices, with room for the number of a cell.
func (b *box) name(v int) uint64 { return uint64(b.key[v])<<(b.shift&63) | uint64(v)<<cellBits }

// vertexOf returns the vertex of a name.
func (b *box) vertexOf(name uint64) int { return int(name & (1<<(b.shift&63) - 1) >> cellBits) }

// cellBits are the bits of a cell in the name of its star.
const cellBits = 4

// latest returns the latest vertex of the cell of the highest dimension at an octant of a vertex, or 0 if it is not in
// the box.
func (b *box) latest(v int, octant uint8) int {
	last := v
	for _, off := range b.corner[octant] {
		if b.isLater(v+off, last) {
			last = v + off
		}
	}
	if b.key[last] == b.last {
		return outside
	}
	return last
}

// outside is the name of a pad, for all of them.
const outside = 0

// findStars finds the lower link of each vertex, and lists the critical stars in order.
func (b *box) findStars(threads int) {
	b.star = make([]uint16, len(b.key))
	t := tables()
	find := t.findRow
	if b.entries = t.entries; b.dim == 2 {
		b.entries, find = t.planar[:], t.findPlanarRow
	}
	rows := slices.Collect(b.rows())
	lists := make([][]uint64, min(threads, len(rows)))
	crew.Each(len(lists), func(i int) {
		var list []uint64
		for _, row := range rows[len(rows)*i/len(lists) : len(rows)*(i+1)/len(lists)] {
			find(b, row)
			for v := row; v < row+int(b.w)-2; v++ {
				if b.entries[b.star[v]].isCritical() {
					list = append(list, b.name(v))
				}
			}
		}
		lists[i] = list
	})
	b.critical = sortFrom(slices.Concat(lists...), b.shift)
}

// findRow finds the links of a row. Neighbours of a lower index are earlier if they are not above.
func (t *table) findRow(b *box, row int) {
	n := int(b.w) - 2
	for v := row; v < row+n; v++ {
		at := uint64(b.key[v])
		earlier := func(off int) uint32 {
			limit := at
			if off < 0 {
				limit++
			}
			return uint32((uint64(b.key[v+off]) - limit) >> 63)
		}
		faces := uint32(0)
		for d, off := range b.off {
			faces |= earlier(off) << d
		}
		var set, cubes uint32
		possible := allowed[faces]
		for rest := possible; rest != 0; rest &= rest - 1 {
			i := lowest(rest)
			set |= earlier(b.far[i]) << i
		}
		full := t.full[set]
		for rest := full; rest != 0; rest &= rest - 1 {
			i := lowest(uint16(rest))
			cubes |= earlier(b.corner[i&7][6]) << i
		}
		b.star[v] = t.base[faces<<squaresBits|set] + uint16(t.pack[full][cubes])
	}
}

// findPlanarRow finds the links of a row in 2D.
func (t *table) findPlanarRow(b *box, row int) {
	for v := row; v < row+int(b.w)-2; v++ {
		link := uint16(0)
		for i, off := range [8]int{b.off[1], b.off[2], b.off[3], b.off[4], b.corner[0][2], b.corner[1][2], b.corner[2][2],
			b.corner[3][2]} {
			limit := uint64(b.key[v])
			if off < 0 {
				limit++
			}
			link |= uint16((uint64(b.key[v+off])-limit)>>63) << i
		}
		b.star[v] = link
	}
}
