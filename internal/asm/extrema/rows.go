package extrema

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A conversion processes contiguous rows of n values at src, and writes rows that are stride bytes
// apart at dst.
type conversion struct{ dst, src, n, line, rows Register }

// eachRow loads the parameters of a conversion and loops over its rows. take converts the n values
// from src on, without moving the pointers. At the label "stop", done is the number of values of
// the row that were converted before.
func eachRow(from int, take func(c conversion, done Register)) {
	c := conversion{dst: GP64(), src: GP64(), n: Load(Param("n"), GP64()), line: Load(Param("dst"), GP64()),
		rows: Load(Param("rows"), GP64())}
	stride, done, total := Load(Param("stride"), GP64()), GP64(), GP64()
	Load(Param("src"), c.src)
	XORQ(total, total)
	TESTQ(c.rows, c.rows)
	JZ(LabelRef("stop"))
	Label("row")
	MOVQ(c.line, c.dst)
	XORQ(done, done)
	take(c, done)
	ADDQ(c.n, total)
	LEAQ(Mem{Base: c.src, Index: c.n, Scale: uint8(from)}, c.src)
	ADDQ(stride, c.line)
	DECQ(c.rows)
	JNZ(LabelRef("row"))
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
	ahead, step := Load(Param("ahead"), GP64()), Load(Param("step"), GP64())
	return func() {
		PREFETCHT1(Mem{Base: ahead})
		PREFETCHT1(Mem{Base: ahead, Disp: 64})
		ADDQ(step, ahead)
	}
}
