package eigenmap

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// blockColumns is the number of columns that inertia eliminates together.
const blockColumns = 24

// rowsOfSecond is the number of rows of the second matrix that inertia multiplies at a time.
const rowsOfSecond = 3

// Inertia writes the products of the dense part of LDLᵀ.
func Inertia(isa ISA) {
	rows, lanes := isa.Bytes/8, isa.Bytes/8 // as many sums as there are registers for
	Func(fmt.Sprintf("less%d", 8*isa.Bytes), "func(c *float64, ldc int, a *float64, lda int, b *float64, ldb int, groups int)",
		fmt.Sprintf("takes from %d × 3 numbers of c the products of %d rows of a and three rows of b, of %d times", rows, rows, lanes),
		"groups numbers each. Rows are ldc, lda and ldb bytes apart.")
	c, ldc, a, lda, b, ldb, n := Arg("c"), Arg("ldc"), Arg("a"), Arg("lda"), Arg("b"), Arg("ldb"), Arg("groups")
	third := New(GP64, LEAQ, Mem{Base: lda, Index: lda, Scale: 2}) // to the fourth row of a
	rowsA := []Mem{{Base: a}, {Base: a, Index: lda, Scale: 1}, {Base: a, Index: lda, Scale: 2},
		{Base: a, Index: third, Scale: 1}}
	if rows == 8 {
		fifth := New(GP64, LEAQ, Mem{Base: lda, Index: lda, Scale: 4})
		seventh := New(GP64, LEAQ, Mem{Base: third, Index: lda, Scale: 4})
		rowsA = append(rowsA, Mem{Base: a, Index: lda, Scale: 4}, Mem{Base: a, Index: fifth, Scale: 1},
			Mem{Base: a, Index: third, Scale: 2}, Mem{Base: a, Index: seventh, Scale: 1})
	}
	sums := make([][]VecVirtual, rows)
	for i := range sums {
		sums[i] = isa.Zeros(rowsOfSecond)
	}
	Label("multiply")
	var second [rowsOfSecond]VecVirtual
	for j := range second {
		second[j] = New(isa.Wide, VMOVUPD,
			[]Mem{{Base: b}, {Base: b, Index: ldb, Scale: 1}, {Base: b, Index: ldb, Scale: 2}}[j])
	}
	for i := range sums {
		first := New(isa.Wide, VMOVUPD, rowsA[i])
		for j := range second {
			VFMADD231PD(second[j], first, sums[i][j])
		}
	}
	Advance(U8(isa.Bytes), a, b)
	Repeat(n, "multiply")
	for i := range sums {
		for j, s := range sums[i] {
			to := Mem{Base: c, Disp: 8 * j}
			sum, was := isa.SumFloats(s), New(XMM, VMOVSD, to)
			VSUBSD(sum, was, was)
			VMOVSD(was, to)
		}
		if i+1 < len(sums) {
			ADDQ(ldc, c)
		}
	}
	End()
	substitute(isa)
}

// substitute writes the substitution of whole rows of a block.
func substitute(isa ISA) {
	rows, lanes := isa.Bytes/16, isa.Bytes/8
	Func(fmt.Sprintf("substitute%d", 8*isa.Bytes), "func(x *float64, ld int, columns, d *float64)",
		fmt.Sprintf("converts %d rows of %d numbers, ld bytes apart, to rows of L. It subtracts from each the products of its ",
			rows, blockColumns)+"numbers, in order, with columns, which are 0 up to the diagonal, and divides it by d.")
	x, ld, columns, d := Arg("x"), Arg("ld"), Arg("columns"), Arg("d")
	third := New(GP64, LEAQ, Mem{Base: ld, Index: ld, Scale: 2})
	from := []Mem{{Base: x}, {Base: x, Index: ld, Scale: 1}, {Base: x, Index: ld, Scale: 2},
		{Base: x, Index: third, Scale: 1}}[:rows]
	at := func(m Mem, k int) Mem { m.Disp += k * isa.Bytes; return m }
	list := make([][]VecVirtual, rows)
	for r := range list {
		for k := range blockColumns / lanes {
			list[r] = append(list[r], New(isa.Wide, VMOVUPD, at(from[r], k)))
		}
	}
	var lane, ones VecVirtual // a permutation takes the three lowest bits
	if lanes == 8 {
		lane, ones = isa.Zero(), New(isa.Wide, VPABSQ, isa.Ones())
	}
	for c := range blockColumns - 1 {
		numbers := make([]VecVirtual, rows)
		for r, v := range list {
			if lanes == 8 {
				numbers[r] = New(isa.Wide, VPERMPD, v[c/lanes], lane)
			} else {
				numbers[r] = New(isa.Wide, VPERMPD, U8(0x55*(c%lanes)), v[c/lanes])
			}
		}
		for k := (c + 1) / lanes; k < blockColumns/lanes; k++ {
			column := New(isa.Wide, VMOVUPD, Mem{Base: columns, Disp: 8*blockColumns*c + k*isa.Bytes})
			for r, v := range list {
				VFNMADD231PD(column, numbers[r], v[k])
			}
		}
		if lanes == 8 {
			VPADDQ(ones, lane, lane)
		}
	}
	for k := range blockColumns / lanes {
		by := New(isa.Wide, VMOVUPD, at(Mem{Base: d}, k))
		for r, v := range list {
			VDIVPD(by, v[k], v[k])
			VMOVUPD(v[k], at(from[r], k))
		}
	}
	End()
}
