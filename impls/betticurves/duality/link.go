package duality

// A link is the neighbours of 64 voxels that precede them: for each of the 27 places around
// them, z slowest and x fastest, a word of bits. The place in the middle has none.
type link [27]uint64

// middle is the place of the voxel itself.
const middle = 13

// faces are the places that share a face with it.
var faces = [6]int{4, 10, 12, 14, 16, 22}

// angles are the pairs of faces that share an edge, by their numbers, with the place there.
var angles = func() (list [12]struct{ a, b, edge int }) {
	n := 0
	for i, a := range faces {
		for k, b := range faces[i+1:] {
			if a+b != 2*middle {
				list[n] = struct{ a, b, edge int }{i, i + 1 + k, a + b - middle}
				n++
			}
		}
	}
	return list
}()

// touches says whether a place is at a face or an edge.
var touches = func() (list [27]bool) {
	for _, k := range faces {
		list[k] = true
	}
	for _, t := range angles {
		list[t.edge] = true
	}
	return list
}()

// having are the places whose number has a bit.
var having = func() (list [placeBits][]uint8) {
	for k := range uint8(27) {
		for bit := range list {
			if k != middle && k>>bit&1 == 1 {
				list[bit] = append(list[bit], k)
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

// descents returns one place of each voxel's link, to which the voxel descends: where the link is
// deepest, as the faces have it, if that is in the link, so that ways are short, else the
// first one.
func (l *link) descents() (only link) {
	var side [3][3]uint64 // along x, y and z: the link has the one face and not the other
	for axis, face := range [3]int{1, 3, 9} {
		before, after := l[middle-face], l[middle+face]
		side[axis] = [3]uint64{before &^ after, ^(before ^ after), after &^ before}
	}
	var seen uint64
	for k := range l {
		only[k] = l[k] & side[0][k%3] & side[1][k/3%3] & side[2][k/9]
		seen |= only[k]
	}
	for k := range l {
		only[k] |= l[k] &^ seen
		seen |= l[k]
	}
	return only
}

// first is the first place of each voxel's link.
func (l *link) first() (only link) {
	var seen uint64
	for k := range l {
		only[k] = l[k] &^ seen
		seen |= l[k]
	}
	return only
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

// numbers are those of one place of each voxel at most, bit by bit, or the middle's.
func (l *link) numbers() (number [placeBits]uint64) {
	none := ^uint64(0)
	for _, v := range l {
		none &^= v
	}
	for bit, places := range having {
		for _, k := range places {
			number[bit] |= l[k]
		}
		if middle>>bit&1 == 1 {
			number[bit] |= none
		}
	}
	return number
}

// A crown is the faces of 64 voxels, and what is there.
type crown [6]uint64

// first is the first face of each voxel.
func (c *crown) first() (only crown) {
	var seen uint64
	for n := range c {
		only[n] = c[n] &^ seen
		seen |= c[n]
	}
	return only
}

// rest is what is left of the faces without the components of some of them, where two meet
// whose angle is there; and the voxels that have a rest.
func (c *crown) rest(of crown, angle *[len(angles)]uint64) (rest crown, some uint64) {
	for {
		var changed uint64
		for i, t := range angles {
			both := (of[t.a] ^ of[t.b]) & angle[i] & c[t.a] & c[t.b]
			of[t.a] |= both
			of[t.b] |= both
			changed |= both
		}
		some = 0
		for n := range c {
			rest[n] = c[n] &^ of[n]
			some |= rest[n]
		}
		if changed == 0 || some == 0 {
			return rest, some
		}
	}
}

// numbers are those of one face of each voxel at most, bit by bit.
func (c *crown) numbers() (number [faceBits]uint64) {
	for n, v := range c {
		for bit := range number {
			if n>>bit&1 == 1 {
				number[bit] |= v
			}
		}
	}
	return number
}
