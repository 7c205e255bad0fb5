// Package vectors writes the vector instructions of the generators.
package vectors

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// An isa is an instruction set, and the number of vectors of Philox blocks per turn, an even one.
type isa struct {
	ISA
	groups int
}

// xor3 computes c = a ^ b ^ c. It may destroy b.
func (i isa) xor3(a, b, c VecVirtual) {
	const xor = 0x96
	if i.Bytes == 64 {
		VPTERNLOGD(U8(xor), a, b, c)
	} else {
		VPXOR(a, c, c)
		VPXOR(b, c, c)
	}
}

// blocks returns the number of Philox blocks in a vector, and unit the number of voxels per turn of
// a loop.
func (i isa) blocks() int { return i.Bytes / 8 }
func (i isa) unit() int   { return i.groups * i.blocks() * 4 }

// Write writes all functions of an instruction set.
func Write(target ISA) {
	i := isa{target, target.Bytes / 16}
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
