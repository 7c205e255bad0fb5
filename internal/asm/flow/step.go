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
	step(i, "plane", "")
	step(i, "volume", "below, above, ", "below", "above")
	kit{i}.write()
}

// step generates one step of rows; the portable one documents it. If a row is not a whole number of
// vectors, its last vector overlaps the one before and stores the same values again.
func step(i ISA, name, across string, more ...string) {
	lanes, pointers := i.Bytes/lane, append([]string{"v", "north", "south"}, more...)
	Func(fmt.Sprint(name, 8*i.Bytes), "func(dst, v, north, south, "+across+
		"v0, b *float32, n, count, dstStride, stride, fieldStride int, mu, sides float32)",
		fmt.Sprintf("takes a step of count rows of n values, %d or more; strides are in bytes.", lanes))
	at := map[string]Register{}
	for _, p := range append([]string{"dst", "v0", "b"}, pointers...) {
		at[p] = Arg(p)
	}
	rows, mu, sides := Arg("count"), i.BroadcastFloat("mu", false), i.BroadcastFloat("sides", false)
	x, last := GP64(), Arg("n")
	SUBQ(U8(lanes), last)
	value := func(p string, by int) Mem { return Mem{Base: at[p], Index: x, Scale: lane, Disp: by * lane} }

	Label("row")
	XORQ(x, x)
	Label("more")
	pair := i.Wide()
	sum := New(i.Wide, VMOVUPS, value("v", -1))
	VADDPS(value("v", 1), sum, sum)
	for k := 1; k < len(pointers); k += 2 {
		VMOVUPS(value(pointers[k], 0), pair)
		VADDPS(value(pointers[k+1], 0), pair, pair)
		VADDPS(pair, sum, sum)
	}
	u := New(i.Wide, VMOVUPS, value("v", 0))
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
	end := New(GP64, LEAQ, Mem{Base: last, Disp: lanes})
	CMPQ(x, end)
	JGE(LabelRef("end"))
	MOVQ(last, x)
	JMP(LabelRef("more"))
	Label("end")
	ADDQ(Arg("dstStride"), at["dst"])
	by := Arg("fieldStride")
	ADDQ(by, at["v0"])
	ADDQ(by, at["b"])
	by = Arg("stride")
	for _, p := range pointers {
		ADDQ(by, at[p])
	}
	Repeat(rows, "row")
	End()
}
