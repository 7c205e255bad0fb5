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
	placeAt  = moreAt + 7*lane
	roundsAt = placeAt + 7*8*lane
	faceBit  = 5 // in the byte of a voxel
)

var faces = [6]int{4, 10, 12, 14, 16, 22}

func load(m Mem) VecVirtual {
	return New(ZMM, VMOVDQU64, m)
}

func store(v Op, m Mem) { VMOVDQU64(v, m) }

// zeros returns empty vectors. The exclusive or of a vector with itself would count as a use of it.
func zeros(n int) (list []VecVirtual) {
	x := GP64()
	XORQ(x, x)
	for range n {
		v := New(ZMM, VPBROADCASTQ, x)
		list = append(list, v)
	}
	return list
}

// andNot computes a &^ b.
func andNot(a Op, b VecVirtual) VecVirtual {
	return New(ZMM, VPANDNQ, a, b)
}

// ifNone jumps if a vector is 0, ifSome if it is not.
func ifNone(v Op, label string) {
	k := New(K, VPTESTMQ, v, v)
	KORTESTB(k, k)
	JZ(LabelRef(label))
}

func ifSome(v Op, label string) {
	k := New(K, VPTESTMQ, v, v)
	KORTESTB(k, k)
	JNZ(LabelRef(label))
}

// links writes findLinks.
func links() {
	Func("linksavx512", "func(link, here, next, masks *uint64, apart, row, plane int, before, behind uint64)",
		"finds the links of a group: see findLinks. Distances are of bytes.")
	link, here, next, apart, row, plane := Arg("link"), Arg("here"), Arg("next"), Arg("apart"), Arg("row"), Arg("plane")
	back := New(GP64, MOVQ, row)
	NEGQ(back)
	masks := Arg("masks")
	var in [9]VecVirtual
	for k := range in {
		if k > 0 {
			ADDQ(plane, masks)
		}
		in[k] = load(Mem{Base: masks})
	}
	before, behind := AVX512.Broadcast("before", 8), AVX512.Broadcast("behind", 8)
	store(in[4], Mem{Base: link, Disp: lane * middle})
	for k := range middle {
		if k > 0 {
			Advance(apart, here, next)
		}
		v := load(Mem{Base: here})
		if k < 9 {
			VPTERNLOGQ(A&B&C, in[k%9], before, v)
		} else {
			VPANDQ(in[k%9], v, v)
		}
		store(v, Mem{Base: link, Disp: lane * k})
		// A later neighbour precedes the voxel unless the voxel is not above it, seen from there.
		k := 26 - k
		m := Mem{Base: here}
		if k >= 18 {
			m.Base = next
		}
		switch k / 3 % 3 {
		case 0:
			m = m.Idx(back, 1)
		case 2:
			m = m.Idx(row, 1)
		}
		v = load(m)
		switch k % 3 {
		case 0:
			VPSHLDQ(Imm(1), m.Offset(-8), v, v)
		case 2:
			VPSHRDQ(Imm(1), m.Offset(8), v, v)
		}
		if k >= 18 {
			VPTERNLOGQ(^A&B&C, in[k%9], behind, v)
		} else {
			VPANDNQ(in[k%9], v, v)
		}
		store(v, Mem{Base: link, Disp: lane * k})
	}
	End()
}

// A number is one vector per bit.
type number []VecVirtual

func newNumber(bits int) number { return zeros(bits) }

// add gives some voxels a number.
func (n number) add(number int, voxels Op) {
	for bit, v := range n {
		if number>>bit&1 == 1 {
			VPORQ(voxels, v, v)
		}
	}
}

// bytes writes numbers as bytes from a bit on. With keep, the bytes keep their other bits.
func (n number) bytes(scratch, to Register, from int, keep bool) {
	for bit, v := range n {
		store(v, Mem{Base: scratch, Disp: lane * bit})
	}
	var ones []VecVirtual
	for bit := range n {
		x := New(GP32, MOVL, U32(1<<(from+bit)))
		v := New(ZMM, VPBROADCASTB, x)
		ones = append(ones, v)
	}
	for i := range 8 {
		at := Mem{Base: to, Disp: lane * i}
		v := ZMM()
		if keep {
			VMOVDQU64(at, v)
		}
		for bit, one := range ones {
			k := New(K, KMOVQ, Mem{Base: scratch, Disp: lane*bit + 8*i})
			if bit == 0 && !keep {
				VMOVDQU8_Z(one, k, v)
			} else {
				VPADDB(one, v, k, v)
			}
		}
		store(v, at)
	}
}

// set writes scanSet.
func set() {
	Func("setavx512", "func(link, work *uint64, found, to *byte)",
		"scans a group for what is found in the set: see scanSet.")
	link, work, found, to := Arg("link"), Arg("work"), Arg("found"), Arg("to")
	only := func(k int) Mem { return Mem{Base: work, Disp: lane * k} }
	left := func(k int) Mem { return Mem{Base: work, Disp: lane * (27 + k)} }
	scratch := New(GP64, LEAQ, Mem{Base: work, Disp: lane * 54})
	here := func(k int) Mem { return Mem{Base: link, Disp: lane * k} }

	var sides [3][3]VecVirtual
	for axis, face := range [3]int{1, 3, 9} {
		a, b := load(here(middle-face)), load(here(middle+face))
		both := New(ZMM, VMOVDQA64, a)
		VPTERNLOGQ(^(A ^ C), b, b, both)
		sides[axis] = [3]VecVirtual{andNot(a, b), both, andNot(b, a)}
	}
	none := zeros(5)
	some, seen, layers := none[0], none[1], none[2:]
	row := ZMM()
	for k := range 27 {
		if k%3 == 0 {
			VPANDQ(sides[2][k/9], sides[1][k/3%3], row)
		}
		if k == middle {
			continue
		}
		v := load(here(k))
		VPORQ(v, some, some)
		for axis, normal := range [3]int{k / 9, k / 3 % 3, k % 3} {
			if normal == 1 {
				VPORQ(v, layers[axis], layers[axis])
			}
		}
		VPTERNLOGQ(A&B&C, row, sides[0][k%3], v)
		VPORQ(v, seen, seen)
		store(v, only(k))
	}
	mask := load(here(middle))
	store(andNot(mask, some), Mem{Base: found, Disp: minimaAt})
	for axis, v := range layers {
		store(andNot(mask, v), Mem{Base: found, Disp: layersAt + lane*axis})
	}
	n := newNumber(5)
	for k := range 27 {
		if k == middle {
			continue
		}
		v := load(here(k))
		first := andNot(v, seen)
		VPORQ(v, seen, seen)
		VPORQ(only(k), first, first)
		store(first, only(k))
		n.add(k, first)
	}
	for bit, v := range n {
		if middle>>bit&1 == 1 {
			VPTERNLOGQ(A|^C, some, some, v)
		}
	}
	n.bytes(scratch, to, 0, false)

	rounds := GP64()
	base := New(GP64, MOVQ, link)
	more := New(GP64, LEAQ, Mem{Base: found, Disp: moreAt})
	place := New(GP64, LEAQ, Mem{Base: found, Disp: placeAt})
	XORQ(rounds, rounds)
	Label("flood")
	of := func(k int) Mem { return Mem{Base: base, Disp: lane * k} }
	var v [27]VecVirtual
	for i := 0; i < 27; i += 3 {
		a, b, c := load(only(i)), ZMM(), load(only(i+2))
		if i+1 == middle {
			VPORQ(a, c, b)
		} else {
			VMOVDQU64(only(i+1), b)
			VPORQ(b, a, a)
			VPORQ(b, c, c)
			VPORQ(a, c, b)
		}
		v[i], v[i+1], v[i+2] = a, b, c
	}
	three := func(a, b, c VecVirtual) {
		VPORQ(b, a, a)
		VPORQ(b, c, c)
		VPORQ(a, c, b)
	}
	for k := range 27 {
		if k/3%3 == 0 {
			three(v[k], v[k+3], v[k+6])
		}
	}
	for k := range 9 {
		three(v[k], v[k+9], v[k+18])
	}
	none = zeros(2)
	some, changed := none[0], none[1]
	for k, next := range v {
		if k == middle {
			continue
		}
		VPANDQ(of(k), next, next)
		VPTERNLOGQ(A|(B^C), only(k), next, changed)
		VPTERNLOGQ(A|C&^B, of(k), next, some)
		store(next, only(k))
	}
	ifNone(some, "done")
	ifSome(changed, "flood")
	store(some, Mem{Base: more})
	none = zeros(6)
	n, seen = none[:5], none[5]
	for k := range 27 {
		if k == middle {
			continue
		}
		v := andNot(of(k), load(only(k)))
		store(v, left(k))
		first := andNot(v, seen)
		VPORQ(v, seen, seen)
		store(first, only(k))
		n.add(k, first)
	}
	LEAQ(left(0), base)
	n.bytes(scratch, place, 0, false)
	ADDQ(I32(lane), more)
	ADDQ(I32(8*lane), place)
	INCQ(rounds)
	JMP(LabelRef("flood"))
	Label("done")
	MOVQ(rounds, Mem{Base: found, Disp: roundsAt})
	End()
}

// around writes scanAround.
func around() {
	Func("aroundavx512", "func(link, masks *uint64, plane int, before, behind, outBefore, outBehind uint64, "+
		"scratch *uint64, found, to *byte)",
		"scans a group for what is found around the set: see scanAround. A plane of masks has so many bytes.")
	link, masks, plane := Arg("link"), Arg("masks"), Arg("plane")
	in := [3]VecVirtual{AVX512.Broadcast("before", 8), nil, AVX512.Broadcast("behind", 8)}
	out := [3]VecVirtual{AVX512.Broadcast("outBefore", 8), nil, AVX512.Broadcast("outBehind", 8)}
	mask := load(Mem{Base: link, Disp: lane * middle})
	for z := 0; z < 3; z += 2 {
		VPANDQ(mask, out[z], out[z])
	}
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
	of := func(which, k int) Mem {
		m := Mem{Base: rows[which][k/3%3]}
		if k%3 > 0 {
			m = m.Idx(plane, uint8(k%3))
		}
		return m
	}
	outside := func(k int) VecVirtual {
		v := load(of(1, k))
		if z := k / 9; z != 1 {
			VPORQ(out[z], v, v)
		}
		return v
	}
	up := func(k int) VecVirtual {
		v := load(Mem{Base: link, Disp: lane * k})
		if z := k / 9; z != 1 {
			VPTERNLOGQ(^A&B&C, of(0, k), in[z], v)
			VPTERNLOGQ(A|B|C, of(1, k), out[z], v)
		} else {
			VPANDNQ(of(0, k), v, v)
			VPORQ(of(1, k), v, v)
		}
		return v
	}
	var face, only [6]VecVirtual
	none := zeros(2)
	some, open := none[0], none[1]
	for n, k := range faces {
		face[n], only[n] = up(k), outside(k)
		VPORQ(face[n], some, some)
		VPORQ(only[n], open, open)
	}
	found := Arg("found")
	store(andNot(mask, some), Mem{Base: found, Disp: minimaAt})
	for axis, f := range [3][4]int{{1, 2, 3, 4}, {0, 2, 3, 5}, {0, 1, 4, 5}} {
		v := New(ZMM, VPORQ, face[f[0]], face[f[1]])
		VPTERNLOGQ(A|B|C, face[f[2]], face[f[3]], v)
		store(andNot(mask, v), Mem{Base: found, Disp: layersAt + lane*axis})
	}
	// First the faces whose opposite is absent, then any face.
	seen := New(ZMM, VMOVDQA64, open)
	var first [6]VecVirtual
	for n := range first {
		v := andNot(face[n], face[5-n])
		first[n] = andNot(v, seen)
		VPORQ(v, seen, seen)
	}
	n := newNumber(3)
	for i := range first {
		v := andNot(face[i], seen)
		VPORQ(v, seen, seen)
		VPORQ(v, first[i], first[i])
		n.add(i, first[i])
		VPORQ(first[i], only[i], only[i])
	}
	n.add(6, open)
	for _, v := range n {
		VPTERNLOGQ(A|^C, seen, seen, v)
	}
	scratch, to := Arg("scratch"), Arg("to")
	n.bytes(scratch, to, faceBit, true)
	type pair struct {
		a, b int
		meet VecVirtual
	}
	var angles []pair
	for a := range faces {
		for b := a + 1; b < 6; b++ {
			if a+b == 5 {
				continue
			}
			v := up(faces[a] + faces[b] - middle)
			VPTERNLOGQ(A&B&C, face[a], face[b], v)
			angles = append(angles, pair{a, b, v})
		}
	}
	rounds := GP64()
	more := New(GP64, LEAQ, Mem{Base: found, Disp: moreAt})
	place := New(GP64, LEAQ, Mem{Base: found, Disp: placeAt})
	XORQ(rounds, rounds)
	Label("flood")
	none = zeros(2)
	changed, some := none[0], none[1]
	for _, p := range angles {
		both := New(ZMM, VMOVDQA64, only[p.a])
		VPTERNLOGQ((A^B)&C, p.meet, only[p.b], both)
		VPORQ(both, only[p.a], only[p.a])
		VPORQ(both, only[p.b], only[p.b])
		VPORQ(both, changed, changed)
	}
	for n := range face {
		VPTERNLOGQ(A|C&^B, face[n], only[n], some)
	}
	ifNone(some, "done")
	ifSome(changed, "flood")
	store(some, Mem{Base: more})
	none = zeros(4)
	n, seen = none[:3], none[3]
	for i := range face {
		VPANDNQ(face[i], only[i], face[i])
		VPANDNQ(face[i], seen, only[i])
		VPORQ(face[i], seen, seen)
		n.add(i, only[i])
	}
	n.bytes(scratch, place, 0, false)
	ADDQ(I32(lane), more)
	ADDQ(I32(8*lane), place)
	INCQ(rounds)
	JMP(LabelRef("flood"))
	Label("done")
	MOVQ(rounds, Mem{Base: found, Disp: roundsAt})
	End()
}
