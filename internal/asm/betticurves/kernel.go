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
			k.Ternary(A&B&C, in[at%9], before, v)
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
		k.shift(v, m, at%3-1)
		if at >= 18 {
			k.Ternary(^A&B&C, in[at%9], behind, v)
		} else {
			v = k.AndNot(in[at%9], v)
		}
		k.Move(v, Mem{Base: link, Disp: lane * at})
	}
	End()
}

// shift moves the bits of v, which are at from, down (1), up (−1) or not at all (0). The bits that move in are those of
// the adjacent word.
func (k kernel) shift(v VecVirtual, from Mem, down int) {
	switch {
	case down == 0:
	case k.Bytes == 64 && down < 0:
		VPSHLDQ(Imm(1), from.Offset(-8), v, v)
	case k.Bytes == 64:
		VPSHRDQ(Imm(1), from.Offset(8), v, v)
	case down < 0:
		VPSLLQ(Imm(1), v, v)
		k.Or(New(YMM, VPSRLQ, Imm(63), k.Copy(from.Offset(-8))), v, v)
	default:
		VPSRLQ(Imm(1), v, v)
		k.Or(New(YMM, VPSLLQ, Imm(63), k.Copy(from.Offset(8))), v, v)
	}
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
