package ops

import . "github.com/mmcloughlin/avo/build"

// An ISA is an instruction set, by the size of its vectors.
type ISA struct {
	Name       string            // in names of functions
	Bytes      int               // of a vector
	Wide, Half func() VecVirtual // a vector, and one of half as many bytes
}

// The instruction sets that functions are written for. A comparison is a register of masks with AVX-512, and with AVX2
// a vector of 0 and −1.
var (
	AVX512 = ISA{"avx512", 64, ZMM, YMM}
	AVX2   = ISA{"avx2", 32, YMM, XMM}
)

// Lower is the lower half of a vector.
func (i ISA) Lower(v VecVirtual) VecVirtual {
	if i.Bytes == 64 {
		return v.AsY().(VecVirtual)
	}
	return v.AsX().(VecVirtual)
}

// Upper copies the upper half of a vector.
func (i ISA) Upper(from, to Op) {
	if i.Bytes == 64 {
		VEXTRACTI64X4(U8(1), from, to)
	} else {
		VEXTRACTI128(U8(1), from, to)
	}
}

// Join sets a vector to two halves.
func (i ISA) Join(upper, lower, to Op) {
	if i.Bytes == 64 {
		VINSERTI64X4(U8(1), upper, lower, to)
	} else {
		VINSERTI128(U8(1), upper, lower, to)
	}
}

// choose calls the function of the instruction set. Many instructions exist under two names.
func (i ISA) choose(avx512, avx2 func(a, b, to Op), a, b, to Op) {
	if i.Bytes == 64 {
		avx512(a, b, to)
	} else {
		avx2(a, b, to)
	}
}

// And computes a & b, Or a | b, and Xor a ^ b.
func (i ISA) And(a, b, to Op) { i.choose(func(a, b, to Op) { VPANDD(a, b, to) }, VPAND, a, b, to) }
func (i ISA) Or(a, b, to Op)  { i.choose(func(a, b, to Op) { VPORD(a, b, to) }, VPOR, a, b, to) }
func (i ISA) Xor(a, b, to Op) { i.choose(func(a, b, to Op) { VPXORD(a, b, to) }, VPXOR, a, b, to) }

// AndNot returns a &^ b.
func (i ISA) AndNot(a, b Op) VecVirtual {
	v := i.Wide()
	i.choose(func(a, b, to Op) { VPANDND(a, b, to) }, VPANDN, a, b, v)
	return v
}

// Move copies a vector from or to memory.
func (i ISA) Move(from, to Op) {
	if i.Bytes == 64 {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// Copy returns a copy of a vector, which may be in memory.
func (i ISA) Copy(from Op) VecVirtual {
	v := i.Wide()
	i.Move(from, v)
	return v
}

// Zero returns a vector of 0.
func (i ISA) Zero() VecVirtual {
	v := i.Wide()
	i.Xor(v, v, v)
	return v
}

// Zeros returns n vectors of 0.
func (i ISA) Zeros(n int) (list []VecVirtual) {
	for range n {
		list = append(list, i.Zero())
	}
	return list
}

// Ones returns a vector of ones.
func (i ISA) Ones() VecVirtual {
	v := i.Wide()
	if i.Bytes == 64 {
		VPTERNLOGD(U8(0xff), v, v, v)
	} else {
		VPCMPEQD(v, v, v)
	}
	return v
}

// Broadcast returns a vector of copies of the lowest size bytes of an argument of 64 bits.
func (i ISA) Broadcast(name string, size int) VecVirtual {
	from := Arg(name)
	x := map[bool]Op{true: from, false: from.As32()}[size == 8]
	if i.Bytes == 32 {
		x = New(XMM, VMOVQ, from)
	}
	return New(i.Wide, map[int]func(...Op){1: VPBROADCASTB, 2: VPBROADCASTW, 4: VPBROADCASTD, 8: VPBROADCASTQ}[size], x)
}

// BroadcastFloat returns a vector of copies of an argument of 32 bits or, if double, of 64 bits. go vet knows the sizes
// of operands of these instructions by name, but not those of VPBROADCASTD and VPBROADCASTQ.
func (i ISA) BroadcastFloat(name string, double bool) VecVirtual {
	if double {
		return New(i.Wide, VBROADCASTSD, Address(name))
	}
	return New(i.Wide, VBROADCASTSS, Address(name))
}

// ToInts rounds a vector of float64 to half a vector of int32.
func (i ISA) ToInts(from, to Op) {
	if i.Bytes == 64 {
		VCVTPD2DQ(from, to)
	} else {
		VCVTPD2DQY(from, to)
	}
}

// ToFloats rounds a vector of float64 to half a vector of float32.
func (i ISA) ToFloats(from, to Op) {
	if i.Bytes == 64 {
		VCVTPD2PS(from, to)
	} else {
		VCVTPD2PSY(from, to)
	}
}

// Predicates of comparisons: the relation of a to b, of float32 and of integers.
const (
	EQ = U8(0)
	LT = U8(1)
	LE = U8(2)
	NE = U8(4)
	GE = U8(5)
	GT = U8(6)
)

// Like returns a register of the same size.
func Like(v VecVirtual) VecVirtual {
	return map[uint]func() VecVirtual{16: XMM, 32: YMM, 64: ZMM}[v.Size()]()
}

// Mask returns a register for a comparison of vectors of the size of v.
func (i ISA) Mask(v VecVirtual) Register {
	if i.Bytes == 64 {
		return K()
	}
	return Like(v)
}

// Compare compares vectors of float32.
func (i ISA) Compare(predicate U8, b, a VecVirtual) Register {
	m := i.Mask(a)
	VCMPPS(predicate, b, a, m)
	return m
}

// Equal compares vectors of lanes of 32 bits.
func (i ISA) Equal(a, b VecVirtual) Register {
	m := i.Mask(a)
	VPCMPEQD(a, b, m)
	return m
}

// Bits returns a comparison of lanes of 32 bits as bits.
func (i ISA) Bits(mask Register) GPVirtual {
	b := GP32()
	if i.Bytes == 64 {
		KMOVW(mask, b)
	} else {
		VMOVMSKPS(mask, b)
	}
	return b
}

// Raise adds 1 to the lanes of a comparison.
func (i ISA) Raise(mask Register, v VecVirtual) {
	if i.Bytes == 32 {
		VPSUBD(mask, v, v)
		return
	}
	ones := Like(v)
	VPTERNLOGD(U8(0xff), ones, ones, ones)
	VPSUBD(ones, v, mask, v)
}

// FirstLanes returns a mask of the first n lanes, of fewer than 64.
func FirstLanes(n Register) OpmaskVirtual {
	bits := New(GP64, MOVQ, I32(-1))
	BZHIQ(n, bits, bits)
	return New(K, KMOVQ, bits)
}

// FirstWords sets mask to the first n words of a vector, or to all of them. n is clamped, because BZHI reads only the
// lowest byte of its bit count.
func FirstWords(n, mask Register) {
	most := New(GP64, MOVQ, I32(8))
	CMPQ(n, most)
	CMOVQLT(n, most)
	some := New(GP32, MOVL, I32(255))
	BZHIL(most.As32(), some, some)
	KMOVB(some, mask)
}

// SumWords returns the sum of all words of a vector of AVX-512.
func SumWords(v VecVirtual) GPVirtual {
	half := New(YMM, VEXTRACTI64X4, U8(1), v)
	VPADDQ(v.AsY(), half, half)
	quarter := New(XMM, VEXTRACTI128, U8(1), half)
	VPADDQ(half.AsX(), quarter, quarter)
	other, sum := New(GP64, VPEXTRQ, U8(1), quarter), New(GP64, VMOVQ, quarter)
	ADDQ(other, sum)
	return sum
}

// A, B and C are the operands of a boolean function of three vectors, such as A|B&^C, for VPTERNLOG: in its order, the
// last, the second and the first. A is the destination.
const (
	A = U8(0xf0)
	B = U8(0xcc)
	C = U8(0xaa)
)

// Ternary computes one of the functions of three vectors below, in the last one. c may be in memory, and b too with
// AVX2 unless the function has a complement of it.
func (i ISA) Ternary(f U8, c, b Op, a VecVirtual) {
	if i.Bytes == 64 {
		VPTERNLOGQ(f, c, b, a)
		return
	}
	switch f {
	case A & B & C:
		i.And(b, a, a)
		i.And(c, a, a)
	case ^A & B & C:
		i.And(b, i.AndNot(c, a), a)
	case A & B &^ C:
		i.And(b, a, a)
		i.Move(i.AndNot(a, i.Copy(c)), a)
	case A &^ (B & C):
		v := i.Copy(b)
		i.And(c, v, v)
		i.Move(i.AndNot(a, v), a)
	case A &^ (B | C):
		v := i.Copy(b)
		i.Or(c, v, v)
		i.Move(i.AndNot(a, v), a)
	case A | B | C:
		i.Or(b, a, a)
		i.Or(c, a, a)
	case A | B&C:
		v := i.Copy(b)
		i.And(c, v, v)
		i.Or(v, a, a)
	case A | (B ^ C):
		v := YMM()
		i.Xor(c, b, v)
		i.Or(v, a, a)
	case A | C&^B:
		i.Or(i.AndNot(c, b), a, a)
	case (A ^ B) & C:
		i.Xor(b, a, a)
		i.And(c, a, a)
	case A | ^C:
		i.Or(i.AndNot(i.Ones(), c), a, a)
	default:
		panic("not a function of this list")
	}
}

// SumFloats returns the sum of the float64 of a vector.
func (i ISA) SumFloats(v VecVirtual) VecVirtual {
	if i.Bytes == 64 { // by instructions that reach all registers
		half := New(YMM, VEXTRACTF64X4, U8(1), v)
		VADDPD(v.AsY(), half, half)
		high := New(XMM, VEXTRACTF64X2, U8(1), half)
		VADDPD(half.AsX(), high, high)
		odd := New(XMM, VPERMILPD, U8(1), high)
		VADDSD(odd, high, high)
		return high
	}
	high := New(XMM, VEXTRACTF128, U8(1), v)
	VADDPD(v.AsX(), high, high)
	VHADDPD(high, high, high)
	return high
}

// Zip interleaves the lanes of two vectors, by the instructions for the lower and the upper halves of all 128 bits.
func (i ISA) Zip(low, high any, b, a VecVirtual) [2]VecVirtual {
	return [2]VecVirtual{New(i.Wide, low, b, a), New(i.Wide, high, b, a)}
}
