package fingerprint

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// productBits is the number of bits of a product modulo 2³¹ − 1.
const productBits = 31

// folding returns a function that reduces a value to fewer bits, equal modulo the prime.
func folding(prime VecVirtual, vector func() VecVirtual, and func(a, b, to Op)) func(v VecVirtual) {
	return func(v VecVirtual) {
		upper := vector()
		VPSRLQ(U8(productBits), v, upper)
		and(prime, v, v)
		VPADDQ(upper, v, v)
	}
}

// aboveProduct puts the numbers of levels above the bits of products: of even values (odd = 0) or
// odd ones (1).
func aboveProduct(odd int, number, to VecVirtual) {
	if odd == 0 {
		VPSLLQ(U8(32), number, to)
		VPSRLQ(U8(32-productBits), to, to)
	} else {
		VPSRLQ(U8(32), number, to)
		VPSLLQ(U8(productBits), to, to)
	}
}

// every generates the weights of float32 values on the ladder of every float32, eight at a time. It
// multiplies the factors of the bytes of each level's number modulo 2³¹ − 1. The offsets are those
// of the block in every.go.
func (i isa) every() {
	const (
		factors, zero, order, base = 1024, 4096, 4100, 4104
		group                      = 8
	)
	Func("every"+i.Name, "func(dst, table *uint64, src *byte, n, ahead int) int",
		"gives the weights of float32 values on the ladder of every float32, and returns of how many of n.")
	ones := YMM()
	VPCMPEQD(ones, ones, ones)
	prime := New(YMM, VPSRLQ, U8(64-productBits), ones)
	low := New(YMM, VPSRLD, U8(24), ones)
	one := New(YMM, VPSRLQ, U8(63), ones)
	fold := folding(prime, YMM, VPAND)
	s := scanned()
	s.groups(group, 4, func() {
		level := New(YMM, VMOVUPS, Mem{Base: s.src, Index: s.done, Scale: 4})
		number(level, Mem{Base: s.table, Disp: order}, Mem{Base: s.table, Disp: zero})
		var found [4]VecVirtual // factors of the first to the fourth byte
		for k := range found {
			index := level
			if k < 3 {
				index = New(YMM, VPSRLD, U8(24-8*k), level)
			}
			if k > 0 {
				index = New(YMM, VPAND, low, index)
			}
			found[k] = YMM()
			VPGATHERDD(AVX2.Ones(), Mem{Base: s.table, Index: index, Scale: 4, Disp: factors * k}, found[k])
		}
		var weights [2]VecVirtual // of the even values, and of the odd ones, which are above them
		for part := range weights {
			if part == 1 {
				for _, f := range found {
					VPSRLQ(U8(32), f, f)
				}
			}
			w := product(found, one, prime, fold)
			levels := YMM()
			aboveProduct(part, level, levels)
			VPADDQ(levels, w, w)
			VPADDQ(New(YMM, VPBROADCASTQ, Mem{Base: s.table, Disp: base}), w, w)
			weights[part] = w
		}
		first := New(YMM, VPUNPCKLQDQ, weights[1], weights[0]) // 0, 1, 4, 5
		second := New(YMM, VPUNPCKHQDQ, weights[1], weights[0])
		to := New(YMM, VPERM2I128, U8(0x20), second, first)
		VMOVDQU(to, Mem{Base: s.dst, Index: s.done, Scale: 8})
		VPERM2I128(U8(0x31), second, first, to)
		VMOVDQU(to, Mem{Base: s.dst, Index: s.done, Scale: 8, Disp: 32})
	})
}

// number replaces float32 values by the numbers of their levels, zero ± the number of floats from 0.
func number(values VecVirtual, order, zero Mem) {
	sign := New(YMM, VPSRAD, U8(31), values)
	magnitude := New(YMM, VPSRLD, U8(1), sign)
	VPXOR(magnitude, values, values)
	VPSUBD(sign, values, values)
	VPSIGND(New(YMM, VPBROADCASTD, order), values, values)
	VPADDD(New(YMM, VPBROADCASTD, zero), values, values)
}

// product returns the product of four factors modulo the prime.
func product(factors [4]VecVirtual, one, prime VecVirtual, fold func(VecVirtual)) VecVirtual {
	left := New(YMM, VPMULUDQ, factors[0], factors[1])
	fold(left) // to 32 bits
	right := New(YMM, VPMULUDQ, factors[2], factors[3])
	fold(right)
	w := New(YMM, VPMULUDQ, left, right)
	fold(w)
	fold(w) // to the prime and 5, at most
	over := New(YMM, VPADDQ, one, w)
	VPSRLQ(U8(productBits), over, over)
	VPADDQ(over, w, w)
	VPAND(prime, w, w)
	return w
}
