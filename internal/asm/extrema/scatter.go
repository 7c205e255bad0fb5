package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// scatter adds changes to four tables that are a number of bytes apart, in turn. So an addition
// need not wait for the store of the previous one.
func scatter(size int, isa string) {
	Func(fmt.Sprintf("scatter%d%s", 8*size, isa), "func(table *int32, bytes int, values, changes *byte, n int)",
		"adds n changes to the entries of four tables that lie so many bytes apart.")
	var tables [4]Register
	tables[0] = Arg("table")
	bytes := Arg("bytes")
	for i := 1; i < 4; i++ {
		tables[i] = GP64()
		LEAQ(Mem{Base: tables[i-1], Index: bytes, Scale: 1}, tables[i])
	}
	values, changes, n := Arg("values"), Arg("changes"), Arg("n")
	level := map[int]func(Op, Op){1: MOVBLZX, 2: MOVWLZX, 4: MOVL}[size]
	change := map[int]func(Op, Op){1: MOVBLSX, 2: MOVWLSX, 4: MOVL}[size]
	one := func(i int) {
		v, c := GP32(), GP32()
		level(Mem{Base: values, Disp: i * size}, v)
		change(Mem{Base: changes, Disp: i * size}, c)
		ADDL(c, Mem{Base: tables[i%4], Index: v.As64(), Scale: 4})
	}
	step := func(label string, many int) {
		Label(label)
		CMPQ(n, U8(many))
		JL(LabelRef("after" + label))
		for i := range many {
			one(i)
		}
		ADDQ(U8(many*size), values)
		ADDQ(U8(many*size), changes)
		SUBQ(U8(many), n)
		JMP(LabelRef(label))
		Label("after" + label)
	}
	step("eight", 8)
	step("one", 1)
	RET()
}
