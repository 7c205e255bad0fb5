package extrema

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Write writes all functions of package extrema.
//
// edge, keepY and keepZ are the masks of its columns. order is its table for packing lanes. Each row prefetches two
// cache lines at ahead, which advances by step. The outside is above every voxel, except in functions for the first
// column of an image whose last level is the highest value of a lane. With AVX2, these are the same.
func Write(i ISA) {
	for _, w := range Lanes {
		for _, edge := range []bool{false, true}[:i.Bytes/32] {
			volume(i, w, edge)
			area(i, w, edge)
		}
		scatter(i, w.Bytes)
		affine(i, w.Bytes, false)
		affine(i, w.Bytes, true)
	}
	shift(i, 1, 1)
	if i.Bytes == 64 {
		shift(i, 2, 1)
	}
	shift(i, 2, 2)
}

// named returns the name of a function.
func named(i ISA, w Lane, kernel string, edge bool) string {
	if edge {
		kernel += "Edge"
	}
	return fmt.Sprint(kernel, 8*w.Bytes, i.Name)
}

func volume(i ISA, w Lane, edge bool) {
	Func(named(i, w, "volume", edge), "func(below, above, owed, values, changes, order, ahead *byte, step, stride, rows "+
		"int, edge, keepY, keepZ uint64) int",
		"appends the changes of a column of rows of two planes, and returns how many.")
	f, n := arguments(i, w, edge)
	f.above, f.owed, f.keepZ = Arg("above"), Arg("owed"), f.mask("keepZ")
	f.volume()
	End(n)
}

func area(i ISA, w Lane, edge bool) {
	Func(named(i, w, "area", edge),
		"func(below, values, changes, order, ahead *byte, step, stride, rows int, edge, keepY uint64) int",
		"appends the changes of a column of rows of a 2D image, and returns how many.")
	f, n := arguments(i, w, edge)
	f.area()
	End(n)
}

// mask loads a mask.
func (f frame) mask(name string) Op {
	if f.Bytes == 64 {
		return New(K, KMOVQ, Arg(name))
	}
	at := AllocLocal(32)
	VMOVDQU(f.Broadcast(name, 8), at)
	return at
}

// arguments loads the common parameters of volume and area, and returns the number of changes, too.
func arguments(i ISA, w Lane, edge bool) (f frame, n Register) {
	values, changes, ahead, step := Arg("values"), Arg("changes"), Arg("ahead"), Arg("step")
	f, n = frame{ISA: i, width: width{Lane: w}, below: Arg("below"), stride: Arg("stride"), rows: Arg("rows")}, GP64()
	f.keepY = f.mask("keepY")
	XORQ(n, n)
	f.fetch = func() {
		PREFETCHT1(Mem{Base: ahead})
		PREFETCHT1(Mem{Base: ahead, Disp: 64})
		ADDQ(step, ahead)
	}
	if i.Bytes == 64 {
		f.minusOne = i.Ones()
		if edge {
			f.edge = f.mask("edge")
		}
		f.emit = func(level, change VecVirtual) {
			found := w.Pack(level, change)
			w.Load(level, Mem{Base: values, Index: n, Scale: uint8(w.Bytes)})
			w.Load(change, Mem{Base: changes, Index: n, Scale: uint8(w.Bytes)})
			ADDQ(found, n)
		}
		return f, n
	}
	order := Arg("order")
	f.emit = func(level, change VecVirtual) { emit256(w, level, change, values, changes, order, n) }
	// All ones except in the first lane if it is at the edge.
	at, is := AllocLocal(32), Arg("edge")
	VMOVDQU(i.Ones(), at)
	one := New(GP64, MOVQ, I32(-1))
	SHLQ(U8(8*w.Bytes), one)
	IfZero(is, "inside")
	MOVQ(one, at)
	Label("inside")
	f.edge = at
	return f, n
}

// emit256 appends the lanes with a change other than 0, and their levels, eight lanes at a time, packed by the table
// order.
func emit256(w Lane, level, change VecVirtual, to, toChanges, order, n Register) {
	zeros, bits := YMM(), GP32()
	w.Equal(change, AVX2.Zero(), zeros)
	lists := []struct {
		from VecVirtual
		to   Register
	}{{level, to}, {change, toChanges}}
	if w.Bytes == 4 {
		VMOVMSKPS(zeros, bits)
		XORL(U8(0xff), bits)
		packed := YMM()
		lanes := New(YMM, VPMOVZXBD, Mem{Base: order, Index: bits.As64(), Scale: 8})
		for _, l := range lists {
			VPERMD(l.from, lanes, packed)
			VMOVDQU(packed, Mem{Base: l.to, Index: n, Scale: 4})
		}
		POPCNTL(bits, bits)
		ADDQ(bits.As64(), n)
		return
	}
	VPMOVMSKB(zeros, bits)
	NOTL(bits)
	if w.Bytes == 2 { // one bit per pair, sixteen bits in total
		every := New(GP32, MOVL, U32(0x55555555))
		PEXTL(every, bits, bits)
	}
	uppers := []VecVirtual{XMM(), XMM()}
	for k, l := range lists {
		AVX2.Upper(l.from, uppers[k])
	}
	for i := range 4 / w.Bytes {
		lanes, packed := XMM(), XMM()
		some := New(GP32, MOVBLZX, bits.As8())
		move := VMOVDQU
		if w.Bytes == 1 {
			move = VMOVQ
		} else {
			SHLL(U8(1), some)
		}
		move(Mem{Base: order, Index: some.As64(), Scale: 8}, lanes)
		for k, l := range lists {
			from := l.from.AsX()
			if i*w.Bytes/2 == 1 {
				from = uppers[k]
			}
			VPSHUFB(lanes, from, packed)
			move(packed, Mem{Base: l.to, Index: n, Scale: uint8(w.Bytes)})
			if w.Bytes == 1 && i%2 == 0 {
				VPSRLDQ(U8(8), from, from)
			}
		}
		POPCNTL(some, some)
		ADDQ(some.As64(), n)
		if i+1 < 4/w.Bytes {
			SHRL(U8(8), bits)
		}
	}
}

// scatter adds changes to four tables that are a number of bytes apart, in turn. So an addition
// need not wait for the store of the previous one.
func scatter(i ISA, size int) {
	Func(fmt.Sprint("scatter", 8*size, i.Name), "func(table *int32, bytes int, values, changes *byte, n int)",
		"adds n changes to the entries of four tables. The argument bytes is the distance between tables.")
	tables, bytes := [4]Register{Arg("table")}, Arg("bytes")
	for i := 1; i < 4; i++ {
		tables[i] = New(GP64, LEAQ, Mem{Base: tables[i-1], Index: bytes, Scale: 1})
	}
	values, changes, n := Arg("values"), Arg("changes"), Arg("n")
	level := map[int]func(Op, Op){1: MOVBLZX, 2: MOVWLZX, 4: MOVL}[size]
	change := map[int]func(Op, Op){1: MOVBLSX, 2: MOVWLSX, 4: MOVL}[size]
	step := func(label string, many int) {
		Label(label)
		CMPQ(n, U8(many))
		JL(LabelRef("after" + label))
		for i := range many {
			v, c := GP32(), GP32()
			level(Mem{Base: values, Disp: i * size}, v)
			change(Mem{Base: changes, Disp: i * size}, c)
			ADDL(c, Mem{Base: tables[i%4], Index: v.As64(), Scale: 4})
		}
		Advance(U8(many*size), values, changes)
		SUBQ(U8(many), n)
		JMP(LabelRef(label))
		Label("after" + label)
	}
	step("eight", 8)
	step("one", 1)
	RET()
}
