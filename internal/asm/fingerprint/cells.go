package fingerprint

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Sums are accumulators, several so that an addition need not wait for the one before.
type sums []VecVirtual

// total adds up all lanes of all sums, returns them, and ends the function.
func (i isa) total(s sums) {
	for _, more := range s[1:] {
		VPADDQ(more, s[0], s[0])
	}
	at := AllocLocal(i.Bytes)
	VMOVUPD(s[0], at)
	VZEROUPPER()
	sum := New(GP64, MOVQ, at)
	for lane := 8; lane < i.Bytes; lane += 8 {
		ADDQ(at.Offset(lane), sum)
	}
	Store(sum, ReturnIndex(0))
	RET()
}

// add adds a − b to a sum.
func (s sums) add(i isa, k int, a, b VecVirtual) {
	d := New(i.Wide, VPSUBQ, b, a)
	VPADDQ(d, s[k], s[k])
}

// least is the minimum of weights. As float64 they are positive normal numbers.
func (i isa) least(a, b VecVirtual) VecVirtual {
	return New(i.Wide, VMINPD, a, b)
}

// columns loops over vectors of columns, and down the rows of each; each plane has a base register.
// Two sets of registers hold the current and the next row in turns, so that nothing is copied.
func (i isa) columns(planes []Register, registers int, row func(to []VecVirtual),
	between func(before, after []VecVirtual)) {
	stride, rows, columns := Arg("stride"), Arg("rows"), Arg("columns")
	starts := make([]Register, len(planes))
	for k, p := range planes {
		starts[k] = New(GP64, MOVQ, p)
	}
	var even, odd []VecVirtual
	for range registers {
		even, odd = append(even, i.Wide()), append(odd, i.Wide())
	}
	left := GP64()
	next := func(before, after []VecVirtual) {
		Advance(stride, planes...)
		row(after)
		between(before, after)
		DECQ(left)
	}
	Label("column")
	for k, p := range planes {
		MOVQ(starts[k], p)
	}
	row(even)
	MOVQ(rows, left)
	Label("row")
	next(even, odd)
	JZ(LabelRef("bottom"))
	next(odd, even)
	JNZ(LabelRef("row"))
	Label("bottom")
	Advance(U8(i.Bytes), starts...)
	SUBQ(U8(i.Bytes/8), columns)
	JNZ(LabelRef("column"))
}

func (i isa) volume() {
	Func("volume"+i.Name, "func(below, above *uint64, stride, rows, columns int) uint64",
		"adds up the eight cells of each position of a plane, with rows stride bytes apart.")
	below, above := Arg("below"), Arg("above")
	s := sums(i.Zeros(4))
	i.columns([]Register{below, above}, 4, func(to []VecVirtual) {
		v, x, z, xz := to[0], to[1], to[2], to[3]
		VMOVUPD(Mem{Base: below}, v)
		next := New(i.Wide, VMOVUPD, Mem{Base: below, Disp: 8})
		VMINPD(next, v, x)
		VMINPD(Mem{Base: above}, v, z)
		VMINPD(Mem{Base: above, Disp: 8}, next, next)
		VMINPD(next, z, xz)
	}, func(before, after []VecVirtual) {
		s.add(i, 0, before[1], before[0]) // a square and the cube
		s.add(i, 1, before[2], before[3]) // a square and an edge
		y, xy := i.least(after[0], before[0]), i.least(after[1], before[1])
		s.add(i, 2, y, xy) // a square and an edge
		yz, xyz := i.least(after[2], before[2]), i.least(after[3], before[3])
		s.add(i, 3, xyz, yz) // the vertex and an edge
	})
	i.total(s)
}

func (i isa) area() {
	Func("area"+i.Name, "func(plane *uint64, stride, rows, columns int) uint64",
		"adds up the four cells of each position of a 2D image, with rows stride bytes apart.")
	plane := Arg("plane")
	s := sums(i.Zeros(2))
	i.columns([]Register{plane}, 2, func(to []VecVirtual) {
		VMOVUPD(Mem{Base: plane}, to[0])
		VMINPD(Mem{Base: plane, Disp: 8}, to[0], to[1])
	}, func(before, after []VecVirtual) {
		s.add(i, 0, before[0], before[1])
		y, xy := i.least(after[0], before[0]), i.least(after[1], before[1])
		s.add(i, 1, xy, y)
	})
	i.total(s)
}
