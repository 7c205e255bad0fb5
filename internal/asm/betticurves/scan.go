package betticurves

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// scratchAt is where the bits of numbers are in the work memory, after two lists of 27 places; another list follows.
const scratchAt, wideAt = lane * 54, lane * 59

// A scan has the registers of a function that finds the components around each voxel of a vector of words.
type scan struct {
	kernel
	link, work, found Register
}

// here returns the memory of the links to a place.
func (s *scan) here(at int) Mem { return Mem{Base: s.link, Disp: lane * at} }

// held returns the memory of a vector of the scan.
func (s *scan) held(at int) Mem { return Mem{Base: s.work, Disp: lane * at} }

// numbers writes numbers as bytes: see kernel.bytes.
func (s *scan) numbers(n number, to Register, from int, keep bool) {
	s.bytes(n, s.held(scratchAt/lane), to, from, keep)
}

// rounds writes the end of a scan. In each round, spread adds to the component of the last round until nothing changes.
// It returns the voxels with a further component, and a vector that is 0 if nothing changed. rest begins that
// component, and returns its places.
func (s *scan) rounds(spread func() (some, changed VecVirtual), rest func() number) {
	rounds := GP64()
	more := New(GP64, LEAQ, Mem{Base: s.found, Disp: moreAt})
	place := Arg("place")
	XORQ(rounds, rounds)
	Label("flood")
	some, changed := spread()
	s.test(some)
	JZ(LabelRef("done"))
	s.test(changed)
	JNZ(LabelRef("flood"))
	s.Move(some, Mem{Base: more})
	s.numbers(rest(), place, 0, false)
	ADDQ(I32(lane), more)
	ADDQ(I32(8*lane), place)
	INCQ(rounds)
	JMP(LabelRef("flood"))
	Label("done")
	End(rounds)
}

// A setScan is a scan of the set.
type setScan struct{ scan }

// only returns the memory of the component of each voxel, by places, and left of the links in no component yet.
func (s *setScan) only(at int) Mem { return s.held(at) }
func (s *setScan) left(at int) Mem { return s.held(27 + at) }

// set writes scanSet.
func (k kernel) set() {
	Func("set"+k.Name, "func(link, work *uint64, found, place, to *byte) int",
		"scans a vector of words for what is found in the set, and returns the number of rounds: see scanSet.")
	s := &setScan{scan{kernel: k, link: Arg("link"), work: Arg("work"), found: Arg("found")}}
	to := Arg("to")
	some, seen := s.minima()
	s.numbers(s.first(some, seen), to, 0, false)
	s.rounds(s.spread, s.rest)
}

// sides returns for each axis the voxels with a link at the first side alone, at both or at none, and at the last side
// alone.
func (s *setScan) sides() (sides [3][3]Op) {
	for axis, face := range [3]int{1, 3, 9} {
		a, b := s.Copy(s.here(middle-face)), s.Copy(s.here(middle+face))
		both := s.Wide()
		s.Xor(a, b, both)
		both = s.AndNot(s.Ones(), both)
		for i, v := range [3]VecVirtual{s.AndNot(a, b), both, s.AndNot(b, a)} {
			sides[axis][i] = s.keep(v, s.left(3*axis+i))
		}
	}
	return sides
}

// minima stores the voxels that are minima in the image or in a layer, and the links whose opposites are absent. It
// returns the voxels with a link, and those with one of these.
func (s *setScan) minima() (some, seen VecVirtual) {
	sides := s.sides()
	none := s.zeros(5)
	some, seen = none[0], none[1]
	layers, row := none[2:], s.Wide()
	for at := range 27 {
		if at%3 == 0 {
			s.Move(sides[2][at/9], row)
			s.And(sides[1][at/3%3], row, row)
		}
		if at == middle {
			continue
		}
		v := s.Copy(s.here(at))
		s.Or(v, some, some)
		for axis, normal := range [3]int{at / 9, at / 3 % 3, at % 3} {
			if normal == 1 {
				s.Or(v, layers[axis], layers[axis])
			}
		}
		s.Ternary(A&B&C, sides[0][at%3], row, v)
		s.Or(v, seen, seen)
		s.Move(v, s.only(at))
	}
	mask := s.Copy(s.here(middle))
	s.Move(s.AndNot(mask, some), Mem{Base: s.found, Disp: minimaAt})
	for axis, v := range layers {
		s.Move(s.AndNot(mask, v), Mem{Base: s.found, Disp: layersAt + lane*axis})
	}
	return some, seen
}

// first stores the first component of each voxel, and returns the place that it begins at: the middle for a voxel
// without links.
func (s *setScan) first(some, seen VecVirtual) number {
	n := number(s.zeros(5))
	for at := range 27 {
		if at == middle {
			continue
		}
		v := s.Copy(s.here(at))
		first := s.AndNot(v, seen)
		s.Or(v, seen, seen)
		s.Or(s.only(at), first, first)
		s.Move(first, s.only(at))
		s.add(n, at, first)
	}
	for bit, v := range n {
		if middle>>bit&1 == 1 {
			s.Ternary(A|^C, some, some, v)
		}
	}
	return n
}

// widened returns each voxel's component with all places around it in its plane.
func (s *setScan) widened() (v [27]Op) {
	for z := 0; z < 27; z += 9 {
		var plane [9]VecVirtual
		for i := range plane {
			if z+i != middle {
				plane[i] = s.Copy(s.only(z + i))
			} else {
				plane[i] = s.zeros(1)[0]
			}
		}
		for i := 0; i < 9; i += 3 {
			s.three(plane[i], plane[i+1], plane[i+2])
		}
		for i := range 3 {
			s.three(plane[i], plane[i+3], plane[i+6])
		}
		for i, p := range plane {
			v[z+i] = s.keep(p, Mem{Base: s.work, Disp: wideAt + lane*(z+i)})
		}
	}
	return v
}

// three adds the middle one of three vectors to the others, and both to it.
func (s *setScan) three(a, b, c VecVirtual) {
	s.Or(b, a, a)
	s.Or(b, c, c)
	s.Or(a, c, b)
}

// spread adds the links around those of each voxel's component to it.
func (s *setScan) spread() (some, changed VecVirtual) {
	v := s.widened()
	none := s.zeros(2)
	some, changed = none[0], none[1]
	for column := range 9 {
		a, b, c := s.reg(v[column]), s.reg(v[column+9]), s.reg(v[column+18])
		s.three(a, b, c)
		for i, next := range [3]VecVirtual{a, b, c} {
			at := column + 9*i
			if at == middle {
				continue
			}
			s.And(s.here(at), next, next)
			s.Ternary(A|(B^C), s.only(at), next, changed)
			s.Ternary(A|C&^B, s.here(at), next, some)
			s.Move(next, s.only(at))
		}
	}
	return some, changed
}

// rest begins a component at the first of the links that are in no component yet. From then on, link has these links.
func (s *setScan) rest() number {
	none := s.zeros(6)
	n, seen := number(none[:5]), none[5]
	for at := range 27 {
		if at == middle {
			continue
		}
		v := s.AndNot(s.here(at), s.Copy(s.only(at)))
		s.Move(v, s.left(at))
		first := s.AndNot(v, seen)
		s.Or(v, seen, seen)
		s.Move(first, s.only(at))
		s.add(n, at, first)
	}
	LEAQ(s.left(0), s.link)
	return n
}

// An aroundScan is a scan of the background, which the outside of the image belongs to.
type aroundScan struct {
	scan
	plane      Register
	rows       [2][3]GPVirtual // of masks: inside and outside
	in, out    [3]VecVirtual
	some, open VecVirtual    // with a neighbour at a face, with one outside
	face       [6]Op         // neighbours at faces
	only       [6]VecVirtual // those in the component
	angles     []angle
}

// An angle is two faces that meet, and the voxels with the neighbour between them.
type angle struct {
	a, b int
	meet Op
}

// around writes scanAround.
func (k kernel) around() {
	Func("around"+k.Name, "func(link, masks *uint64, plane int, before, behind, outBefore, outBehind uint64, "+
		"work *uint64, found, place, to *byte) int",
		"scans a vector of words for the voxels around the set, and returns the number of rounds: see scanAround. A "+
			"plane of masks has plane bytes.")
	s := &aroundScan{scan: scan{kernel: k, link: Arg("link")}}
	masks := Arg("masks")
	s.plane, s.work = Arg("plane"), Arg("work")
	for i := range 6 {
		r := GP64()
		s.rows[i/3][i%3] = r
		if i == 0 {
			MOVQ(masks, r)
			continue
		}
		LEAQ(Mem{Base: s.rows[(i-1)/3][(i-1)%3], Index: s.plane, Scale: 1}, r)
		Advance(s.plane, r, r)
	}
	s.planes()
	s.minima()
	n := s.first()
	to := Arg("to")
	s.numbers(n, to, faceBit, true)
	s.meet()
	s.rounds(s.spread, s.rest)
}

// planes loads the masks of the planes before and behind.
func (s *aroundScan) planes() {
	for i, side := range [2]string{"efore", "ehind"} {
		s.in[2*i], s.out[2*i] = s.Broadcast("b"+side, 8), s.Broadcast("outB"+side, 8)
		s.And(s.here(middle), s.out[2*i], s.out[2*i])
	}
}

// mask returns the memory of the masks of a place, inside (0) or outside (1).
func (s *aroundScan) mask(which, at int) Mem {
	m := Mem{Base: s.rows[which][at/3%3]}
	if at%3 > 0 {
		m = m.Idx(s.plane, uint8(at%3))
	}
	return m
}

// up returns the voxels whose neighbour at a place precedes them.
func (s *aroundScan) up(at int) VecVirtual {
	v := s.Copy(s.here(at))
	if z := at / 9; z != 1 {
		s.Ternary(^A&B&C, s.mask(0, at), s.in[z], v)
		s.Ternary(A|B|C, s.mask(1, at), s.out[z], v)
	} else {
		v = s.AndNot(s.mask(0, at), v)
		s.Or(s.mask(1, at), v, v)
	}
	return v
}

// minima loads the neighbours at faces, and stores the voxels that are minima in the image or in a layer.
func (s *aroundScan) minima() {
	none := s.zeros(2)
	s.some, s.open = none[0], none[1]
	for n, at := range faces {
		v := s.up(at)
		s.face[n], s.only[n] = s.keep(v, s.held(n)), s.Copy(s.mask(1, at))
		if z := at / 9; z != 1 {
			s.Or(s.out[z], s.only[n], s.only[n])
		}
		s.Or(v, s.some, s.some)
		s.Or(s.only[n], s.open, s.open)
	}
	s.found = Arg("found")
	mask := s.Copy(s.here(middle))
	s.Move(s.AndNot(mask, s.some), Mem{Base: s.found, Disp: minimaAt})
	for axis, f := range [3][4]int{{1, 2, 3, 4}, {0, 2, 3, 5}, {0, 1, 4, 5}} {
		v := s.Copy(s.face[f[0]])
		s.Or(s.face[f[1]], v, v)
		s.Ternary(A|B|C, s.face[f[2]], s.face[f[3]], v)
		s.Move(s.AndNot(mask, v), Mem{Base: s.found, Disp: layersAt + lane*axis})
	}
}

// first begins the first component of each voxel, and returns its face: one whose opposite is absent if there is one,
// 6 for the outside, and 7 for none.
func (s *aroundScan) first() number {
	seen := s.Copy(s.open)
	var first [6]Op
	for n := range first {
		v := s.AndNot(s.face[n], s.reg(s.face[5-n]))
		first[n] = s.keep(s.AndNot(v, seen), s.held(6+n))
		s.Or(v, seen, seen)
	}
	n := number(s.zeros(3))
	for i := range first {
		v := s.AndNot(s.face[i], seen)
		s.Or(v, seen, seen)
		s.Or(first[i], v, v)
		s.add(n, i, v)
		s.Or(v, s.only[i], s.only[i])
	}
	s.add(n, 6, s.open)
	for _, v := range n {
		s.Ternary(A|^C, seen, seen, v)
	}
	return n
}

// meet loads the angles.
func (s *aroundScan) meet() {
	s.planes()
	for a := range faces {
		for b := a + 1; b < 6; b++ {
			if a+b == 5 {
				continue
			}
			v := s.up(faces[a] + faces[b] - middle)
			s.Ternary(A&B&C, s.face[a], s.face[b], v)
			s.angles = append(s.angles, angle{a, b, s.keep(v, s.held(12+len(s.angles)))})
		}
	}
}

// spread adds the faces beyond angles to each voxel's component.
func (s *aroundScan) spread() (some, changed VecVirtual) {
	none := s.zeros(2)
	changed, some = none[0], none[1]
	for _, p := range s.angles {
		both := s.Copy(s.only[p.a])
		s.Ternary((A^B)&C, p.meet, s.only[p.b], both)
		s.Or(both, s.only[p.a], s.only[p.a])
		s.Or(both, s.only[p.b], s.only[p.b])
		s.Or(both, changed, changed)
	}
	for n := range s.face {
		s.Ternary(A|C&^B, s.face[n], s.only[n], some)
	}
	return some, changed
}

// rest begins a component at the first of the faces that are in no component yet.
func (s *aroundScan) rest() number {
	none := s.zeros(4)
	n, seen := number(none[:3]), none[3]
	for i := range s.face {
		v := s.AndNot(s.face[i], s.only[i])
		s.Move(v, s.face[i])
		s.Move(s.AndNot(v, seen), s.only[i])
		s.Or(v, seen, seen)
		s.add(n, i, s.only[i])
	}
	return n
}
