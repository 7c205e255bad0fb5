package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// every gives the weights of float32 values on the ladder of every float32: the level of
// each is encrypted by the instructions for AES, of four values at a time. The table is the
// block of every.go, whose offsets these are.
func (i isa) every() {
	const (
		keys, number, first, half, down, up, lowest, zero, order = 0, 176, 208, 240, 272, 288, 304, 336, 368
		rounds                                                   = 10
		group                                                    = 8
	)
	name := "every" + i.name
	TEXT(name, NOSPLIT, "func(dst, table *uint64, src *byte, n, ahead int) int")
	Pragma("noescape")
	Doc(name + " gives the weights of float32 values on the ladder of every float32, and returns of how many of n.")
	i.scan(group, 4, func(s scan) {
		at := func(offset int) Mem { return Mem{Base: s.table, Disp: offset} }
		level, sign, magnitude := YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: s.src, Index: s.done, Scale: 4}, level)
		VPSRAD(U8(31), level, sign)
		VPSRLD(U8(1), sign, magnitude)
		VPXOR(magnitude, level, level)
		VPSUBD(sign, level, level)
		VPSIGND(at(order), level, level)
		VPADDD(at(zero), level, level)

		var levels [2]VecVirtual // of four values, in 64 bits each
		var states []VecVirtual  // of values 0, 2, 1, 3, and so on
		upper := XMM()
		VEXTRACTI128(U8(1), level, upper)
		for part, four := range []Register{level.AsX(), upper} {
			levels[part] = YMM()
			VPMOVZXDQ(four, levels[part])
			for _, unpack := range []func(...Op){VPUNPCKLQDQ, VPUNPCKHQDQ} {
				two := YMM()
				unpack(at(number), levels[part], two)
				VPXOR(at(first), two, two)
				second := XMM()
				VEXTRACTI128(U8(1), two, second)
				one := XMM()
				VMOVDQA(two.AsX(), one)
				states = append(states, one, second)
			}
		}
		for round := 1; round < rounds; round++ {
			for _, x := range states {
				VAESENC(at(keys+16*round), x, x)
			}
		}
		for _, x := range states {
			VAESENCLAST(at(keys+16*rounds), x, x)
		}
		for part := range levels {
			var pairs [2]VecVirtual
			for k := range pairs {
				pairs[k] = YMM()
				x := states[4*part+2*k:]
				VINSERTI128(U8(1), x[1], x[0].AsY(), pairs[k])
				VPSHUFB(at(half), pairs[k], pairs[k])
			}
			weight, shift := YMM(), XMM()
			VPUNPCKLQDQ(pairs[1], pairs[0], weight)
			VMOVDQU(at(down), shift)
			VPSRLQ(shift, weight, weight)
			VMOVDQU(at(up), shift)
			VPSLLQ(shift, levels[part], levels[part])
			VPADDQ(levels[part], weight, weight)
			VPADDQ(at(lowest), weight, weight)
			VMOVDQU(weight, Mem{Base: s.dst, Index: s.done, Scale: 8, Disp: 32 * part})
		}
	})
}
