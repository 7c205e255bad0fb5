// Package eigenmap writes the vector instructions of the implementations and of the definition of eigenmaps.
package eigenmap

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Multigrid writes products and sums of vectors stored side by side, and smoothing.
func Multigrid(ISA) {
	gram("gramOfMass256", true)
	gram("gram256", false)
	accumulate()
	flow()
	relax()
	gather("gather256", false)
	gather("gatherAcross256", true)
	interpolate()
}

// Sizes of a number and of a cell, in float64 and in float32.
const (
	number, cell         = 8, 32
	narrowNumber, narrow = 4, 16
)

// cells writes a loop over n cells.
func cells(n Register, body func()) {
	IfZero(n, "end")
	Label("more")
	body()
	Repeat(n, "more")
	Label("end")
	End()
}

// gram writes the sums of products of all lanes of a, times mass, with all of b.
func gram(name string, mass bool) {
	signature := "func(to, a, b *float64, n int)"
	if mass {
		signature = "func(to, a, b, mass *float64, n int)"
	}
	Func(name, signature, "adds the products of each lane of n cells of a with each of b, a's first.")
	to, a, b := Arg("to"), Arg("a"), Arg("b")
	var m Register
	if mass {
		m = Arg("mass")
	}
	n := Arg("n")
	sums := [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	for k, s := range sums {
		VMOVUPD(Mem{Base: to, Disp: k * cell}, s)
	}
	// The sums are stored after the loop.
	x := YMM()
	IfZero(n, "end")
	Label("more")
	y := New(YMM, VMOVUPD, Mem{Base: b})
	if mass {
		VBROADCASTSD(Mem{Base: m}, x)
		VMULPD(x, y, y)
		ADDQ(U8(number), m)
	}
	for k, s := range sums {
		x := New(YMM, VBROADCASTSD, Mem{Base: a, Disp: k * number})
		VFMADD231PD(x, y, s)
	}
	Advance(U8(cell), a, b)
	Repeat(n, "more")
	Label("end")
	for k, s := range sums {
		VMOVUPD(s, Mem{Base: to, Disp: k * cell})
	}
	End()
}

// accumulate writes the addition of from times a matrix to to.
func accumulate() {
	Func("accumulate256", "func(to, from, c *float64, n int)", "adds n cells of from, times a matrix by rows, to to.")
	to, from, c, n := Arg("to"), Arg("from"), Arg("c"), Arg("n")
	rows := [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	for k, r := range rows {
		VMOVUPD(Mem{Base: c, Disp: k * cell}, r)
	}
	cells(n, func() {
		t := New(YMM, VMOVUPD, Mem{Base: to})
		for k, r := range rows {
			x := New(YMM, VBROADCASTSD, Mem{Base: from, Disp: k * number})
			VFMADD231PD(x, r, t)
		}
		VMOVUPD(t, Mem{Base: to})
		Advance(U8(cell), to, from)
	})
}

// flow writes the addition of links times differences.
func flow() {
	Func("flow256", "func(to, here, there, link *float64, n int)",
		"adds to n cells their links times what they have more than others.")
	to, here, there, link, n := Arg("to"), Arg("here"), Arg("there"), Arg("link"), Arg("n")
	cells(n, func() {
		d := New(YMM, VMOVUPD, Mem{Base: here})
		VSUBPD(Mem{Base: there}, d, d)
		w := New(YMM, VBROADCASTSD, Mem{Base: link})
		t := New(YMM, VMOVUPD, Mem{Base: to})
		VFMADD231PD(w, d, t)
		VMOVUPD(t, Mem{Base: to})
		for _, p := range []Register{to, here, there} {
			ADDQ(U8(cell), p)
		}
		ADDQ(U8(number), link)
	})
}

// relax writes the update of every second cell of a row.
func relax() {
	Func("relax256", "func(u, f *float32, inv, along, north, south, below, above *float32, toNorth, toSouth, "+
		"toBelow, toAbove, n int)",
		"sets n cells of a row, every second one, by what is around them; along begins with the",
		"link before the first, and places of rows beside it are in bytes.")
	u, f, inv, along := Arg("u"), Arg("f"), Arg("inv"), Arg("along")
	var links, at [4]Register
	for k, name := range []string{"north", "south", "below", "above"} {
		links[k] = Arg(name)
	}
	x := GP64()
	XORQ(x, x)
	for k, name := range []string{"toNorth", "toSouth", "toBelow", "toAbove"} {
		at[k] = Arg(name)
	}
	n := Arg("n")
	cells(n, func() {
		w := New(XMM, VBROADCASTSS, Mem{Base: along, Index: x, Scale: 4})
		s := New(XMM, VMULPS, Mem{Base: u, Disp: -narrow}, w)
		VBROADCASTSS(Mem{Base: along, Index: x, Scale: 4, Disp: narrowNumber}, w)
		VFMADD231PS(Mem{Base: u, Disp: narrow}, w, s)
		for k := range links {
			l := New(XMM, VBROADCASTSS, Mem{Base: links[k], Index: x, Scale: 4})
			VFMADD231PS(Mem{Base: u, Index: at[k], Scale: 1}, l, s)
		}
		VADDPS(Mem{Base: f}, s, s)
		v := New(XMM, VBROADCASTSS, Mem{Base: inv, Index: x, Scale: 4})
		VMULPS(v, s, s)
		VMOVUPS(s, Mem{Base: u})
		Advance(U8(2*narrow), u, f)
		ADDQ(U8(2), x)
	})
}

// gather writes the addition of shares of pairs of cells to the coarser cells of a row. Each pair
// belongs to one coarser cell; with across two coarser cells share it, and its first cell goes to
// the next one.
func gather(name string, across bool) {
	doc := "adds shares of n pairs of cells to a coarser one each."
	if across {
		doc = "adds shares of n pairs of cells to coarser ones, the first of a pair to the one behind."
	}
	Func(name, "func(to, from, share *float32, n int)", doc)
	to, from, share, n := Arg("to"), Arg("from"), Arg("share"), Arg("n")
	cells(n, func() {
		t := New(XMM, VMOVUPS, Mem{Base: to})
		a := New(XMM, VBROADCASTSS, Mem{Base: share})
		b := New(XMM, VBROADCASTSS, Mem{Base: share, Disp: narrowNumber})
		if across {
			next := New(XMM, VMOVUPS, Mem{Base: to, Disp: narrow})
			VFMADD231PS(Mem{Base: from}, a, next)
			VMOVUPS(next, Mem{Base: to, Disp: narrow})
		} else {
			VFMADD231PS(Mem{Base: from}, a, t)
		}
		VFMADD231PS(Mem{Base: from, Disp: narrow}, b, t)
		VMOVUPS(t, Mem{Base: to})
		ADDQ(U8(narrow), to)
		ADDQ(U8(2*narrow), from)
		ADDQ(U8(2*narrowNumber), share)
	})
}

// interpolate writes the addition of values of coarser cells to pairs of cells.
func interpolate() {
	Func("interpolate256", "func(u, own, x, y, z, c *float32, toY, toZ, n int)",
		"adds to n pairs of cells their shares of the coarser cell that contains them, of the one",
		"before or behind it, and of those toY and toZ bytes away.")
	u, own, c, x, y, z, toY, toZ := Arg("u"), Arg("own"), Arg("c"), Arg("x"), Arg("y"), Arg("z"), Arg("toY"), Arg("toZ")
	n, at := Arg("n"), GP64()
	XORQ(at, at)
	cells(n, func() {
		for k := range 2 {
			s := XMM()
			t := New(XMM, VMOVUPS, Mem{Base: u, Disp: k * narrow})
			beside := -narrow
			if k == 1 {
				beside = narrow
			}
			for _, of := range []struct {
				share Register
				from  Mem
			}{{own, Mem{Base: c}}, {x, Mem{Base: c, Disp: beside}}, {y, Mem{Base: c, Index: toY, Scale: 1}},
				{z, Mem{Base: c, Index: toZ, Scale: 1}}} {
				VBROADCASTSS(Mem{Base: of.share, Index: at, Scale: 4, Disp: k * narrowNumber}, s)
				VFMADD231PS(of.from, s, t)
			}
			VMOVUPS(t, Mem{Base: u, Disp: k * narrow})
		}
		ADDQ(U8(2*narrow), u)
		ADDQ(U8(narrow), c)
		ADDQ(U8(2), at)
	})
}
