package morse

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
)

// A direction leads from a vertex along an edge: −z, −y, −x, +x, +y, +z. The other end of the edge has a greater index
// in a later direction, so this is the fixed order of edges.
const directions = 6

// opposite returns the reverse of a direction.
func opposite(d uint8) uint8 { return directions - 1 - d }

// axisOf is the axis of each direction, 0 for x.
var axisOf = [directions]uint8{2, 1, 0, 0, 1, 2}

// none is no direction, or no octant.
const none = 255

// A side is a square of a star, with the directions of its two edges at the vertex and the axis of its normal. Octants
// are the two that it divides.
type side struct {
	a, b, normal uint8
	octants      [2]uint8
}

const (
	squares = 12
	octants = 8
	// links is the number of lower links: subcomplexes of the octahedron.
	links = 15935
)

// octant returns the directions of an octant, along z, y and x.
func octant(t int) [3]uint8 {
	d := [3]uint8{0, 1, 2}
	for i := range d {
		if t>>(2-i)&1 > 0 {
			d[i] = opposite(d[i])
		}
	}
	return d
}

// sides lists the squares of a star in the fixed order: by their lowest corner, then by their normal.
var sides = func() (list [squares]side) {
	var all []side
	for a := range uint8(directions) {
		for b := range a {
			if b == opposite(a) {
				continue
			}
			s := side{a: b, b: a, normal: 3 - axisOf[a] - axisOf[b]}
			n := 0
			for t := range octants {
				if d := octant(t); slices.Contains(d[:], a) && slices.Contains(d[:], b) {
					s.octants[n] = uint8(t)
					n++
				}
			}
			all = append(all, s)
		}
	}
	lowest := func(s side) int { // in base 4, z first
		n := 0
		for _, d := range [2]uint8{s.a, s.b} {
			if d < directions/2 {
				n -= 1 << (2 * axisOf[d])
			}
		}
		return n
	}
	slices.SortFunc(all, func(s, t side) int {
		return cmp.Or(cmp.Compare(lowest(s), lowest(t)), cmp.Compare(s.normal, t.normal))
	})
	copy(list[:], all)
	return list
}()

// squareOf is the square of two directions, or none.
var squareOf = func() (of [directions][directions]uint8) {
	for a := range of {
		for b := range of[a] {
			of[a][b] = none
		}
	}
	for i, s := range sides {
		of[s.a][s.b], of[s.b][s.a] = uint8(i), uint8(i)
	}
	return of
}()

// An entry describes the cells of a star by its lower link. Its cells of each kind are in the fixed order.
//
// The first edge is paired with the vertex. The first edge of each further component of the link is critical. The dual
// graph has the cells of the highest dimension as nodes, and the regions of those of later stars. In the descending
// order of the cells between them, a cell that joins two regions is critical; one that joins other nodes is paired with
// one of them. In 3D the squares left over are a spanning forest of the link, which pairs edges with squares.
type entry struct {
	forest         uint64 // the forest of the link, from the roots on: linkBits for each edge, and their number at the top
	present, inner uint16 // squares of the star, and the subset paired with cubes
	critical       uint16 // critical cells of the dual graph
	first, edges   uint8  // the first edge, and the mask of critical edges
	rises          uint8  // an octant (or a quadrant) of a later star, or none
	joins          uint8  // number of critical cells of the dual graph
	cell           [7]uint8
	left, right    [7]uint8 // octants of the regions on both sides
}

// isCritical reports whether a star has critical edges or squares.
func (e *entry) isCritical() bool { return e.edges != 0 || e.joins != 0 }

// Bits of an edge of the forest: its end, the end that is closer to the root, and the square.
const (
	linkBits  = 10
	countFrom = 60
)

// A table has the entries of all lower links.
type table struct {
	entries []entry
	base    []uint16      // of each set of faces and squares: its entry without cubes
	full    [1 << 12]byte // octants with all three squares in a set
	pack    [256][256]uint8
	planar  [256]entry // of 2D: by faces −y, −x, +x, +y, then by quadrants
}

// lookUp returns the number of the entry of a set of faces, squares and octants that are earlier than a vertex.
func (t *table) lookUp(faces, squares, octants uint32) uint16 {
	squares &= uint32(allowed[faces])
	full := t.full[squares]
	return t.base[faces<<squaresBits|squares] + uint16(t.pack[full][octants])
}

const squaresBits = squares

// allowed is the set of squares whose two edges are in a set of faces.
var allowed = func() (to [1 << directions]uint16) {
	for faces := range to {
		for i, s := range sides {
			if faces>>s.a&1 > 0 && faces>>s.b&1 > 0 {
				to[faces] |= 1 << i
			}
		}
	}
	return to
}()

// tables returns the table, which is made once.
var tables = sync.OnceValue(newTable)

func newTable() *table {
	t := &table{entries: make([]entry, 0, links), base: make([]uint16, 1<<(directions+squaresBits))}
	for set := range t.full {
		t.full[set] = 1<<octants - 1
		for i, s := range sides {
			if set>>i&1 == 0 {
				t.full[set] &^= 1<<s.octants[0] | 1<<s.octants[1]
			}
		}
	}
	for mask := range t.pack {
		for v := range t.pack[mask] {
			t.pack[mask][v] = extract(uint8(v), uint8(mask))
		}
	}
	for faces := range uint32(1 << directions) {
		for squares := range uint32(1 << squaresBits) {
			if squares&^uint32(allowed[faces]) != 0 {
				continue
			}
			t.base[faces<<squaresBits|squares] = uint16(len(t.entries))
			for octants := 0; ; { // all subsets of those whose squares are present, ascending
				t.entries = append(t.entries, newEntry(uint8(faces), uint16(squares), uint8(octants)))
				full := int(t.full[squares])
				if octants = (octants - full) & full; octants == 0 {
					break
				}
			}
		}
	}
	for i := range t.planar {
		t.planar[i] = newPlanar(uint8(i&15<<1), uint8(i>>4))
	}
	return t
}

// extract returns the bits of a value at the ones of a mask, side by side.
func extract(v, mask uint8) (r uint8) {
	for n := 0; mask != 0; n++ {
		if v&mask&-mask != 0 {
			r |= 1 << n
		}
		mask &= mask - 1
	}
	return r
}

// unions is a union-find structure of at most eight nodes.
type unions [8]uint8

func newUnions() (u unions) {
	for i := range u {
		u[i] = uint8(i)
	}
	return u
}

func (u *unions) find(a uint8) uint8 {
	for u[a] != a {
		a = u[a]
	}
	return a
}

// join unites two nodes. The lower root stays.
func (u *unions) join(a, b uint8) bool {
	a, b = u.find(a), u.find(b)
	u[max(a, b)] = min(a, b)
	return a != b
}

// newEntry returns the entry of a lower link in 3D.
func newEntry(faces uint8, squares uint16, present uint8) entry {
	e := entry{present: squares}
	link, dual := newUnions(), newUnions()
	for i, s := range sides {
		if squares>>i&1 > 0 {
			link.join(s.a, s.b)
		} else {
			dual.join(s.octants[0], s.octants[1])
		}
	}
	e.findEdges(faces, &link)
	r := newRegions(&dual, present, octants)
	e.rises = r.any()
	rest := squares
	for i := squaresBits - 1; i >= 0; i-- {
		if squares>>i&1 == 0 {
			continue
		}
		joined, critical := r.join(&e, uint8(i), sides[i].octants)
		if joined {
			rest &^= 1 << i
		}
		if joined && !critical {
			e.inner |= 1 << i
		}
	}
	e.span(faces, rest, &link)
	return e
}

// findEdges finds the first edge and the critical ones.
func (e *entry) findEdges(faces uint8, link *unions) {
	e.first = none
	for d := range uint8(directions) {
		if faces>>d&1 == 0 || link.find(d) != d {
			continue
		}
		if e.first == none {
			e.first = d
		} else {
			e.edges |= 1 << d
		}
	}
}

// span lists the forest of the squares that are left over, from the roots on.
func (e *entry) span(faces uint8, squares uint16, link *unions) {
	n, seen := 0, uint8(0)
	var queue []uint8
	for d := range uint8(directions) {
		if faces>>d&1 > 0 && link.find(d) == d {
			queue, seen = append(queue, d), seen|1<<d
		}
	}
	for i := 0; i < len(queue); i++ {
		for d := range uint8(directions) {
			s := squareOf[queue[i]][d]
			if s == none || squares>>s&1 == 0 || seen>>d&1 > 0 {
				continue
			}
			e.forest |= uint64(uint16(d)|uint16(queue[i])<<3|uint16(s)<<6) << (n * linkBits)
			queue, seen, n = append(queue, d), seen|1<<d, n+1
		}
	}
	e.forest |= uint64(n) << countFrom
}

// regions are the nodes of the dual graph of a star, with an octant of a later star for each that has one.
type regions struct {
	*unions
	later [8]uint8
}

func newRegions(u *unions, present uint8, n int) regions {
	r := regions{unions: u}
	for i := range r.later {
		r.later[i] = none
	}
	for t := range n {
		if present>>t&1 == 0 {
			r.later[u.find(uint8(t))] = uint8(t)
		}
	}
	return r
}

// any returns an octant of a later star, or none.
func (r *regions) any() uint8 {
	i := slices.IndexFunc(r.later[:], func(t uint8) bool { return t != none })
	if i < 0 {
		return none
	}
	return r.later[i]
}

// join unites the two sides of a cell, which is critical if both have octants of later stars.
func (r *regions) join(e *entry, cell uint8, at [2]uint8) (joined, critical bool) {
	a, b := r.find(at[0]), r.find(at[1])
	if a == b {
		return false, false
	}
	left, right := r.later[a], r.later[b]
	if critical = left != none && right != none; critical {
		e.cell[e.joins], e.left[e.joins], e.right[e.joins] = cell, left, right
		e.critical |= 1 << cell
		e.joins++
	}
	r.unions.join(a, b)
	r.later[r.find(a)] = min(left, right)
	return true, critical
}

// newPlanar returns the entry of a lower link in 2D.
func newPlanar(faces, present uint8) entry {
	var e entry
	link, dual := newUnions(), newUnions()
	for t := range octants / 2 {
		d := octant(t)
		if faces>>d[1]&1 == 0 || faces>>d[2]&1 == 0 {
			present &^= 1 << t
		} else if present>>t&1 > 0 {
			link.join(d[1], d[2])
		}
	}
	e.findEdges(faces, &link)
	quadrants := func(d uint8) (at [2]uint8) {
		n := 0
		for t := range octants / 2 {
			if o := octant(t); o[1] == d || o[2] == d {
				at[n] = uint8(t)
				n++
			}
		}
		return at
	}
	for d := uint8(1); d < directions-1; d++ {
		if at := quadrants(d); faces>>d&1 == 0 {
			dual.join(at[0], at[1])
		}
	}
	r := newRegions(&dual, present, octants/2)
	e.rises = r.any()
	for d := uint8(directions - 2); d > 0; d-- {
		if faces>>d&1 > 0 {
			r.join(&e, d, quadrants(d))
		}
	}
	return e
}

// lowest returns the lowest bit of a mask.
func lowest(mask uint16) uint8 { return uint8(bits.TrailingZeros16(mask)) }
