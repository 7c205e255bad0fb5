package definition

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/pairs"
)

// A box is the 3D image whose filtration with voxels as vertices has the pairs of an image: the image, or its dual with
// a layer around it. See doc/proofs/pairs.md.
type box struct {
	side, step [3]int64 // along x, y and z
	rank       []uint32 // the place of each vertex in their order
}

// newBox returns the box of an image. In the dual image, times and positions are reversed, and the layer and absent
// voxels are the first.
func newBox(s grid.Shape, times []uint32, vertices bool) *box {
	if vertices {
		return &box{[3]int64{s.W, s.H, s.D}, [3]int64{1, s.W, s.W * s.H}, ranks(times)}
	}
	o := pairs.Box(s)
	keys := make([]uint32, o.Voxels())
	for v, time := range times {
		z, y, x := s.Coordinates(int64(v))
		keys[((s.D-z)*o.H+s.H-y)*o.W+s.W-x] = math.MaxUint32 - time
	}
	return &box{[3]int64{o.W, o.H, o.D}, [3]int64{1, o.W, o.W * o.H}, ranks(keys)}
}

// place returns the position of a vertex along an axis.
func (b *box) place(v int64, axis int) int64 { return v / b.step[axis] % b.side[axis] }

// last returns the rank of the last vertex of the cell at a corner that spans some axes, or false if there is none.
func (b *box) last(corner int64, axes ...int) (uint32, bool) {
	list := []int64{corner}
	for _, axis := range axes {
		if b.place(corner, axis) == b.side[axis]-1 {
			return 0, false
		}
		for _, v := range list {
			list = append(list, v+b.step[axis])
		}
	}
	rank := uint32(0)
	for _, v := range list {
		rank = max(rank, b.rank[v])
	}
	return rank, true
}

// A face is an edge or a square: the rank of its last vertex, its order among those of this vertex, and its number.
type face struct {
	star   uint32
	order  int64
	number uint32
}

// faces returns the edges of a box in order, or its squares.
func (b *box) faces(squares bool) (list []face) {
	for v := range int64(len(b.rank)) {
		for axis := range 3 {
			f := face{number: uint32(3*v) + uint32(axis)}
			ok := false
			if squares {
				f.order = int64(f.number)
				f.star, ok = b.last(v, (axis+1)%3, (axis+2)%3)
			} else if f.star, ok = b.last(v, axis); ok {
				if f.order = v; b.rank[v] == f.star { // the other end is the first
					f.order += b.step[axis]
				}
			}
			if ok {
				list = append(list, f)
			}
		}
	}
	slices.SortFunc(list, func(a, b face) int {
		return cmp.Or(cmp.Compare(a.star, b.star), cmp.Compare(a.order, b.order))
	})
	return list
}

// sides returns the two vertices of an edge, or the two cubes of a square by their lowest corners. The outside is one
// more than the vertices.
func (b *box) sides(f face, square bool) (int64, int64) {
	corner, axis := int64(f.number/3), int(f.number%3)
	if !square {
		return corner, corner + b.step[axis]
	}
	after, before := int64(len(b.rank)), int64(len(b.rank))
	if b.place(corner, axis) < b.side[axis]-1 {
		after = corner
	}
	if b.place(corner, axis) > 0 {
		before = corner - b.step[axis]
	}
	return after, before
}

// withoutForest returns the faces that join no two components, in the order of the list.
func (b *box) withoutForest(list []face, squares bool) []face {
	parent := make([]int64, len(b.rank)+1)
	for i := range parent {
		parent[i] = int64(i)
	}
	find := func(i int64) int64 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	return slices.DeleteFunc(list, func(f face) bool {
		p, q := b.sides(f, squares)
		p, q = find(p), find(q)
		parent[p] = q
		return p != q
	})
}

// chains reduces the boundaries of the squares that are in no dual forest, without the edges of the forest.
func (b *box) chains() (*pairs.Chains, error) {
	edges := b.withoutForest(b.faces(false), false)
	squares := b.faces(true)
	slices.Reverse(squares)
	squares = b.withoutForest(squares, true)
	slices.Reverse(squares)
	row := map[uint32]uint32{}
	for i, e := range edges {
		row[e.number] = uint32(i)
	}
	columns := make([][]uint32, len(squares))
	for i, s := range squares {
		corner, normal := int64(s.number/3), int64(s.number%3)
		for _, turn := range []int64{1, 2} { // edges along one axis of the square, at both ends of the other
			along, other := (normal+turn)%3, (normal+3-turn)%3
			for _, at := range []int64{corner, corner + b.step[other]} {
				if r, ok := row[uint32(3*at+along)]; ok {
					columns[i] = append(columns[i], r)
				}
			}
		}
	}
	pivot, added := reduce(columns)
	c := &pairs.Chains{Words: []uint32{}}
	for i, s := range squares {
		if pivot[i] == none {
			return nil, fmt.Errorf("square %d bounds nothing, but only those of the dual forest do", s.number)
		}
		c.Words = append(c.Words, s.number, uint32(len(added[i])))
		c.Words = append(c.Words, added[i]...)
		c.Words = append(c.Words, 0, uint32(len(columns[i])))
		for _, r := range columns[i] {
			c.Words = append(c.Words, edges[r].number)
		}
	}
	if len(squares) != len(edges) {
		return nil, fmt.Errorf("%d squares reduce %d edges, but a box has no tunnels", len(squares), len(edges))
	}
	return c, nil
}
