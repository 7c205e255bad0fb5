package chains

import "slices"

// The cells of a star are numbered: 6 edges, 12 squares, 8 cubes. A cell is a direction from the vertex, along one, two
// or three axes. Edges and squares are in the order of the numbers of cells of the whole box.
const (
	edges   = 6
	squares = 12
	cubes   = 8
	cells   = edges + squares + cubes
)

// stars has the directions of cells, their faces in the star, and the cells on both sides of a wall.
var stars = newGeometry()

type geometry struct {
	direction   [cells][3]int
	squareEdges [squares][2]uint8
	cubeSquares [cubes]uint16       // bits
	allowed     [1 << edges]uint16  // squares with both edges
	filled      [1 << squares]uint8 // cubes with three squares
	square      [3][4]uint8         // by normal axis, and the corner of the square at the vertex
	space       [squares][2]uint8   // the cubes of a square
	plane       [edges][2]uint8     // the squares of an edge in a plane
}

func newGeometry() *geometry {
	g := &geometry{}
	copy(g.direction[:], [][3]int{{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}})
	var flat, deep [][3]int
	for i := range 27 {
		switch o := [3]int{i%3 - 1, i/3%3 - 1, i/9 - 1}; o[0]*o[0] + o[1]*o[1] + o[2]*o[2] {
		case 2:
			flat = append(flat, o)
		case 3:
			deep = append(deep, o)
		}
	}
	slices.SortFunc(flat, func(a, b [3]int) int { return slices.Compare(numbered(a), numbered(b)) })
	copy(g.direction[edges:], flat)
	copy(g.direction[edges+squares:], deep)
	for s, o := range flat {
		normal := slices.Index(o[:], 0)
		u, v := (normal+1)%3, (normal+2)%3
		if u > v {
			u, v = v, u
		}
		g.squareEdges[s] = [2]uint8{edgeTo(u, o[u]), edgeTo(v, o[v])}
		corner := 0
		if o[u] < 0 {
			corner |= 1
		}
		if o[v] < 0 {
			corner |= 2
		}
		g.square[normal][corner] = uint8(s)
		if normal == 2 {
			g.plane[edgeTo(u, o[u])][max(0, o[v])] = uint8(s)
			g.plane[edgeTo(v, o[v])][max(0, o[u])] = uint8(s)
		}
		for c, d := range deep {
			if d[u] == o[u] && d[v] == o[v] {
				g.space[s][max(0, d[normal])] = uint8(c)
				g.cubeSquares[c] |= 1 << s
			}
		}
	}
	for e := range g.allowed {
		for s, of := range g.squareEdges {
			if e>>of[0]&1 > 0 && e>>of[1]&1 > 0 {
				g.allowed[e] |= 1 << s
			}
		}
	}
	for s := range g.filled {
		for c, of := range g.cubeSquares {
			if uint16(s)&of == of {
				g.filled[s] |= 1 << c
			}
		}
	}
	return g
}

// numbered orders the squares of a star as cells of a box: by their lowest corner, then by the axis of the normal.
func numbered(o [3]int) []int {
	return []int{min(o[2], 0), min(o[1], 0), min(o[0], 0), slices.Index(o[:], 0)}
}

// edgeTo returns the edge of a star along an axis.
func edgeTo(axis, sign int) uint8 {
	if sign < 0 {
		return uint8(2 - axis)
	}
	return uint8(3 + axis)
}

// A link describes the forests of a star, so far as its own cells decide them. Its cells are bits of a state.
type link struct {
	first uint8   // the first edge, which is of the forest; edges if there is none
	more  []uint8 // the first edge of each other component of the link: of the forest if it joins components
	trees uint16  // walls of the dual forest for certain
	meets []meet  // walls of the dual forest if they join components, in descending order
}

// A meet is a wall between parts of the star that meet cells of later stars, and such a cell of either part.
type meet struct{ wall, a, b uint8 }

// links has the links that have occurred, by state. There are 15,935 in 3D.
type links struct {
	n    int      // axes
	slot []uint64 // a state in the upper half, and the number of its link + 1
	list []link
}

func newLinks(n int) *links { return &links{n: n, slot: make([]uint64, 1<<8)} }

// of returns the link of a state.
func (l *links) of(state uint32) *link {
	at := l.find(state)
	if l.slot[at] == 0 {
		if 2*len(l.list) >= len(l.slot) {
			old := l.slot
			l.slot = make([]uint64, 4*len(old))
			for _, s := range old {
				if s != 0 {
					l.slot[l.find(uint32(s>>32))] = s
				}
			}
			at = l.find(state)
		}
		l.list = append(l.list, newLink(state, l.n))
		l.slot[at] = uint64(state)<<32 | uint64(len(l.list))
	}
	return &l.list[uint32(l.slot[at])-1]
}

// find returns the slot of a state, or a free one.
func (l *links) find(state uint32) uint32 {
	mask := uint32(len(l.slot) - 1)
	at := state * 0x9e3779b1 >> 12 & mask
	for l.slot[at&mask] != 0 && uint32(l.slot[at&mask]>>32) != state {
		at++
	}
	return at & mask
}

// newLink walks over the cells of a star.
func newLink(state uint32, n int) link {
	l := link{first: edges}
	var of parts
	of.init(edges)
	for s, e := range stars.squareEdges {
		if state>>(edges+s)&1 > 0 {
			of.join(e[0], e[1])
		}
	}
	seen := 0
	for e := range uint8(edges) {
		if state>>e&1 == 0 || seen>>of.find(e)&1 > 0 {
			continue
		}
		seen |= 1 << of.find(e)
		if l.first == edges {
			l.first = e
		} else {
			l.more = append(l.more, e)
		}
	}
	if n == 2 {
		l.walls(state>>1&15<<1, state>>edges, squares, stars.plane[:])
	} else {
		l.walls(state>>edges&(1<<squares-1), state>>(edges+squares), cubes, stars.space[:])
	}
	return l
}

// walls makes the dual forest of the star. Its nodes are the top cells of the star, and the parts of top cells of later
// stars, which walls of later stars join. Walls are squares, or edges of a 2D image.
func (l *link) walls(walls, tops uint32, n int, sides [][2]uint8) {
	var of parts
	of.init(n)
	later := func(top uint8) bool { return tops>>top&1 == 0 } // a part with cells of later stars has one as its root
	for w, s := range sides {
		if walls>>w&1 == 0 {
			of.join(s[0], s[1])
		}
	}
	for w := len(sides) - 1; w >= 0; w-- {
		a, b := of.find(sides[w][0]), of.find(sides[w][1])
		switch {
		case a == b:
		case !later(a):
			l.trees |= 1 << w
			of.join(a, b)
		case !later(b):
			l.trees |= 1 << w
			of.join(b, a)
		default:
			l.meets = append(l.meets, meet{uint8(w), a, b})
			of.join(a, b)
		}
	}
}

// parts is a union-find structure of the cells of a star.
type parts [squares]uint8

func (p *parts) init(n int) {
	for i := range n {
		p[i] = uint8(i)
	}
}

func (p *parts) find(i uint8) uint8 {
	for p[i] != i {
		i = p[i]
	}
	return i
}

func (p *parts) join(a, b uint8) { p[p.find(a)] = p.find(b) }
