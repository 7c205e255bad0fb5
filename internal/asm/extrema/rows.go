package extrema

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A conversion processes contiguous rows of n values at src, and writes rows that are stride bytes
// apart at dst.
type conversion struct{ dst, src, n, line, rows Register }

// eachRow loads the parameters of a conversion and loops over its rows. take converts the n values
// from src on, without moving the pointers. At the label "stop", done is the number of values of
// the row that were converted before.
func eachRow(from int, take func(c conversion, done Register)) {
	c := conversion{dst: GP64(), src: GP64(), n: Arg("n"), line: Arg("dst"), rows: Arg("rows")}
	stride, done, total := Arg("stride"), GP64(), GP64()
	Load(Param("src"), c.src)
	XORQ(total, total)
	IfZero(c.rows, "stop")
	Label("row")
	MOVQ(c.line, c.dst)
	XORQ(done, done)
	take(c, done)
	ADDQ(c.n, total)
	LEAQ(Mem{Base: c.src, Index: c.n, Scale: uint8(from)}, c.src)
	ADDQ(stride, c.line)
	Repeat(c.rows, "row")
	XORQ(done, done)
	Label("stop")
	VZEROUPPER()
	ADDQ(done, total)
	Store(total, ReturnIndex(0))
	RET()
}

// fetch loads the parameters ahead and step, and returns a function that prefetches the cache lines
// of one row.
func fetch() func() {
	ahead, step := Arg("ahead"), Arg("step")
	return func() {
		PREFETCHT1(Mem{Base: ahead})
		PREFETCHT1(Mem{Base: ahead, Disp: 64})
		ADDQ(step, ahead)
	}
}
