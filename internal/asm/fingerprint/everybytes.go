package fingerprint

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// zipped interleaves the lanes of four vectors, by instructions for lanes and for pairs of lanes.
func zipped(low, high, lowPairs, highPairs any, v [4]VecVirtual) (z [4]VecVirtual) {
	a, b := AVX512.Zip(low, high, v[1], v[0]), AVX512.Zip(low, high, v[3], v[2])
	for i := range a {
		pairs := AVX512.Zip(lowPairs, highPairs, b[i], a[i])
		z[2*i], z[2*i+1] = pairs[0], pairs[1]
	}
	return z
}

// everyBytes generates every for 64 values at a time, with look-ups in vectors of bytes instead of
// gathers: four bytes of each factor, each in a table of 256. The offsets are those of the block in
// every.go.
func everyBytes() {
	const (
		zero, order = 4096, 4100
		group       = 64
		base        = 52 // the bit that all weights have
	)
	Func("everybytesavx512", "func(dst, table *uint64, src *byte, n, ahead int) int",
		"gives the weights of float32 values on the ladder of every float32, and returns of how many of n.")
	bytes := GLOBL("everybytes", RODATA|NOPTR) // of a word: the lowest bytes of 128 bits first
	for i := range 64 {
		DATA(i, U8(i%4*4+i/4%4))
	}
	places := GLOBL("everyplaces", RODATA|NOPTR) // of the values with even numbers, then from 8 of those with odd ones
	for i := range 16 {
		DATA(8*i, U64(i/2+i%2*8))
	}
	prime, negative := ZMM(), ZMM()
	VPTERNLOGD(U8(0xff), prime, prime, prime)
	least := New(ZMM, VPSLLD, U8(31), prime)
	VPSRLQ(U8(64-productBits), prime, prime)
	fold := folding(prime, ZMM, func(a, b, to Op) { VPANDQ(a, b, to) })
	// A level's number is zero + order · value = zero + (value ^ negative) − negative.
	VPBROADCASTD(Mem{Base: Arg("table"), Disp: order}, negative)
	VPSRAD(U8(31), negative, negative)
	none := New(ZMM, VPBROADCASTD, Mem{Base: Arg("table"), Disp: zero})
	VPSUBD(negative, none, none)
	s := scanned()
	s.groups(group, 4, func() {
		for line := 1; line < 4; line++ {
			PREFETCHT1(Mem{Base: s.ahead, Index: s.done, Scale: 4, Disp: 64 * line})
		}
		var numbers, words [4]VecVirtual
		for q := range numbers {
			v := New(ZMM, VMOVDQU32, Mem{Base: s.src, Index: s.done, Scale: 4, Disp: 64 * q})
			below := New(K, VPMOVD2M, v)
			VPSUBD(v, least, below, v)
			VPXORD(negative, v, v)
			VPADDD(none, v, v)
			numbers[q], words[q] = v, New(ZMM, VPSHUFB, bytes, v)
		}
		f := byteFactors{s.table, zipped(VPUNPCKLDQ, VPUNPCKHDQ, VPUNPCKLQDQ, VPUNPCKHQDQ, words), fold}
		left, right := f.products(0), f.products(2)
		wide := New(GP32, MOVL, U32(1<<(base-productBits)))
		common := New(ZMM, VPBROADCASTD, wide)
		for q, number := range numbers {
			VPADDD(common, number, number)
			for odd, w := range left[q] {
				VPMULUDQ(right[q][odd], w, w)
				fold(w)
				fold(w) // to the prime and 5, at most
				addLevel(w, number, prime, odd)
			}
			for half := range 2 {
				to := New(ZMM, VMOVDQU64, places.Offset(64*half))
				VPERMI2Q(left[q][1], left[q][0], to)
				VMOVDQU64(to, Mem{Base: s.dst, Index: s.done, Scale: 8, Disp: 128*q + 64*half})
			}
		}
	})
}

// addLevel reduces w by the prime if it is at least the prime, and puts the number of its level above it.
func addLevel(w, number, prime VecVirtual, odd int) {
	level := ZMM()
	less := New(ZMM, VPSUBQ, prime, w)
	VPMINUQ(less, w, w)
	aboveProduct(odd, number, level)
	VPADDQ(level, w, w)
}

// byteFactors looks up the factors of values by the bytes of their levels' numbers, lowest first.
type byteFactors struct {
	table Register
	index [4]VecVirtual
	fold  func(VecVirtual)
}

// of returns the factors of byte k, for four vectors of 16 values.
func (f byteFactors) of(k int) [4]VecVirtual {
	const digits = 4160
	at := f.index[3-k]
	upper := New(K, VPMOVB2M, at)
	var digit [4]VecVirtual
	for j := range digit {
		part := func(i int) Mem { return Mem{Base: f.table, Disp: digits + 1024*k + 256*j + 64*i} }
		lower := New(ZMM, VMOVDQA64, at)
		higher := New(ZMM, VMOVDQA64, at)
		first := New(ZMM, VMOVDQU8, part(0))
		VPERMI2B(part(1), first, lower)
		second := New(ZMM, VMOVDQU8, part(2))
		VPERMI2B(part(3), second, higher)
		VMOVDQU8(higher, upper, lower)
		digit[j] = lower
	}
	return zipped(VPUNPCKLBW, VPUNPCKHBW, VPUNPCKLWD, VPUNPCKHWD, digit)
}

// products returns the products of the factors of bytes k and k + 1, of the values with even numbers
// and with odd ones.
func (f byteFactors) products(k int) (p [4][2]VecVirtual) {
	a, b := f.of(k), f.of(k+1)
	for q := range p {
		p[q] = [2]VecVirtual{New(ZMM, VPMULUDQ, a[q], b[q]), a[q]}
		VPSRLQ(U8(32), a[q], a[q])
		VPSRLQ(U8(32), b[q], b[q])
		VPMULUDQ(a[q], b[q], a[q])
		f.fold(p[q][0]) // to 32 bits
		f.fold(p[q][1])
	}
	return p
}
