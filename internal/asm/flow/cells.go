package flow

import (
	"fmt"
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A kit has the functions of a multigrid solver; the portable kit documents it.
type kit struct{ ISA }

// lanes returns the number of values of float32 in a vector.
func (m kit) lanes() int { return m.Bytes / lane }

func (m kit) write() {
	m.relax("begin", false)
	m.relax("relax", true)
	m.remain()
	m.rest()
	m.blend()
	m.axpy("turn", false)
	m.axpy("advance", true)
	m.dot()
}

// A loop is a function over a row of cells, with registers for its parameters.
type loop struct {
	kit
	at map[string]Register
	x  Register
	n  Register
}

// begin is the start of a function with lists of float32, with other parameters before and after them.
func (m kit) begin(name, doc, before, lists, after string) *loop {
	Func(fmt.Sprint(name, 8*m.Bytes), "func("+before+lists+" *float32, n int"+after+")", doc)
	l := &loop{m, map[string]Register{}, GP64(), Arg("n")}
	for _, p := range strings.Split(lists, ", ") {
		l.at[p] = Arg(p)
	}
	XORQ(l.x, l.x)
	return l
}

// of addresses list[x+by].
func (l *loop) of(list string, by int) Mem {
	return Mem{Base: l.at[list], Index: l.x, Scale: lane, Disp: by * lane}
}

// all loops over the row, by values at a time, stores sums, and ends the function.
func (l *loop) all(by int, body func(), sums ...VecVirtual) {
	Label("more")
	body()
	ADDQ(U8(by), l.x)
	CMPQ(l.x, l.n)
	JLT(LabelRef("more"))
	for i, v := range sums {
		VMOVUPD(v, Mem{Base: Arg("sums"), Disp: i * l.Bytes})
	}
	End()
}

// A row of cells and the rows around it, and the factors of links to these.
const (
	around  = "u, north, south, below, above"
	factors = ", along, linkNorth, linkSouth, linkBelow, linkAbove"
)

var (
	rows   = []string{"north", "south", "below", "above"}
	linked = []string{"linkNorth", "linkSouth", "linkBelow", "linkAbove"}
)

// neighbourSum sums the linked neighbours of a cell.
func (l *loop) neighbourSum(along VecVirtual, links []VecVirtual) VecVirtual {
	sum := New(l.Wide, VMOVUPS, l.of("link", 0))
	VMULPS(l.of("u", -1), sum, sum)
	t := New(l.Wide, VMOVUPS, l.of("link", 1))
	VMULPS(l.of("u", 1), t, t)
	VADDPS(t, sum, sum)
	VMULPS(along, sum, sum)
	pairs := [2]VecVirtual{l.Wide(), l.Wide()}
	for i, p := range pairs {
		VMULPS(l.of(rows[2*i], 0), links[2*i], p)
		VMULPS(l.of(rows[2*i+1], 0), links[2*i+1], t)
		VADDPS(t, p, p)
	}
	VADDPS(pairs[1], pairs[0], pairs[0])
	VMULPS(l.of("width", 0), pairs[0], pairs[0])
	VADDPS(pairs[0], sum, sum)
	return sum
}

// links are the parameters of the rows around one.
func (l *loop) links() (along VecVirtual, links []VecVirtual) {
	along = l.BroadcastFloat("along", false)
	for _, p := range linked {
		links = append(links, l.BroadcastFloat(p, false))
	}
	return along, links
}

// relax sets the cells of one colour from F and, with neighbours, from the cells around them.
func (m kit) relax(name string, neighbours bool) {
	lists, after, doc := "u, f, diag", "", "sets the cells of a colour to f·(1/diag), and the others to 0."
	if neighbours {
		lists, after = around+", f, diag, link, width", factors+" float32"
		doc = "sets the cells of a colour so that their equations hold."
	}
	l := m.begin(name, doc, "", lists, after+", colour uint64")
	var chosen Register // the cells of the colour, with AVX2 by their sign bits
	if m.Bytes == 64 {
		chosen = New(K, KMOVW, Arg("colour").As32())
	} else {
		chosen = m.Broadcast("colour", 8)
	}
	var along VecVirtual
	var links []VecVirtual
	if neighbours {
		along, links = l.links()
	}
	single := New(XMM, VMOVD, New(GP32, MOVL, U32(math.Float32bits(1))))
	one := New(m.Wide, VBROADCASTSS, single)
	l.all(m.lanes(), func() {
		var v VecVirtual
		if neighbours {
			v = l.neighbourSum(along, links)
			VADDPS(l.of("f", 0), v, v)
		} else {
			v = New(l.Wide, VMOVUPS, l.of("f", 0))
		}
		VMULPS(New(l.Wide, VDIVPS, l.of("diag", 0), one), v, v)
		switch {
		case m.Bytes == 64 && neighbours:
			VMOVUPS(v, chosen, l.of("u", 0))
			return
		case m.Bytes == 64:
			VMOVUPS_Z(v, chosen, v)
		case neighbours:
			VBLENDVPS(chosen, v, New(YMM, VMOVUPS, l.of("u", 0)), v)
		default:
			VANDPS(chosen, v, v)
		}
		VMOVUPS(v, l.of("u", 0))
	})
}

func (m kit) remain() {
	l := m.begin("remain", "sets to to what is left of f.", "", "to, "+around+", f, diag, link, width", factors+" float32")
	along, links := l.links()
	l.all(m.lanes(), func() {
		v := l.neighbourSum(along, links)
		VADDPS(l.of("f", 0), v, v)
		t := New(l.Wide, VMOVUPS, l.of("diag", 0))
		VMULPS(l.of("u", 0), t, t)
		VSUBPS(t, v, v)
		VMOVUPS(v, l.of("to", 0))
	})
}

// rest is in float64, with one sum for each of eight values that lie side by side.
func (m kit) rest() {
	l := m.begin("rest",
		"keeps what is left of the equations, and adds up its squares and its products with u, eight sums each.",
		"sums *float64, ", "to, "+around+", link, width, over, b, v0", factors+", scale float64")
	along := l.BroadcastFloat("along", true)
	parts := 64 / m.Bytes
	squares, products := l.Zeros(parts), l.Zeros(parts)
	l.all(8, func() {
		for part := range parts {
			by := part * m.lanes() / 2
			u, e, t := l.Wide(), l.Wide(), l.Wide()
			VCVTPS2PD(l.of("u", by), u)
			less := func(list string, by int, to VecVirtual) {
				VCVTPS2PD(l.of(list, by), to)
				VSUBPD(u, to, to)
			}
			less("u", by-1, e)
			w := New(l.Wide, VCVTPS2PD, l.of("link", by))
			VMULPD(w, e, e)
			less("u", by+1, t)
			VCVTPS2PD(l.of("link", by+1), w)
			VMULPD(w, t, t)
			VADDPD(t, e, e)
			VMULPD(along, e, e)
			pairs := [2]VecVirtual{l.Wide(), l.Wide()}
			for i, p := range pairs {
				less(rows[2*i], by, p)
				VBROADCASTSD(Address(linked[2*i]), w)
				VMULPD(w, p, p)
				less(rows[2*i+1], by, t)
				VBROADCASTSD(Address(linked[2*i+1]), w)
				VMULPD(w, t, t)
				VADDPD(t, p, p)
			}
			VADDPD(pairs[1], pairs[0], pairs[0])
			VCVTPS2PD(l.of("width", by), w)
			VMULPD(w, pairs[0], pairs[0])
			VADDPD(pairs[0], e, e)
			VMULPD(along, w, w)
			VCVTPS2PD(l.of("b", by), t)
			VMULPD(t, w, w)
			less("v0", by, t)
			VMULPD(t, w, w)
			VADDPD(w, e, e)
			VBROADCASTSD(Address("scale"), t)
			VMULPD(e, t, t)
			kept := m.Half()
			m.ToFloats(t, kept)
			VMOVUPS(kept, l.of("to", by))
			VCVTPS2PD(l.of("over", by), t)
			VMULPD(e, t, t)
			VMULPD(t, t, t)
			VADDPD(t, squares[part], squares[part])
			VMULPD(u, e, e)
			VADDPD(e, products[part], products[part])
		}
	}, append(squares, products...)...)
}

func (m kit) blend() {
	l := m.begin("blend", "adds four rows, each times its share.", "", "dst, a, b, c, d", ", wa, wb, wc, wd float32")
	var w []VecVirtual
	for _, p := range []string{"wa", "wb", "wc", "wd"} {
		w = append(w, l.BroadcastFloat(p, false))
	}
	l.all(m.lanes(), func() {
		one := New(l.Wide, VMULPS, l.of("a", 0), w[0])
		t := New(l.Wide, VMULPS, l.of("b", 0), w[1])
		VADDPS(t, one, one)
		two := New(l.Wide, VMULPS, l.of("c", 0), w[2])
		VMULPS(l.of("d", 0), w[3], t)
		VADDPS(t, two, two)
		VADDPS(two, one, one)
		VADDPS(l.of("dst", 0), one, one)
		VMOVUPS(one, l.of("dst", 0))
	})
}

// axpy is to = to + by·from, or from + by·to.
func (m kit) axpy(name string, add bool) {
	doc := "sets to to from + by·to."
	if add {
		doc = "adds by·from to to."
	}
	l := m.begin(name, doc, "", "to, from", ", by float32")
	by := l.BroadcastFloat("by", false)
	times, plus := "to", "from"
	if add {
		times, plus = plus, times
	}
	l.all(m.lanes(), func() {
		v := New(l.Wide, VMULPS, l.of(times, 0), by)
		VADDPS(l.of(plus, 0), v, v)
		VMOVUPS(v, l.of("to", 0))
	})
}

func (m kit) dot() {
	l := m.begin("dot", "adds up products in float64, eight sums.", "sums *float64, ", "a, b", "")
	sums := l.Zeros(64 / m.Bytes)
	l.all(8, func() {
		for part, sum := range sums {
			by := part * m.lanes() / 2
			a, b := l.Wide(), l.Wide()
			VCVTPS2PD(l.of("a", by), a)
			VCVTPS2PD(l.of("b", by), b)
			VMULPD(b, a, a)
			VADDPD(a, sum, sum)
		}
	}, sums...)
}
