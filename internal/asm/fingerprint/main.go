// Package fingerprint writes the vector instructions of the fingerprint.
package fingerprint

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// An isa holds the differences between the instruction sets.
type isa struct {
	name  string
	bytes int               // of a vector
	wide  func() VecVirtual // a vector
	half  func() VecVirtual // a vector of half as many bytes
	lower func(VecVirtual) Register
	// upper is the upper half of a vector.
	upper func(from, to Op)
	// gather loads the elements of 8 bytes of a table with the indices in half a vector.
	gather func(table Register, index Register, to VecVirtual)
	// which returns a bit for each float32 lane where a compares to b as the predicate requires.
	// raise adds 1 to the integer lanes where it does.
	which func(predicate uint8, b, a VecVirtual) Register
	raise func(predicate uint8, b, a, integers VecVirtual)
	// same returns a bit for each lane of 32 bits where a equals b.
	same func(a, b VecVirtual) Register
	// toInt and toFloat narrow a vector of float64 to half of one.
	toInt, toFloat func(...Op)
}

func avx512() isa {
	bits := func(k Register) Register {
		b := GP32()
		KMOVW(k, b)
		return b
	}
	return isa{
		name: "avx512", bytes: 64, wide: ZMM, half: YMM,
		lower: func(v VecVirtual) Register { return v.AsY() },
		upper: func(from, to Op) { VEXTRACTI64X4(U8(1), from, to) },
		gather: func(table, index Register, to VecVirtual) {
			k := K()
			KXNORB(k, k, k)
			VPGATHERDQ(Mem{Base: table, Index: index, Scale: 8}, k, to)
		},
		which: func(predicate uint8, b, a VecVirtual) Register {
			k := K()
			VCMPPS(U8(predicate), b, a, k)
			return bits(k)
		},
		raise: func(predicate uint8, b, a, integers VecVirtual) {
			k, ones := K(), like(integers)
			VCMPPS(U8(predicate), b, a, k)
			VPTERNLOGD(U8(0xff), ones, ones, ones)
			VPSUBD(ones, integers, k, integers)
		},
		same: func(a, b VecVirtual) Register {
			k := K()
			VPCMPEQD(a, b, k)
			return bits(k)
		},
		toInt: VCVTPD2DQ, toFloat: VCVTPD2PS,
	}
}

func avx2() isa {
	bits := func(v VecVirtual) Register {
		b := GP32()
		VMOVMSKPS(v, b)
		return b
	}
	return isa{
		name: "avx2", bytes: 32, wide: YMM, half: XMM,
		lower: func(v VecVirtual) Register { return v.AsX() },
		upper: func(from, to Op) { VEXTRACTI128(U8(1), from, to) },
		gather: func(table, index Register, to VecVirtual) {
			all := YMM()
			VPCMPEQD(all, all, all)
			VPGATHERDQ(all, Mem{Base: table, Index: index, Scale: 8}, to)
		},
		which: func(predicate uint8, b, a VecVirtual) Register {
			v := like(a)
			VCMPPS(U8(predicate), b, a, v)
			return bits(v)
		},
		raise: func(predicate uint8, b, a, integers VecVirtual) {
			v := like(a)
			VCMPPS(U8(predicate), b, a, v)
			VPSUBD(v, integers, integers)
		},
		same: func(a, b VecVirtual) Register {
			v := like(a)
			VPCMPEQD(a, b, v)
			return bits(v)
		},
		toInt: VCVTPD2DQY, toFloat: VCVTPD2PSY,
	}
}

// like is a register of the same size.
func like(v VecVirtual) VecVirtual {
	switch v.Size() {
	case 16:
		return XMM()
	case 32:
		return YMM()
	}
	return ZMM()
}

// Write writes all functions of an instruction set.
func Write(target ISA) {
	all := map[string]isa{"avx512": avx512(), "avx2": avx2()}
	i := all[target.Name]
	i.volume()
	i.area()
	i.integers("bytes", 1, VPMOVZXBD)
	i.integers("pairs", 2, VPMOVZXWD)
	i.floats(false)
	i.floats(true)
	i.levelsOfFloats(false)
	i.levelsOfFloats(true)
	i.keys()
	i.times()
	for _, l := range lanes()[:2] { // of integers
		i.turned(l)
	}
	if i.bytes == 32 { // as both have them
		i.every()
		words, doubles := together("wordsavx2", 2), together("doublesavx2", 1)
		for _, l := range lanes() {
			l.countsByAVX2(words, doubles, true)
			l.countsByAVX2(words, doubles, false)
			if l.bytes < 4 {
				l.sumsByAVX2()
			}
		}
	} else {
		everyBytes()
		sumsByDigits()
		sumsOfWords()
		for _, l := range lanes() {
			for _, o := range l.orders() {
				l.countsByAVX512(o, true)
				l.countsByAVX512(o, false)
			}
		}
	}
}
