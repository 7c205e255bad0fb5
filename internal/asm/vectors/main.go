// Package vectors writes the vector instructions of the generators.
package vectors

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// An isa is the part of an instruction set that differs from the others.
type isa struct {
	name   string
	bytes  int               // of a vector
	groups int               // vectors of Philox blocks per turn, an even number
	wide   func() VecVirtual // a vector
	half   func() VecVirtual // a vector of half the size
	lower  func(VecVirtual) Register
	// upper copies the upper half of a vector.
	upper func(from, to Op)
	// xor3 sets c to a ^ b ^ c; it may destroy b.
	xor3 func(a, b, c VecVirtual)
	// toFloat narrows a vector of float64 to half of one of float32.
	toFloat func(...Op)
}

func avx512() isa {
	return isa{
		name: "avx512", bytes: 64, groups: 4, wide: ZMM, half: YMM,
		lower: func(v VecVirtual) Register { return v.AsY() },
		upper: func(from, to Op) { VEXTRACTI64X4(U8(1), from, to) },
		xor3: func(a, b, c VecVirtual) {
			const xor = 0x96
			VPTERNLOGD(U8(xor), a, b, c)
		},
		toFloat: VCVTPD2PS,
	}
}

func avx2() isa {
	return isa{
		name: "avx2", bytes: 32, groups: 2, wide: YMM, half: XMM,
		lower: func(v VecVirtual) Register { return v.AsX() },
		upper: func(from, to Op) { VEXTRACTI128(U8(1), from, to) },
		xor3: func(a, b, c VecVirtual) {
			VPXOR(a, c, c)
			VPXOR(b, c, c)
		},
		toFloat: VCVTPD2PSY,
	}
}

// xor computes c = a ^ b. The same instruction exists under two names.
func (i isa) xor(a, b, c VecVirtual) {
	if i.bytes == 64 {
		VPXORD(a, b, c)
	} else {
		VPXOR(a, b, c)
	}
}

// blocks returns the number of Philox blocks in a vector, and unit the number of voxels per turn of
// a loop.
func (i isa) blocks() int { return i.bytes / 8 }
func (i isa) unit() int   { return i.groups * i.blocks() * 4 }

// Write writes all functions of an instruction set.
func Write(target ISA) {
	all := map[string]isa{"avx512": avx512(), "avx2": avx2()}
	i := all[target.Name]
	i.noiseBytes()
	i.noisePairs()
	i.noiseFloats(false)
	i.noiseFloats(true)
	i.counts("counts", "uint16")
	i.counts("countBytes", "uint8")
	i.weigh()
	i.adds("add16", "uint16", VPADDW)
	i.adds("add32", "uint32", VPADDD)
	i.widens("widen16to32", "uint32", "uint16", 2, VPMOVZXWD)
	i.widens("widen16to64", "uint64", "uint16", 4, VPMOVZXWQ)
	i.widens("widen32to64", "uint64", "uint32", 2, VPMOVZXDQ)
	i.push()
	i.pushPairs()
	i.quantise()
	i.quantiseWide()
	i.putBytes()
	i.putPairs()
	i.putFloats(false)
	i.putFloats(true)
	i.spread()
}
