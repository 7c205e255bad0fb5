package eigenmap

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Windowed writes distances of patches, and products with their weights.
func Windowed(ISA) {
	unlike()
	both()
}

// Sizes of 16 features, of the features of four patches, and of four distances.
const sixteen, four, distances = 32, 4 * 32, 16

// unlike writes the squared distances of one patch from others, four per vector.
func unlike() {
	Func("unlike256", "func(to *int32, a, b *int16, fours int)",
		"sets the squares of distances of the 16 features of a from those of fours times four",
		"patches, one after the other in b.")
	to, a, b, n := Arg("to"), Arg("a"), Arg("b"), Arg("fours")
	own := New(YMM, VMOVDQU, Mem{Base: a})
	IfZero(n, "end")
	Label("more")
	var d [4]VecVirtual
	for k := range d {
		d[k] = New(YMM, VPSUBW, Mem{Base: b, Disp: k * sixteen}, own)
		VPMADDWD(d[k], d[k], d[k])
	}
	VPHADDD(d[1], d[0], d[0])
	VPHADDD(d[3], d[2], d[2])
	VPHADDD(d[2], d[0], d[0]) // in each half for four patches
	high := New(XMM, VEXTRACTI128, U8(1), d[0])
	VPADDD(d[0].AsX(), high, high)
	VMOVDQU(high, Mem{Base: to})
	ADDQ(U8(distances), to)
	ADDQ(Imm(four), b)
	Repeat(n, "more")
	Label("end")
	End()
}

// Eight weights in float32, and four and eight numbers in float64.
const weights, half, numbers = 32, 32, 64

// both writes the product with a row of a symmetric matrix and with its column.
func both() {
	Func("both256", "func(to, x *float64, weights *float32, own float64, eights int) float64",
		"is the product of eights times eight weights and x, and adds the weights times own to to.")
	to, x, w := Arg("to"), Arg("x"), Arg("weights")
	n, own, sums := Arg("eights"), AVX2.BroadcastFloat("own", true), AVX2.Zeros(2)
	Label("eight")
	for k, s := range sums {
		wide := New(YMM, VCVTPS2PD, Mem{Base: w, Disp: k * half / 2})
		column := New(YMM, VMOVUPD, Mem{Base: to, Disp: k * half})
		VFMADD231PD(own, wide, column)
		VFMADD231PD(Mem{Base: x, Disp: k * half}, wide, s)
		VMOVUPD(column, Mem{Base: to, Disp: k * half})
	}
	ADDQ(U8(weights), w)
	Advance(U8(numbers), to, x)
	Repeat(n, "eight")
	End(total(sums))
}
