package fingerprint

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// turned copies rows with some bits turned.
func (i isa) turned(l lane) {
	name := "turned" + l.name + i.Name
	group := i.Bytes / l.Bytes
	Func(name, "func(dst, src *byte, n, rows, stride, apart int, flip uint64) int",
		fmt.Sprintf("copies rows of n lanes, %d at least, with the bits of flip turned in every eight bytes, each with a "+
			"vector of the last one behind it, and returns how many rows.", group))
	flip, v := i.Broadcast("flip", 8), i.Wide()
	i.inRows(group, l.Bytes, l.Bytes, func(from, to Mem) VecVirtual {
		i.Xor(from, flip, v)
		VMOVUPS(v, to)
		return v
	})
}

// keys converts rows of float32 to integers of the same order: the bits of negative values except
// the sign are inverted. It is its own inverse.
func (i isa) keys() {
	group := i.Bytes / 4
	Func("keys"+i.Name, "func(dst, src *byte, n, rows, stride, apart int, before, after uint64) int",
		fmt.Sprintf("turns rows of n float32 values, %d at least, into numbers in their order, each row with a vector of "+
			"the last one behind it, and returns how many rows.", group),
		"The bits of before are turned in values, and those of after in numbers.")
	before, after, v, turned := i.Broadcast("before", 4), i.Broadcast("after", 4), i.Wide(), i.Wide()
	i.inRows(group, 4, 4, func(from, to Mem) VecVirtual {
		i.Xor(from, before, v)
		VPSRAD(U8(31), v, turned)
		VPSRLD(U8(1), turned, turned)
		i.Xor(turned, v, v)
		i.Xor(after, v, v)
		VMOVUPS(v, to)
		return v
	})
}

// inRows converts rows in groups of values from size bytes to becomes bytes. The last group ends
// with the row. A vector of the last converted value follows each row. A jump to "stop" returns the
// number of rows that are complete.
func (i isa) inRows(group, size, becomes int, take func(from, to Mem) VecVirtual) {
	dst, src, rows, n, at, done := Arg("dst"), Arg("src"), Arg("rows"), Arg("n"), GP64(), GP64()
	stride, apart := Arg("stride"), Arg("apart")
	SUBQ(U8(group), n) // where the last group begins
	XORQ(done, done)
	Label("row")
	XORQ(at, at)
	Label("group")
	last := take(Mem{Base: src, Index: at, Scale: uint8(size)}, Mem{Base: dst, Index: at, Scale: uint8(becomes)})
	CMPQ(at, n)
	JE(LabelRef("next"))
	ADDQ(U8(group), at)
	CMPQ(at, n)
	CMOVQGT(n, at)
	JMP(LabelRef("group"))
	Label("next")
	behind := i.Wide() // of the vector's last value: reading it from memory just written would stall
	x := XMM()
	switch last.Size() {
	case 64:
		y := New(YMM, VEXTRACTI64X4, U8(1), last)
		VEXTRACTI128(U8(1), y, x)
	case 32:
		VEXTRACTI128(U8(1), last, x)
	default:
		x = last
	}
	VPSRLDQ(U8(16-becomes), x, behind.AsX())
	switch becomes {
	case 1:
		VPBROADCASTB(behind.AsX(), behind)
	case 2:
		VPBROADCASTW(behind.AsX(), behind)
	case 4:
		VPBROADCASTD(behind.AsX(), behind)
	}
	VMOVUPS(behind, Mem{Base: dst, Index: at, Scale: uint8(becomes), Disp: group * becomes})
	ADDQ(stride, dst)
	ADDQ(apart, src)
	INCQ(done)
	CMPQ(done, rows)
	JL(LabelRef("row"))
	Label("stop")
	End(done)
}

// levelsOfFloats converts rows of float32 values on an affine ladder to levels, with arithmetic in
// float32 or in float64 as in floats. With AVX-512 the float32 arithmetic is fused.
func (i isa) levelsOfFloats(double bool) {
	name, parameters, group := "levelssingle"+i.Name, "lo, inverse, step float32", i.Bytes/2
	fused := i.Bytes == 64 && !double
	if double {
		name, parameters, group = "levelsdouble"+i.Name, "lo, inverse, step float64", i.Bytes/4
	}
	if fused {
		parameters = "lo, inverse, step, offset float32"
	}
	Func(name, "func(dst, src *byte, n, rows, stride, apart int, "+parameters+", last, flip uint64) int",
		fmt.Sprintf("turns rows of n float32 values on an affine ladder, %d at least, into levels of 16 bits, of which the "+
			"bits of flip are turned, each row with a vector of the last one behind it, and returns how many", group),
		"rows, up to one with a value that is above the ladder; where a bit of last above its 32 lowest is set, to one "+
			"with a value that is no level's own.")
	l := i.ladder(double)
	if fused {
		l.offset = l.BroadcastFloat("offset", double)
	}
	flip := New(l.values, VPBROADCASTW, New(XMM, VMOVQ, Arg("flip")))
	level, values := [2]VecVirtual{l.values(), l.values()}, [2]VecVirtual{l.values(), l.values()}
	var order VecVirtual
	if level[0].Size() == 64 {
		order = New(ZMM, VMOVDQU64, Table("inorder"+name, 0, 2, 4, 6, 1, 3, 5, 7))
	}
	packed := Like(level[0])
	i.inRows(group, 4, 2, func(from, to Mem) VecVirtual {
		var other [2]Register
		for half := range 2 {
			VMOVUPS(from.Offset(2*group*half), values[half])
			VPMINUD(l.last, l.nearest(values[half]), level[half]) // values off the ladder have another value
			other[half] = i.compared(NE, l.value(level[half]), values[half])
		}
		ORL(other[1], other[0])
		JNZ(LabelRef("between"))
		Label("found")
		VPACKUSDW(level[1], level[0], packed)
		switch packed.Size() {
		case 64:
			VPERMQ(packed, order, packed)
			VPXORQ(flip, packed, packed)
			VMOVDQU64(packed, to)
			return packed
		case 32:
			VPERMQ(U8(0b11011000), packed, packed)
		}
		VPXOR(flip, packed, packed)
		VMOVDQU(packed, to)
		return packed
	})
	l.off(func() {
		for half := range 2 {
			l.between(values[half], level[half])
		}
	})
}
