package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Binned writes all functions of package binned.
func Binned(i ISA) {
	column(i)
	tilted(i)
	writePlace(i)
	writeDots(i)
	writeAdds(i)
}

// column processes a column of vectors of two planes: see the portable kernel.
func column(i ISA) {
	parameters, masked := "", ""
	if i.Bytes == 64 {
		parameters, masked = ", mask uint64", ", of the lanes of a mask"
	}
	Func(fmt.Sprint("column", 8*i.Bytes),
		"func(below, above *float32, owed *int32, out *uint8, stride, apart, rows int"+parameters+")",
		fmt.Sprintf("stores the changes of a column of %d values of rows of the plane below%s.", i.Bytes/4, masked))
	f := frame{ISA: i, width: floats(), below: Arg("below"), above: Arg("above"), owed: Arg("owed"), stride: Arg("stride"),
		rows: Arg("rows"), fetch: func() {}}
	out, apart := Arg("out"), Arg("apart")
	if i.Bytes == 64 {
		f.minusOne = i.Ones()
		mask := f.mask("mask")
		f.emit = func(_, change VecVirtual) { VPMOVDB(change, mask, Mem{Base: out}) }
	} else {
		f.emit = func(_, change VecVirtual) {
			packed := New(XMM, i.Upper, change)
			VPACKSSDW(packed, change.AsX(), packed)
			VPACKSSWB(packed, packed, packed)
			VMOVQ(packed, Mem{Base: out})
		}
	}
	emit := f.emit
	f.emit = func(level, change VecVirtual) {
		emit(level, change)
		ADDQ(apart, out)
	}
	f.volume()
	End()
}

// tilted computes a row of Y, row + (of + along), by whole vectors. The remaining values follow under a mask or, with
// AVX2, one by one.
func tilted(i ISA) {
	Func(fmt.Sprint("tilt", 8*i.Bytes), "func(dst, row, along *float32, of float32, n int)",
		"sets n values of dst to row + (of + along).")
	dst, row, along, n, x := Arg("dst"), Arg("row"), Arg("along"), Arg("n"), GP64()
	of := i.BroadcastFloat("of", false)
	XORQ(x, x)
	at := func(base Register) Mem { return Mem{Base: base, Index: x, Scale: 4} }
	Label("more")
	CMPQ(n, U8(i.Bytes/4))
	JL(LabelRef("rest"))
	v := New(i.Wide, VADDPS, at(along), of)
	VADDPS(at(row), v, v)
	VMOVUPS(v, at(dst))
	ADDQ(U8(i.Bytes/4), x)
	SUBQ(U8(i.Bytes/4), n)
	JMP(LabelRef("more"))
	Label("rest")
	if i.Bytes == 64 {
		k := FirstLanes(n)
		VMOVUPS_Z(at(along), k, v)
		VADDPS(of, v, v)
		w := New(ZMM, VMOVUPS_Z, at(row), k)
		VADDPS(w, v, v)
		VMOVUPS(v, k, at(dst))
	} else {
		IfZero(n, "done")
		VADDSS(at(along), of.AsX(), v.AsX())
		VADDSS(at(row), v.AsX(), v.AsX())
		VMOVSS(v.AsX(), at(dst))
		INCQ(x)
		DECQ(n)
		JMP(LabelRef("rest"))
		Label("done")
	}
	End()
}
