package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Sizes of package binned: the taps of a place, and its columns.
const (
	taps    = 320
	columns = 3
)

// writePlace writes the function for the places of values among the nodes, and their shares by Lagrange's polynomials.
func writePlace(i ISA) {
	Func(fmt.Sprint("place", 8*i.Bytes), "func(row *int32, y *float32, lo, inverse, most float64, n int)",
		"sets a row of n times eight shared values to those of y.")
	row, y, n := Arg("row"), Arg("y"), Arg("n")
	lo, inverse, most := i.BroadcastFloat("lo", true), i.BroadcastFloat("inverse", true), i.BroadcastFloat("most", true)
	numbers := Table[float64]("shares", 1, 2, 3, 6144, -1.0/120, 1.0/24, 1.0/12, -1.0/24, 1.0/120)
	number := func(k int) VecVirtual { return New(i.Wide, VBROADCASTSD, numbers.Offset(8*k)) }
	one, two, three, coarse := number(0), number(1), number(2), number(3)
	Label("more")
	for part := 0; part < 64; part += i.Bytes {
		t := New(i.Wide, VCVTPS2PD, Mem{Base: y, Disp: part / 2})
		VSUBPD(lo, t, t)
		VMULPD(inverse, t, t)
		VSUBPD(two, t, t)
		VMAXPD(i.Zero(), t, t)
		VMINPD(most, t, t)
		first, c := i.Half(), i.Wide()
		if i.Bytes == 64 {
			VCVTTPD2DQ(t, first)
		} else {
			VCVTTPD2DQY(t, first)
		}
		VMOVDQU(first, Mem{Base: row, Disp: part / 2})
		VCVTDQ2PD(first, c)
		VSUBPD(c, t, c)
		times := func(a, b Op) VecVirtual { return New(i.Wide, VMULPD, b, a) }
		a, b := New(i.Wide, VADDPD, two, c), New(i.Wide, VADDPD, one, c)
		d, e, f := New(i.Wide, VSUBPD, one, c), New(i.Wide, VSUBPD, two, c), New(i.Wide, VSUBPD, three, c)
		ab, cd, ef := times(a, b), times(c, d), times(e, f)
		left, right := times(ab, cd), times(cd, ef)
		share := func(k int, v VecVirtual) { VMOVUPD(v, Mem{Base: row, Disp: 32 + 64*k + part}) }
		rest := New(i.Wide, VMOVUPD, one)
		for k, s := range [][2]VecVirtual{{b, right}, {a, right}, {times(ab, c), ef}, {left, f}, {left, e}} {
			v := times(times(s[0], s[1]), number(4+k))
			VADDPD(coarse, v, v)
			VSUBPD(coarse, v, v)
			VSUBPD(v, rest, rest)
			share([]int{0, 1, 3, 4, 5}[k], v)
		}
		share(2, rest)
	}
	ADDQ(U8(32), y)
	ADDQ(I32(32+6*64), row)
	Repeat(n, "more")
	End()
}

// eachPlace writes a loop over n places. It calls body with the first tap of a place and with its columns.
func eachPlace(nodes string, body func(node, row Register)) {
	to, from, table, apart, n := Arg(nodes), Arg("from"), Arg("table"), Arg("apart"), Arg("n")
	IfZero(n, "done")
	SHLQ(U8(3), apart)
	Label("more")
	node := New(GP64, MOVLQSX, Mem{Base: from})
	LEAQ(Mem{Base: to, Index: node, Scale: 8}, node)
	body(node, table)
	ADDQ(U8(4), from)
	ADDQ(apart, table)
	Repeat(n, "more")
	Label("done")
	End()
}

// writeDots writes the function for dot products, each in two sums that take turns.
func writeDots(i ISA) {
	Func(fmt.Sprint("dots", 8*i.Bytes), "func(out, nodes *float64, from *int32, table *float64, apart, n int)",
		fmt.Sprintf("sets out to the dot products of %d columns of each of n places with its nodes.", columns))
	outs := [columns]GPVirtual{Arg("out")}
	for c := range columns - 1 {
		outs[c+1] = New(GP64, MOVQ, Arg("n"))
		LEAQ(Mem{Base: outs[c], Index: outs[c+1], Scale: 8}, outs[c+1])
	}
	eachPlace("nodes", func(node, row Register) {
		var sums [columns][2]VecVirtual
		for c := range sums {
			for k := range sums[c] {
				sums[c][k] = i.Zero()
			}
		}
		for k := range taps * 8 / i.Bytes {
			v := New(i.Wide, VMOVUPD, Mem{Base: node, Disp: k * i.Bytes})
			for c := range sums {
				VFMADD231PD(Mem{Base: row, Disp: c*taps*8 + k*i.Bytes}, v, sums[c][k%2])
			}
		}
		for c, s := range sums {
			VADDPD(s[1], s[0], s[0])
			VMOVSD(i.SumFloats(s[0]), Mem{Base: outs[c]})
		}
		Advance(U8(8), outs[:]...)
	})
}

// writeAdds writes the function that adds columns to nodes.
func writeAdds(i ISA) {
	Func(fmt.Sprint("adds", 8*i.Bytes), "func(nodes, by *float64, from *int32, table *float64, apart, n int)",
		"adds the first column of each of n places, by times, to its nodes.")
	weights := Arg("by")
	eachPlace("nodes", func(node, row Register) {
		by := New(i.Wide, VBROADCASTSD, Mem{Base: weights})
		for k := range taps * 8 / i.Bytes {
			at := Mem{Base: node, Disp: k * i.Bytes}
			v := New(i.Wide, VMOVUPD, at)
			VFMADD231PD(Mem{Base: row, Disp: k * i.Bytes}, by, v)
			VMOVUPD(v, at)
		}
		ADDQ(U8(8), weights)
	})
}
