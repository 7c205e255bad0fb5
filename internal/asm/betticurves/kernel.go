package betticurves

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Layout as in the package: lanes are vectors, there are 27 places, and results are in the same
// order.
const (
	lane     = 64 // bytes
	middle   = 13
	minimaAt = 0
	layersAt = minimaAt + lane
	moreAt   = layersAt + 3*lane
	faceBit  = 5 // in the byte of a voxel
)

var faces = [6]int{4, 10, 12, 14, 16, 22}

// A kernel writes functions of an instruction set. With AVX2 a call takes half a group, and lists of vectors are in
// memory.
type kernel struct{ ISA }

// zeros returns empty vectors. The exclusive or of a vector with itself would count as a use of it.
func (k kernel) zeros(n int) (list []VecVirtual) {
	x := GP64()
	XORQ(x, x)
	var from Op = x
	if k.Bytes == 32 {
		from = New(XMM, VMOVQ, x)
	}
	for range n {
		list = append(list, New(k.Wide, VPBROADCASTQ, from))
	}
	return list
}

// keep returns a vector, which is in memory with AVX2.
func (k kernel) keep(v VecVirtual, m Mem) Op {
	if k.Bytes == 64 {
		return v
	}
	k.Move(v, m)
	return m
}

// reg returns a vector in a register.
func (k kernel) reg(v Op) VecVirtual {
	if r, ok := v.(VecVirtual); ok {
		return r
	}
	return k.Copy(v)
}

// ternary computes one of the functions of three vectors below, in the last one.
func (k kernel) ternary(f U8, c, b Op, a VecVirtual) {
	if k.Bytes == 64 {
		VPTERNLOGQ(f, c, b, a)
		return
	}
	switch f {
	case A & B & C:
		k.And(b, a, a)
		k.And(c, a, a)
	case ^A & B & C:
		k.And(b, k.AndNot(c, a), a)
	case A | B | C:
		k.Or(b, a, a)
		k.Or(c, a, a)
	case A | (B ^ C):
		v := YMM()
		k.Xor(c, b, v)
		k.Or(v, a, a)
	case A | C&^B:
		k.Or(k.AndNot(c, b), a, a)
	case (A ^ B) & C:
		k.Xor(b, a, a)
		k.And(c, a, a)
	case A | ^C:
		k.Or(k.AndNot(k.Ones(), c), a, a)
	default:
		panic("not a function of this list")
	}
}

// test compares a vector with 0.
func (k kernel) test(v VecVirtual) {
	if k.Bytes == 32 {
		VPTEST(v, v)
		return
	}
	m := New(K, VPTESTMQ, v, v)
	KORTESTB(m, m)
}

// links writes findLinks.
func (k kernel) links() {
	Func("links"+k.Name, "func(link, here, next, masks *uint64, apart, row, plane int, before, behind uint64)",
		"finds the links of a vector of words: see findLinks. Distances are of bytes.")
	link, here, next, apart, row, plane := Arg("link"), Arg("here"), Arg("next"), Arg("apart"), Arg("row"), Arg("plane")
	back := New(GP64, MOVQ, row)
	NEGQ(back)
	masks := Arg("masks")
	var in [9]VecVirtual
	for i := range in {
		if i > 0 {
			ADDQ(plane, masks)
		}
		in[i] = k.Copy(Mem{Base: masks})
	}
	before, behind := k.Broadcast("before", 8), k.Broadcast("behind", 8)
	k.Move(in[4], Mem{Base: link, Disp: lane * middle})
	for at := range middle {
		if at > 0 {
			Advance(apart, here, next)
		}
		v := k.Copy(Mem{Base: here})
		if at < 9 {
			k.ternary(A&B&C, in[at%9], before, v)
		} else {
			k.And(in[at%9], v, v)
		}
		k.Move(v, Mem{Base: link, Disp: lane * at})
		// A later neighbour precedes the voxel unless the voxel is not above it, seen from there.
		at := 26 - at
		m := Mem{Base: here}
		if at >= 18 {
			m.Base = next
		}
		switch at / 3 % 3 {
		case 0:
			m = m.Idx(back, 1)
		case 2:
			m = m.Idx(row, 1)
		}
		v = k.Copy(m)
		switch {
		case at%3 == 1:
		case k.Bytes == 64 && at%3 == 0:
			VPSHLDQ(Imm(1), m.Offset(-8), v, v)
		case k.Bytes == 64:
			VPSHRDQ(Imm(1), m.Offset(8), v, v)
		case at%3 == 0:
			VPSLLQ(Imm(1), v, v)
			k.Or(New(YMM, VPSRLQ, Imm(63), k.Copy(m.Offset(-8))), v, v)
		default:
			VPSRLQ(Imm(1), v, v)
			k.Or(New(YMM, VPSLLQ, Imm(63), k.Copy(m.Offset(8))), v, v)
		}
		if at >= 18 {
			k.ternary(^A&B&C, in[at%9], behind, v)
		} else {
			v = k.AndNot(in[at%9], v)
		}
		k.Move(v, Mem{Base: link, Disp: lane * at})
	}
	End()
}

// A number is one vector per bit.
type number []VecVirtual

// add gives some voxels a number.
func (k kernel) add(n number, value int, voxels Op) {
	for bit, v := range n {
		if value>>bit&1 == 1 {
			k.Or(voxels, v, v)
		}
	}
}

// bytes writes numbers as bytes from a bit on. With keep, the bytes keep their other bits.
func (k kernel) bytes(n number, scratch Mem, to Register, from int, keep bool) {
	for bit, v := range n {
		k.Move(v, scratch.Offset(lane*bit))
	}
	var ones []VecVirtual
	for bit := range n {
		x := New(GP32, MOVL, U32(1<<(from+bit)))
		if k.Bytes == 64 {
			ones = append(ones, New(ZMM, VPBROADCASTB, x))
		} else {
			ones = append(ones, New(YMM, VPBROADCASTB, New(XMM, VMOVD, x)))
		}
	}
	if k.Bytes == 32 {
		bytes256(n, ones, scratch, to, keep)
		return
	}
	for i := range 8 {
		at := Mem{Base: to, Disp: lane * i}
		v := ZMM()
		if keep {
			VMOVDQU64(at, v)
		}
		for bit, one := range ones {
			with := New(K, KMOVQ, scratch.Offset(lane*bit+8*i))
			if bit == 0 && !keep {
				VMOVDQU8_Z(one, with, v)
			} else {
				VPADDB(one, v, with, v)
			}
		}
		k.Move(v, at)
	}
}

// bytes256 does so with AVX2: each byte of a vector selects its bit of a copy of 32 bits.
func bytes256(n number, ones []VecVirtual, scratch Mem, to Register, keep bool) {
	spread := New(YMM, VMOVDQU, Table("spread", 0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303))
	single := New(YMM, VPBROADCASTQ, New(XMM, VMOVQ, New(GP64, MOVQ, U64(0x8040201008040201))))
	for i := range 8 {
		at := Mem{Base: to, Disp: 32 * i}
		var v VecVirtual
		if keep {
			v = AVX2.Copy(at)
		}
		for bit, one := range ones {
			w := New(YMM, VPBROADCASTD, scratch.Offset(lane*bit+4*i))
			VPSHUFB(spread, w, w)
			VPAND(single, w, w)
			VPCMPEQB(single, w, w)
			VPAND(one, w, w)
			if v == nil {
				v = w
			} else {
				VPOR(w, v, v)
			}
		}
		AVX2.Move(v, at)
	}
}

// scratchAt is where the bits of numbers are in the scratch memory, after two lists of 27 places; another list follows.
const scratchAt, wideAt = lane * 54, lane * 59

// set writes scanSet.
func (k kernel) set() {
	Func("set"+k.Name, "func(link, work *uint64, found, place, to *byte) int",
		"scans a vector of words for what is found in the set, and returns the number of rounds: see scanSet.")
	link, work, found, to := Arg("link"), Arg("work"), Arg("found"), Arg("to")
	only := func(at int) Mem { return Mem{Base: work, Disp: lane * at} }
	left := func(at int) Mem { return Mem{Base: work, Disp: lane * (27 + at)} }
	wide := func(at int) Mem { return Mem{Base: work, Disp: wideAt + lane*at} }
	here := func(at int) Mem { return Mem{Base: link, Disp: lane * at} }

	var sides [3][3]Op
	for axis, face := range [3]int{1, 3, 9} {
		a, b := k.Copy(here(middle-face)), k.Copy(here(middle+face))
		both := k.Wide()
		k.Xor(a, b, both)
		both = k.AndNot(k.Ones(), both)
		for i, v := range [3]VecVirtual{k.AndNot(a, b), both, k.AndNot(b, a)} {
			sides[axis][i] = k.keep(v, left(3*axis+i))
		}
	}
	none := k.zeros(5)
	some, seen, layers := none[0], none[1], none[2:]
	row := k.Wide()
	for at := range 27 {
		if at%3 == 0 {
			k.Move(sides[2][at/9], row)
			k.And(sides[1][at/3%3], row, row)
		}
		if at == middle {
			continue
		}
		v := k.Copy(here(at))
		k.Or(v, some, some)
		for axis, normal := range [3]int{at / 9, at / 3 % 3, at % 3} {
			if normal == 1 {
				k.Or(v, layers[axis], layers[axis])
			}
		}
		k.ternary(A&B&C, sides[0][at%3], row, v)
		k.Or(v, seen, seen)
		k.Move(v, only(at))
	}
	mask := k.Copy(here(middle))
	k.Move(k.AndNot(mask, some), Mem{Base: found, Disp: minimaAt})
	for axis, v := range layers {
		k.Move(k.AndNot(mask, v), Mem{Base: found, Disp: layersAt + lane*axis})
	}
	scratch := Mem{Base: work, Disp: scratchAt}
	n := number(k.zeros(5))
	for at := range 27 {
		if at == middle {
			continue
		}
		v := k.Copy(here(at))
		first := k.AndNot(v, seen)
		k.Or(v, seen, seen)
		k.Or(only(at), first, first)
		k.Move(first, only(at))
		k.add(n, at, first)
	}
	for bit, v := range n {
		if middle>>bit&1 == 1 {
			k.ternary(A|^C, some, some, v)
		}
	}
	k.bytes(n, scratch, to, 0, false)

	rounds := GP64()
	base := New(GP64, MOVQ, link)
	more := New(GP64, LEAQ, Mem{Base: found, Disp: moreAt})
	place := Arg("place")
	XORQ(rounds, rounds)
	Label("flood")
	of := func(at int) Mem { return Mem{Base: base, Disp: lane * at} }
	three := func(a, b, c VecVirtual) {
		k.Or(b, a, a)
		k.Or(b, c, c)
		k.Or(a, c, b)
	}
	var v [27]Op
	for z := 0; z < 27; z += 9 {
		var plane [9]VecVirtual
		for i := range plane {
			if z+i != middle {
				plane[i] = k.Copy(only(z + i))
			} else {
				plane[i] = k.zeros(1)[0]
			}
		}
		for i := 0; i < 9; i += 3 {
			three(plane[i], plane[i+1], plane[i+2])
		}
		for i := range 3 {
			three(plane[i], plane[i+3], plane[i+6])
		}
		for i, p := range plane {
			v[z+i] = k.keep(p, wide(z+i))
		}
	}
	none = k.zeros(2)
	some, changed := none[0], none[1]
	for column := range 9 {
		a, b, c := k.reg(v[column]), k.reg(v[column+9]), k.reg(v[column+18])
		three(a, b, c)
		for i, next := range [3]VecVirtual{a, b, c} {
			at := column + 9*i
			if at == middle {
				continue
			}
			k.And(of(at), next, next)
			k.ternary(A|(B^C), only(at), next, changed)
			k.ternary(A|C&^B, of(at), next, some)
			k.Move(next, only(at))
		}
	}
	k.test(some)
	JZ(LabelRef("done"))
	k.test(changed)
	JNZ(LabelRef("flood"))
	k.Move(some, Mem{Base: more})
	none = k.zeros(6)
	n, seen = none[:5], none[5]
	for at := range 27 {
		if at == middle {
			continue
		}
		v := k.AndNot(of(at), k.Copy(only(at)))
		k.Move(v, left(at))
		first := k.AndNot(v, seen)
		k.Or(v, seen, seen)
		k.Move(first, only(at))
		k.add(n, at, first)
	}
	LEAQ(left(0), base)
	k.bytes(n, scratch, place, 0, false)
	ADDQ(I32(lane), more)
	ADDQ(I32(8*lane), place)
	INCQ(rounds)
	JMP(LabelRef("flood"))
	Label("done")
	End(rounds)
}

// around writes scanAround.
func (k kernel) around() {
	Func("around"+k.Name, "func(link, masks *uint64, plane int, before, behind, outBefore, outBehind uint64, "+
		"work *uint64, found, place, to *byte) int",
		"scans a vector of words for what is found around the set, and returns the number of rounds: see scanAround. A "+
			"plane of masks has so many bytes.")
	link, masks, plane, work := Arg("link"), Arg("masks"), Arg("plane"), Arg("work")
	held := func(at int) Mem { return Mem{Base: work, Disp: lane * at} }
	voxels := Mem{Base: link, Disp: lane * middle}
	// Masks of three rows, inside and outside.
	var rows [2][3]GPVirtual
	for i := range 6 {
		r := GP64()
		rows[i/3][i%3] = r
		if i == 0 {
			MOVQ(masks, r)
			continue
		}
		LEAQ(Mem{Base: rows[(i-1)/3][(i-1)%3], Index: plane, Scale: 1}, r)
		Advance(plane, r, r)
	}
	of := func(which, at int) Mem {
		m := Mem{Base: rows[which][at/3%3]}
		if at%3 > 0 {
			m = m.Idx(plane, uint8(at%3))
		}
		return m
	}
	var in, out [3]VecVirtual
	planes := func() {
		for i, side := range [2]string{"efore", "ehind"} {
			in[2*i], out[2*i] = k.Broadcast("b"+side, 8), k.Broadcast("outB"+side, 8)
			k.And(voxels, out[2*i], out[2*i])
		}
	}
	up := func(at int) VecVirtual {
		v := k.Copy(Mem{Base: link, Disp: lane * at})
		if z := at / 9; z != 1 {
			k.ternary(^A&B&C, of(0, at), in[z], v)
			k.ternary(A|B|C, of(1, at), out[z], v)
		} else {
			v = k.AndNot(of(0, at), v)
			k.Or(of(1, at), v, v)
		}
		return v
	}
	planes()
	var face [6]Op
	var only [6]VecVirtual
	none := k.zeros(2)
	some, open := none[0], none[1]
	for n, at := range faces {
		v := up(at)
		face[n], only[n] = k.keep(v, held(n)), k.Copy(of(1, at))
		if z := at / 9; z != 1 {
			k.Or(out[z], only[n], only[n])
		}
		k.Or(v, some, some)
		k.Or(only[n], open, open)
	}
	found := Arg("found")
	mask := k.Copy(voxels)
	k.Move(k.AndNot(mask, some), Mem{Base: found, Disp: minimaAt})
	for axis, f := range [3][4]int{{1, 2, 3, 4}, {0, 2, 3, 5}, {0, 1, 4, 5}} {
		v := k.Copy(face[f[0]])
		k.Or(face[f[1]], v, v)
		k.ternary(A|B|C, face[f[2]], face[f[3]], v)
		k.Move(k.AndNot(mask, v), Mem{Base: found, Disp: layersAt + lane*axis})
	}
	// First the faces whose opposite is absent, then any face.
	seen := k.Copy(open)
	var first [6]Op
	for n := range first {
		v := k.AndNot(face[n], k.reg(face[5-n]))
		first[n] = k.keep(k.AndNot(v, seen), held(6+n))
		k.Or(v, seen, seen)
	}
	n := number(k.zeros(3))
	for i := range first {
		v := k.AndNot(face[i], seen)
		k.Or(v, seen, seen)
		k.Or(first[i], v, v)
		k.add(n, i, v)
		k.Or(v, only[i], only[i])
	}
	k.add(n, 6, open)
	for _, v := range n {
		k.ternary(A|^C, seen, seen, v)
	}
	scratch, to := Mem{Base: work, Disp: scratchAt}, Arg("to")
	k.bytes(n, scratch, to, faceBit, true)
	type pair struct {
		a, b int
		meet Op
	}
	var angles []pair
	planes()
	for a := range faces {
		for b := a + 1; b < 6; b++ {
			if a+b == 5 {
				continue
			}
			v := up(faces[a] + faces[b] - middle)
			k.ternary(A&B&C, face[a], face[b], v)
			angles = append(angles, pair{a, b, k.keep(v, held(12+len(angles)))})
		}
	}
	rounds := GP64()
	more := New(GP64, LEAQ, Mem{Base: found, Disp: moreAt})
	place := Arg("place")
	XORQ(rounds, rounds)
	Label("flood")
	none = k.zeros(2)
	changed, some := none[0], none[1]
	for _, p := range angles {
		both := k.Copy(only[p.a])
		k.ternary((A^B)&C, p.meet, only[p.b], both)
		k.Or(both, only[p.a], only[p.a])
		k.Or(both, only[p.b], only[p.b])
		k.Or(both, changed, changed)
	}
	for n := range face {
		k.ternary(A|C&^B, face[n], only[n], some)
	}
	k.test(some)
	JZ(LabelRef("done"))
	k.test(changed)
	JNZ(LabelRef("flood"))
	k.Move(some, Mem{Base: more})
	none = k.zeros(4)
	n, seen = none[:3], none[3]
	for i := range face {
		v := k.AndNot(face[i], only[i])
		k.Move(v, face[i])
		k.Move(k.AndNot(v, seen), only[i])
		k.Or(v, seen, seen)
		k.add(n, i, only[i])
	}
	k.bytes(n, scratch, place, 0, false)
	ADDQ(I32(lane), more)
	ADDQ(I32(8*lane), place)
	INCQ(rounds)
	JMP(LabelRef("flood"))
	Label("done")
	End(rounds)
}
