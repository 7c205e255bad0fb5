// Package flow writes the vector instructions of gradient vector flow: of its definition, and of its rows.
package flow

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// lane is the size of a value.
const lane = 4

// Write writes all functions of an instruction set.
func Write(i ISA) {
	switch i.Name {
	case "avx512":
		step("plane512", 16, ZMM, false)
		step("volume512", 16, ZMM, true)
		avx512.cells()
	case "avx2":
		step("plane256", 8, YMM, false)
		step("volume256", 8, YMM, true)
		avx2.cells()
	}
}

// step generates one step of rows; the portable one documents it. If a row is not a whole number of
// vectors, its last vector overlaps the one before and stores the same values again.
func step(name string, lanes int, vector func() VecVirtual, volume bool) {
	signature := "func(dst, v, north, south, v0, b *float32, n, count, dstStride, stride, fieldStride int, mu, sides float32)"
	pointers := []string{"v", "north", "south"}
	if volume {
		signature = "func(dst, v, north, south, below, above, v0, b *float32, n, count, dstStride, stride, fieldStride int, mu, sides float32)"
		pointers = append(pointers, "below", "above")
	}
	Func(name, signature,
		fmt.Sprintf("takes a step of count rows of n values, %d or more; strides are in bytes.", lanes))
	at := map[string]Register{}
	for _, p := range append([]string{"dst", "v0", "b"}, pointers...) {
		at[p] = Arg(p)
	}
	rows := Arg("count")
	mu, sides := vector(), vector()
	for i, v := range []VecVirtual{mu, sides} {
		VBROADCASTSS(address([]string{"mu", "sides"}[i]), v)
	}
	x, last := GP64(), GP64()
	Load(Param("n"), last)
	SUBQ(U8(lanes), last)
	value := func(p string, by int) Mem { return Mem{Base: at[p], Index: x, Scale: lane, Disp: by * lane} }

	Label("row")
	XORQ(x, x)
	Label("more")
	sum, pair, u := vector(), vector(), vector()
	VMOVUPS(value("v", -1), sum)
	VADDPS(value("v", 1), sum, sum)
	VMOVUPS(value("north", 0), pair)
	VADDPS(value("south", 0), pair, pair)
	VADDPS(pair, sum, sum)
	if volume {
		VMOVUPS(value("below", 0), pair)
		VADDPS(value("above", 0), pair, pair)
		VADDPS(pair, sum, sum)
	}
	VMOVUPS(value("v", 0), u)
	VMULPS(sides, u, pair)
	VSUBPS(pair, sum, sum)
	VMULPS(mu, sum, sum)
	VSUBPS(value("v0", 0), u, pair)
	VMULPS(value("b", 0), pair, pair)
	VSUBPS(pair, sum, sum)
	VADDPS(sum, u, u)
	VMOVUPS(u, value("dst", 0))
	ADDQ(U8(lanes), x)
	CMPQ(x, last)
	JLE(LabelRef("more"))
	end := GP64()
	LEAQ(Mem{Base: last, Disp: lanes}, end)
	CMPQ(x, end)
	JGE(LabelRef("end"))
	MOVQ(last, x)
	JMP(LabelRef("more"))
	Label("end")
	by := GP64()
	Load(Param("dstStride"), by)
	ADDQ(by, at["dst"])
	Load(Param("fieldStride"), by)
	ADDQ(by, at["v0"])
	ADDQ(by, at["b"])
	Load(Param("stride"), by)
	for _, p := range pointers {
		ADDQ(by, at[p])
	}
	Repeat(rows, "row")
	End()
}
