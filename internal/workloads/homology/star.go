package homology

import (
	"math/bits"
	"slices"
)

// A trie numbers sets of ascending vertices, as another set and a greater vertex. The empty set is
// number 0.
type trie struct {
	nodes   []node
	singles []uint32 // of each vertex alone the number, plus 1
	table   []uint32 // a hash table of the numbers of other sets, plus 1
}

type node struct{ parent, last uint32 }

// reset drops all sets except the empty one, and reserves room for the given number of sets of
// vertices below a number.
func (t *trie) reset(room, vertices int) {
	if t.singles == nil {
		t.singles = make([]uint32, vertices)
	}
	for _, n := range t.nodes {
		t.singles[n.last] = 0
	}
	t.resize(1 << bits.Len(uint(2*room)))
	t.nodes = append(t.nodes[:0], node{})
}

// resize clears the table and gives it the given size.
func (t *trie) resize(size int) {
	if size > cap(t.table) {
		t.table = make([]uint32, size)
	}
	t.table = t.table[:size]
	clear(t.table)
}

// place returns the place in the table of a set and a greater vertex. It is 0 if they have no number.
func (t *trie) place(n node) *uint32 {
	if n.parent == 0 {
		return &t.singles[n.last]
	}
	mask := uint64(len(t.table) - 1)
	at := (uint64(n.parent)<<32 | uint64(n.last)) * 0x9e3779b97f4a7c15 >> 32 & mask
	for {
		found := &t.table[at]
		if *found == 0 || t.nodes[*found-1] == n {
			return found
		}
		at = (at + 1) & mask
	}
}

// child returns the number of a set and a greater vertex, and whether it is new.
func (t *trie) child(parent, last uint32) (number uint32, added bool) {
	n := node{parent, last}
	place := t.place(n)
	if *place > 0 {
		return *place - 1, false
	}
	t.nodes = append(t.nodes, n)
	*place = uint32(len(t.nodes))
	if 2*len(t.nodes) > len(t.table) {
		t.resize(2 * len(t.table))
		for i, n := range t.nodes[1:] {
			*t.place(n) = uint32(i + 2)
		}
	}
	return uint32(len(t.nodes) - 1), true
}

// vertices appends the vertices of a set.
func (t *trie) vertices(number uint32, list []uint32) []uint32 {
	from := len(list)
	for ; number > 0; number = t.nodes[number].parent {
		list = append(list, t.nodes[number].last)
	}
	slices.Reverse(list[from:])
	return list
}

// A star is the simplices of a complex whose greatest vertex is a given one, its top. Coreductions
// (Mrozek and Batko 2009) pair them; simplices that stay alone are critical.
type star struct {
	trie             // the vertices of each cell below the top
	cells   []cell   // the first is the top itself
	links   []link   // of each cell its faces that have the top, by the vertex they lack
	removed []uint32 // critical cells, and the lesser one of each pair, in the order of removal
	queue   []uint32 // cells with one face left
	ids     []uint32 // scratch memory of add
}

// A link is a face of a cell.
type link struct {
	face, of uint32 // the face, and the cell that it is a face of
	next     uint32 // the next link of the same face, plus 1
}

// A cell is a simplex of a star.
type cell struct {
	faces     uint32 // the first of its links
	asFace    uint32 // the first link, plus 1, of this cell as a face
	rest      uint32 // exclusive or of the faces that are left
	partner   uint32 // itself if critical, alone before it is removed
	dim, left uint8  // left is the number of faces that are left
}

// alone is the partner of a cell that is not removed yet.
const alone = ^uint32(0)

// reset makes a star of its top alone, with room for a number of cells.
func (s *star) reset(room, vertices int) {
	s.trie.reset(room, vertices)
	s.cells = append(s.cells[:0], cell{partner: alone})
	s.links, s.removed, s.queue = s.links[:0], s.removed[:0], s.queue[:0]
}

// add adds the simplex of the top and ascending vertices below it, with its faces.
func (s *star) add(vertices []uint32) {
	if n := 1 << len(vertices); n > len(s.ids) {
		s.ids = make([]uint32, n)
	}
	for i, v := range vertices {
		bit := 1 << i
		for of := range bit { // a set of vertices before v
			id, added := s.child(s.ids[of], v)
			if s.ids[of|bit] = id; added {
				s.addCell(of | bit)
			}
		}
	}
}

// addCell adds the cell of a set of the vertices of add. Its faces are there.
func (s *star) addCell(set int) {
	own, n := uint32(len(s.cells)), uint8(bits.OnesCount(uint(set)))
	c := cell{faces: uint32(len(s.links)), partner: alone, dim: n, left: n}
	for rest := set; rest > 0; rest &= rest - 1 {
		face := s.ids[set&^(rest&-rest)]
		f := &s.cells[face]
		s.links = append(s.links, link{face, own, f.asFace})
		f.asFace = uint32(len(s.links))
		c.rest ^= face
	}
	s.cells = append(s.cells, c)
}

// facesOf returns the faces of a cell that have the top. Face k lacks vertex k.
func (s *star) facesOf(id uint32) []link {
	c := &s.cells[id]
	return s.links[c.faces:][:c.dim]
}

// isCritical reports whether a cell has a dimension and stays alone.
func (s *star) isCritical(id uint32, dim int) bool {
	return s.cells[id].partner == id && int(s.cells[id].dim) == dim
}

// pair removes all cells: a cell with one face left together with that face, as long as there is
// one, and else a critical cell of the least dimension.
func (s *star) pair() {
	for i := range s.cells {
		if s.cells[i].left == 1 {
			s.queue = append(s.queue, uint32(i))
		}
	}
	paired := s.drain(0)
	for dim := uint8(0); len(s.removed)+paired < len(s.cells); dim++ {
		for i := range s.cells {
			if c := &s.cells[i]; c.dim == dim && c.partner == alone {
				c.partner = uint32(i)
				s.removed = append(s.removed, uint32(i))
				s.remove(uint32(i))
				paired = s.drain(paired)
			}
		}
	}
}

// drain removes pairs, and returns their number.
func (s *star) drain(paired int) int {
	for len(s.queue) > 0 {
		id := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		c := &s.cells[id]
		if c.left != 1 || c.partner != alone {
			continue
		}
		face := c.rest
		c.partner, s.cells[face].partner = face, id
		s.removed = append(s.removed, face)
		paired++
		s.remove(face)
		s.remove(id)
	}
	return paired
}

func (s *star) remove(id uint32) {
	for at := s.cells[id].asFace; at > 0; {
		l := &s.links[at-1]
		c := &s.cells[l.of]
		c.rest ^= id
		if c.left--; c.left == 1 {
			s.queue = append(s.queue, l.of)
		}
		at = l.next
	}
}
