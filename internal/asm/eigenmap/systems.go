package eigenmap

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Systems writes the functions for several systems of equations at once: four numbers for each node of a graph.
func Systems(ISA) {
	sweep()
	addRows()
	addNext()
	flows()
	products()
	multiples()
}

// node returns the memory of the numbers of a node, whose index is in a register that is overwritten.
func node(x, index GPVirtual) Mem {
	SHLQ(U8(5), index)
	return Mem{Base: x, Index: index, Scale: 1}
}

// A row is the links of a node: those from begin to end.
type row struct{ x, to, weight, begin, end GPVirtual }

func rowArgs() row {
	return row{Arg("x"), Arg("to"), Arg("weight"), Arg("begin"), Arg("end")}
}

// add adds the products of the links of node i to sum.
func (r row) add(i GPVirtual, sum VecVirtual) {
	k, end := GP64(), GP64()
	MOVLQSX(Mem{Base: r.begin, Index: i, Scale: 4}, k)
	MOVLQSX(Mem{Base: r.end, Index: i, Scale: 4}, end)
	CMPQ(k, end)
	JGE(LabelRef("added"))
	Label("link")
	other, weight := GP64(), New(XMM, VBROADCASTSS, Mem{Base: r.weight, Index: k, Scale: 4})
	MOVLQSX(Mem{Base: r.to, Index: k, Scale: 4}, other)
	VFMADD231PD(node(r.x, other), New(YMM, VCVTPS2PD, weight), sum)
	INCQ(k)
	CMPQ(k, end)
	JL(LabelRef("link"))
	Label("added")
}

func sweep() {
	Func("sweep256", "func(sums, right, inverse, x *float64, to *int32, weight *float32, begin, end *int32, first, step, last int)",
		"sets the numbers x of nodes, from first by step until last, to inverse times right and the products of their links. "+
			"To four sums each it adds the products of x with right, and x² over inverse.")
	right, inverse, r, i := Arg("right"), Arg("inverse"), rowArgs(), Arg("first")
	products, squares := AVX2.Zero(), AVX2.Zero()
	Label("node")
	at := New(GP64, MOVQ, i)
	own := New(YMM, VMOVUPD, node(right, at))
	sum := AVX2.Copy(own)
	r.add(i, sum)
	x := New(YMM, VMULPD, New(YMM, VBROADCASTSD, Mem{Base: inverse, Index: i, Scale: 8}), sum)
	VMOVUPD(x, Mem{Base: r.x, Index: at, Scale: 1})
	VFMADD231PD(x, own, products)
	VFMADD231PD(x, sum, squares)
	ADDQ(Address("step"), i)
	CMPQ(i, Address("last"))
	JNE(LabelRef("node"))
	sums := Arg("sums")
	for k, v := range []VecVirtual{products, squares} {
		to := Mem{Base: sums, Disp: 32 * k}
		VADDPD(to, v, v)
		VMOVUPD(v, to)
	}
	End()
}

func addRows() {
	Func("addRows256", "func(sums, x *float64, to *int32, weight *float32, begin, end, into *int32, first, last, least int)",
		"adds the products of the links of nodes, from first until last, to sums of the nodes in into, if these are at least least.")
	sums, r, into, i := Arg("sums"), rowArgs(), Arg("into"), Arg("first")
	Label("node")
	next := GP64()
	MOVLQSX(Mem{Base: into, Index: i, Scale: 4}, next)
	CMPQ(next, Address("least"))
	JLT(LabelRef("next"))
	sum := AVX2.Zero()
	r.add(i, sum)
	to := node(sums, next)
	VADDPD(to, sum, sum)
	VMOVUPD(sum, to)
	Label("next")
	INCQ(i)
	CMPQ(i, Address("last"))
	JNE(LabelRef("node"))
	End()
}

func addNext() {
	Func("addNext256", "func(x, from *float64, into *int32, nodes int)", "adds to the numbers of each node those of a node of the next graph.")
	x, from, into, n := Arg("x"), Arg("from"), Arg("into"), Arg("nodes")
	Label("node")
	other := GP64()
	MOVLQSX(Mem{Base: into}, other)
	sum := New(YMM, VMOVUPD, Mem{Base: x})
	VADDPD(node(from, other), sum, sum)
	VMOVUPD(sum, Mem{Base: x})
	ADDQ(U8(32), x)
	ADDQ(U8(4), into)
	Repeat(n, "node")
	End()
}

func flows() {
	Func("flows256", "func(to, u, v, weights *float64, nodes int)", "adds w(u − v) to the numbers of each node.")
	to, u, v, w, n := Arg("to"), Arg("u"), Arg("v"), Arg("weights"), Arg("nodes")
	Label("node")
	apart := New(YMM, VMOVUPD, Mem{Base: u})
	VSUBPD(Mem{Base: v}, apart, apart)
	sum := New(YMM, VMOVUPD, Mem{Base: to})
	VFMADD231PD(New(YMM, VBROADCASTSD, Mem{Base: w}), apart, sum)
	VMOVUPD(sum, Mem{Base: to})
	Advance(U8(32), to, u, v)
	ADDQ(U8(8), w)
	Repeat(n, "node")
	End()
}

func products() {
	Func("products256", "func(sums, y, x *float64, pairs int)", "adds the products of y with the numbers of pairs of nodes to four sums.")
	sums, y, x, n := Arg("sums"), Arg("y"), Arg("x"), Arg("pairs")
	some := []VecVirtual{New(YMM, VMOVUPD, Mem{Base: sums}), AVX2.Zero()}
	Label("nodes")
	for k, sum := range some {
		VFMADD231PD(Mem{Base: x, Disp: 32 * k}, New(YMM, VBROADCASTSD, Mem{Base: y, Disp: 8 * k}), sum)
	}
	ADDQ(U8(64), x)
	ADDQ(U8(16), y)
	Repeat(n, "nodes")
	VADDPD(some[0], some[1], some[1])
	VMOVUPD(some[1], Mem{Base: sums})
	End()
}

func multiples() {
	Func("multiples256", "func(to, y, by *float64, nodes int)", "adds four multiples of y to the numbers of each node.")
	to, y, by, n := Arg("to"), Arg("y"), New(YMM, VMOVUPD, Mem{Base: Arg("by")}), Arg("nodes")
	Label("node")
	sum := New(YMM, VMOVUPD, Mem{Base: to})
	VFMADD231PD(New(YMM, VBROADCASTSD, Mem{Base: y}), by, sum)
	VMOVUPD(sum, Mem{Base: to})
	ADDQ(U8(32), to)
	ADDQ(U8(8), y)
	Repeat(n, "node")
	End()
}
