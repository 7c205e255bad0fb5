package duality

// A link contains the earlier neighbours of 64 voxels: one word of bits for each of the 27 places
// around them, z slowest and x fastest. The middle place is empty.
type link [27]uint64

// middle is the place of the voxel itself.
const middle = 13

// faces are the places that share a face with the voxel.
var faces = [6]int{4, 10, 12, 14, 16, 22}

// angles are the pairs of faces that share an edge, by index, with the place at that edge.
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

// touches reports whether a place is at a face or an edge.
var touches = func() (list [27]bool) {
	for _, k := range faces {
		list[k] = true
	}
	for _, t := range angles {
		list[t.edge] = true
	}
	return list
}()

// having lists, for each bit, the places whose number has the bit set.
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

// spread adds to each place the places that touch it.
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

// descents returns one place of each voxel's link as its descent. It is the place towards all faces
// whose opposite is not in the link, if that is in the link; this keeps descents short. Otherwise
// it is the first place.
func (l *link) descents() (only link) {
	var side [3][3]uint64 // along x, y and z: which one of the two faces the link contains
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

// first returns the first place of each voxel's link.
func (l *link) first() (only link) {
	var seen uint64
	for k := range l {
		only[k] = l[k] &^ seen
		seen |= l[k]
	}
	return only
}

// rest returns links without the component of the given places, and the voxels for which something
// is left. Places connect at faces, edges and corners.
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

// numbers returns the numbers of at most one place per voxel, bit by bit; the middle's number if
// there is none.
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

// A crown contains the six faces of 64 voxels, one word of bits each.
type crown [6]uint64

// first returns the first face of each voxel.
func (c *crown) first() (only crown) {
	var seen uint64
	for n := range c {
		only[n] = c[n] &^ seen
		seen |= c[n]
	}
	return only
}

// shortest returns a face of each voxel that is not open, if it has one, and the open voxels or those
// with a face. A face whose opposite is absent is preferred, so that descents are short.
func (c *crown) shortest(open uint64) (first crown, seen uint64) {
	for n := range c {
		first[n] = c[n] &^ c[5-n] &^ open
	}
	first, seen = first.first(), open
	for _, v := range first {
		seen |= v
	}
	for n, v := range c {
		first[n] |= v &^ seen
		seen |= v
	}
	return first, seen
}

// rest returns faces without the components of the given ones, and the voxels for which something
// is left. Faces connect where the place at their angle is present.
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

// numbers returns the numbers of at most one face per voxel, bit by bit.
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
