// Package fingerprint writes the vector instructions of the fingerprint.
package fingerprint

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// An isa is an instruction set.
type isa struct{ ISA }

// gather loads the elements of 8 bytes of a table with the indices in half a vector.
func (i isa) gather(table, index Register, to VecVirtual) {
	if i.Bytes == 64 {
		k := K()
		KXNORB(k, k, k)
		VPGATHERDQ(Mem{Base: table, Index: index, Scale: 8}, k, to)
	} else {
		VPGATHERDQ(i.Ones(), Mem{Base: table, Index: index, Scale: 8}, to)
	}
}

// compared returns a bit for each float32 lane where a compares to b as the predicate requires.
func (i isa) compared(predicate U8, b, a VecVirtual) Register {
	return i.Bits(i.Compare(predicate, b, a))
}

// Write writes all functions of an instruction set.
func Write(target ISA) {
	i := isa{target}
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
	if i.Bytes == 32 { // as both have them
		i.every()
		words, doubles := together("wordsavx2", 2), together("doublesavx2", 1)
		for _, l := range lanes() {
			l.countsByAVX2(words, doubles, true)
			l.countsByAVX2(words, doubles, false)
			if l.Bytes < 4 {
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
