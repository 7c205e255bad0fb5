package duality

// A link is the neighbours of 64 voxels that precede them: for each of the 27 places around
// them, z slowest and x fastest, a word of bits. The place in the middle has none.
type link [27]uint64

// middle is the place of the voxel itself.
const middle = 13

// faces are the places that share a face with it.
var faces = [6]int{4, 10, 12, 14, 16, 22}

// angles are the pairs of faces that share an edge, with the place there.
var angles = func() (list [12]struct{ a, b, edge int }) {
	n := 0
	for i, a := range faces {
		for _, b := range faces[i+1:] {
			if a+b != 2*middle {
				list[n] = struct{ a, b, edge int }{a, b, a + b - middle}
				n++
			}
		}
	}
	return list
}()

// spread adds to each place those that touch it.
func (l *link) spread() {
	for i := 0; i < 27; i += 3 {
		a, b, c := l[i], l[i+1], l[i+2]
		ab := a | b
		l[i], l[i+1], l[i+2] = ab, ab|c, b|c
	}
	for i := 0; i < 27; i += 9 {
		for k := i; k < i+3; k++ {
			a, b, c := l[k], l[k+3], l[k+6]
			ab := a | b
			l[k], l[k+3], l[k+6] = ab, ab|c, b|c
		}
	}
	for k := range 9 {
		a, b, c := l[k], l[k+9], l[k+18]
		ab := a | b
		l[k], l[k+9], l[k+18] = ab, ab|c, b|c
	}
}

// first is the first place of each voxel's link, in the bits of its number, and the voxels
// that have none, whose number is that of the middle. A number has two bits for each of x, y
// and z, of places 0 to 2.
func (l *link) first() (only link, number [placeBits]uint64, none uint64) {
	var seen, x1, x2, y1, y2, z1, z2 uint64
	for row := 0; row < 27; row += 3 {
		a := l[row] &^ seen
		seen |= a
		b := l[row+1] &^ seen
		seen |= b
		c := l[row+2] &^ seen
		seen |= c
		only[row], only[row+1], only[row+2] = a, b, c
		some := a | b | c
		x1, x2 = x1|b, x2|c
		switch row / 3 % 3 {
		case 1:
			y1 |= some
		case 2:
			y2 |= some
		}
		switch row / 9 {
		case 1:
			z1 |= some
		case 2:
			z2 |= some
		}
	}
	none = ^seen
	return only, [placeBits]uint64{x1 | none, x2, y1 | none, y2, z1 | none, z2}, none
}

// rest is what is left of links without the component of one place each, where places touch
// at faces, edges and corners; and the voxels that have a rest.
func (l *link) rest(of link) (rest link, some uint64) {
	for {
		next := of
		next.spread()
		var changed uint64
		some = 0
		for k := range l {
			v := next[k] & l[k]
			changed |= v ^ of[k]
			of[k], rest[k] = v, l[k]&^v
			some |= rest[k]
		}
		if changed == 0 || some == 0 {
			return rest, some
		}
	}
}

// restOfFaces is what is left of the faces of links without the components of some of them,
// where those meet whose edge is there, too; and the voxels that have a rest.
func (l *link) restOfFaces(of link) (rest [6]uint64, some uint64) {
	var meet [len(angles)]uint64
	for i, t := range angles {
		meet[i] = l[t.a] & l[t.b] & l[t.edge]
	}
	for {
		var changed uint64
		for i, t := range angles {
			a, b := of[t.a], of[t.b]
			of[t.a], of[t.b] = a|b&meet[i], b|a&meet[i]
			changed |= (a ^ b) & meet[i]
		}
		some = 0
		for i, k := range faces {
			rest[i] = l[k] &^ of[k]
			some |= rest[i]
		}
		if changed == 0 || some == 0 {
			return rest, some
		}
	}
}

// The columns of 27 bits at the ends of x, y and z.
const (
	leastX, greatestX = 0b001001001001001001001001001, 0b100100100100100100100100100
	leastY, greatestY = 0b000000111000000111000000111, 0b111000000111000000111000000
)

// component is that of the first place of a set of places.
func component(set uint32) uint32 {
	of := set & -set
	for {
		v := of | of&^greatestX<<1 | of&^leastX>>1
		v |= v&^greatestY<<3 | v&^leastY>>3
		v = (v | v<<9 | v>>9) & set
		if v == of {
			return of
		}
		of = v
	}
}
