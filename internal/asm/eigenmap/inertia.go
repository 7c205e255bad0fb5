package eigenmap

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// The numbers of rows that inertia multiplies at a time: of the first matrix and of the second.
const (
	rowsOfFirst  = 4
	rowsOfSecond = 3
)

// Inertia writes the products of the dense part of LDLᵀ.
func Inertia(ISA) {
	Func("less256", "func(c *float64, ldc int, a *float64, lda int, b *float64, ldb int, fours int)",
		"takes from 4 × 3 numbers of c the products of four rows of a and three rows of b, of four times",
		"fours numbers each. Rows are ldc, lda and ldb bytes apart.")
	c, ldc, a, lda, b, ldb, n := Arg("c"), Arg("ldc"), Arg("a"), Arg("lda"), Arg("b"), Arg("ldb"), Arg("fours")
	third := New(GP64, LEAQ, Mem{Base: lda, Index: lda, Scale: 2}) // to the fourth row of a
	var sums [rowsOfFirst][]VecVirtual
	for i := range sums {
		sums[i] = AVX2.Zeros(rowsOfSecond)
	}
	rowsA := [rowsOfFirst]Mem{{Base: a}, {Base: a, Index: lda, Scale: 1}, {Base: a, Index: lda, Scale: 2},
		{Base: a, Index: third, Scale: 1}}
	Label("multiply")
	var second [rowsOfSecond]VecVirtual
	for j := range second {
		second[j] = New(YMM, VMOVUPD, []Mem{{Base: b}, {Base: b, Index: ldb, Scale: 1}, {Base: b, Index: ldb, Scale: 2}}[j])
	}
	for i := range sums {
		first := New(YMM, VMOVUPD, rowsA[i])
		for j := range second {
			VFMADD231PD(second[j], first, sums[i][j])
		}
	}
	Advance(U8(32), a, b)
	Repeat(n, "multiply")
	for i := range sums {
		for j, s := range sums[i] {
			to := Mem{Base: c, Disp: 8 * j}
			high, was := SumFloats(s), New(XMM, VMOVSD, to)
			VSUBSD(high, was, was)
			VMOVSD(was, to)
		}
		if i+1 < len(sums) {
			ADDQ(ldc, c)
		}
	}
	End()
}
