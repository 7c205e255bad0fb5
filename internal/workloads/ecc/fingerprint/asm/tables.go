package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// AVX2 has no compression. What a mask of eight bits keeps of eight values is moved together by a shuffle that is
// looked up in a table.

// Where the shuffles of bytes, of those behind eight others, and of words begin in a table.
const (
	ofFirstBytes  = 0
	ofSecondBytes = 8 * 256
	ofWords       = 16 * 256
)

// together is the table. The indices of what is kept come first, then anything.
func together() Mem {
	table := GLOBL("togetheravx2", RODATA|NOPTR)
	at := 0
	for _, kind := range []struct{ width, first int }{{1, 0}, {1, 8}, {2, 0}} {
		for mask := range 256 {
			shuffle, n := make([]uint64, kind.width), 0
			for index := range 8 {
				if mask>>index&1 == 0 {
					continue
				}
				for i := range kind.width {
					shuffle[n/8] |= uint64(kind.first+kind.width*index+i) << (8 * (n % 8))
					n++
				}
			}
			for _, word := range shuffle {
				DATA(at, U64(word))
				at += 8
			}
		}
	}
	return table
}

// narrow are what a row of voxels is of, with instructions of AVX2.
type narrow struct {
	name        string
	bytes       int
	least, most func(...Op)
	same        func(...Op)
	lastOf      func(Op, Op, Op) // the last lane of 16 bytes, to memory
}

func narrowBytes() narrow {
	return narrow{
		name: "bytes", bytes: 1, least: VPMINUB, most: VPMAXUB, same: VPCMPEQB,
		lastOf: VPEXTRB,
	}
}

func narrowPairs(signed bool) narrow {
	t := narrow{
		name: "pairs", bytes: 2, least: VPMINUW, most: VPMAXUW, same: VPCMPEQW,
		lastOf: VPEXTRW,
	}
	if signed {
		t.name, t.least, t.most = "signed", VPMINSW, VPMAXSW
	}
	return t
}

// turns is turns of values for AVX2, of rows of one voxel more than a vector has at least. Vectors are of voxels that
// have a next one, and the last of them ends with the row's last such voxel; what turns in it is what is new. The last
// voxel of a row is looked at by itself.
func (t narrow) turns(table Mem, volume, greatest bool) {
	minimum := t.least
	if greatest {
		minimum = t.most
	}
	const vector = 32
	lanes := vector / t.bytes
	streams := beginTurns(t.name, "avx2", fmt.Sprintf("rows of more than %d voxels", lanes), volume, greatest)
	planes := []Register{Load(Param("below"), GP64())}
	if volume {
		planes = append(planes, Load(Param("above"), GP64()))
	}
	p, w := planes[0], Load(Param("stride"), GP64())
	to := listsOf(streams)
	last, on := AllocLocal(8), AllocLocal(8) // where the last vector of a row begins, and how far the next row is from there
	{
		bytes, next := Load(Param("columns"), GP64()), GP64()
		if t.bytes == 2 {
			ADDQ(bytes, bytes)
		}
		SUBQ(U8(vector+t.bytes), bytes)
		MOVQ(w, next)
		SUBQ(bytes, next)
		MOVQ(next, on)
		ADDQ(p, bytes)
		MOVQ(bytes, last)
	}
	var before []Mem // what held of the voxel before, of each kind
	for range streams {
		before = append(before, AllocLocal(8))
	}
	shuffles := GP64()
	LEAQ(table, shuffles)

	to.row()
	for _, m := range before {
		MOVQ(U32(0), m)
	}

	// kinds are those of rows at a place.
	kinds := func(disp int, register func() VecVirtual) []VecVirtual {
		least := func(a Op, b VecVirtual) VecVirtual {
			v := register()
			minimum(a, b, v)
			return v
		}
		at := func(plane Register, row int) Mem {
			if row == 0 {
				return Mem{Base: plane, Disp: disp}
			}
			return Mem{Base: plane, Index: w, Scale: 1, Disp: disp}
		}
		v0, v1 := register(), register()
		VMOVDQU(at(p, 0), v0)
		VMOVDQU(at(p, 1), v1)
		if !volume {
			return []VecVirtual{v0, least(v0, v1)}
		}
		a, b := least(at(planes[1], 0), v0), least(at(planes[1], 1), v1)
		return []VecVirtual{v0, a, least(v0, v1), least(a, b)}
	}
	// block takes a vector of voxels, of those in a mask if there is one.
	block := func(some Register) {
		rows, after := kinds(0, YMM), kinds(t.bytes, YMM)
		for s, o := range to.ends {
			held, turning := GP32(), GP32()
			h := after[s]
			minimum(h, rows[s], h)
			t.same(h, rows[s], h)
			half := XMM()
			if t.bytes == 2 {
				VEXTRACTI128(U8(1), h, half)
				VPACKSSWB(half, h.AsX(), half)
				VPMOVMSKB(half, held)
			} else {
				VPMOVMSKB(h, held)
			}
			MOVL(before[s], turning)
			LEAL(Mem{Base: turning, Index: held, Scale: 2}, turning)
			XORL(held, turning)
			SHRL(U8(lanes-1), held)
			MOVL(held, before[s])
			if some != nil {
				ANDL(some, turning)
			}
			upper := XMM()
			VEXTRACTI128(U8(1), rows[s], upper)
			for group := range lanes / 8 {
				bits, v := GP32(), XMM()
				MOVBLZX(turning.As8(), bits)
				if group < lanes/8-1 {
					SHRL(U8(8), turning)
				}
				from := rows[s].AsX()
				if group >= lanes/16 {
					from = upper
				}
				if t.bytes == 1 {
					VMOVQ(Mem{Base: shuffles, Index: bits, Scale: 8, Disp: [2]int{ofFirstBytes, ofSecondBytes}[group%2]}, v)
					VPSHUFB(v, from, v)
					VMOVQ(v, Mem{Base: o})
				} else {
					ADDL(bits, bits)
					VPSHUFB(Mem{Base: shuffles, Index: bits, Scale: 8, Disp: ofWords}, from, v)
					VMOVDQU(v, Mem{Base: o})
				}
				POPCNTL(bits, bits)
				LEAQ(Mem{Base: o, Index: bits, Scale: uint8(t.bytes)}, o)
			}
		}
	}
	advance := func(by Op, f func(Op, Op)) {
		for _, plane := range planes {
			f(by, plane)
		}
	}

	CMPQ(p, last)
	JHI(LabelRef("last"))
	Label("vector")
	if volume { // both planes are in a second cache at best
		for _, plane := range planes {
			PREFETCHT0(Mem{Base: plane, Index: w, Scale: 4})
		}
	}
	block(nil)
	advance(U8(vector), ADDQ)
	CMPQ(p, last)
	JLS(LabelRef("vector"))

	Label("last")
	{
		back, some := GP64(), GP64() // bytes of voxels that were taken, and the others, a bit each
		MOVQ(p, back)
		SUBQ(last, back)
		advance(back, SUBQ)
		if t.bytes == 2 {
			SHRQ(U8(1), back)
		}
		MOVQ(I64(1<<lanes-1), some)
		SHLXQ(back, some, some)
		if lanes == 16 {
			ANDL(U32(0xffff), some.As32())
		}
		TESTL(some.As32(), some.As32())
		JZ(LabelRef("end"))
		block(some.As32())
	}
	Label("end")
	{
		rows := kinds(vector+t.bytes-16, XMM)
		for s, o := range to.ends {
			t.lastOf(U8(16/t.bytes-1), rows[s], Mem{Base: o})
			bit := GP64()
			MOVQ(before[s], bit)
			XORQ(U8(1), bit) // turns where it did not hold before
			LEAQ(Mem{Base: o, Index: bit, Scale: uint8(t.bytes)}, o)
			nothing(t.bytes, o)
		}
	}
	{ // to the next row
		next := GP64()
		MOVQ(on, next)
		advance(next, ADDQ)
		ADDQ(w, last)
	}
	to.done()
}

// everywhere makes a vector repeat 32 bits.
func everywhere(v VecVirtual, word uint32) VecVirtual {
	w := GP32()
	MOVL(U32(word), w)
	VMOVD(w, v.AsX())
	VPBROADCASTD(v.AsX(), v)
	return v
}

// sumForms is alternateForms for AVX2, whose shuffles look up 16 numbers. There are registers for the sums alone.
func sumForms() {
	const name = "alternateformsavx2"
	TEXT(name, NOSPLIT, "func(numbers *[5 * 128]byte, factors *[5]uint64, src *byte, n int) int64")
	Pragma("noescape")
	Doc(name + " adds up the bilinear weights of n times 64 bytes with even places, less those with odd ones.")
	f := sumOfForms{src: Load(Param("src"), GP64()), n: Load(Param("n"), GP64())}
	numbers := Load(Param("numbers"), GP64())
	for i := range f.sums {
		f.sums[i] = YMM()
		VPXOR(f.sums[i], f.sums[i], f.sums[i])
	}
	nibble, signs, ones := everywhere(YMM(), 0x0f0f0f0f), everywhere(YMM(), 0xff01ff01), everywhere(YMM(), 0x00010001)
	Label("vector")
	{
		var low, high [2]VecVirtual
		for half := range low {
			low[half], high[half] = YMM(), YMM()
			VMOVDQU(Mem{Base: f.src, Disp: 32 * half}, low[half])
			VPSRLW(U8(4), low[half], high[half])
			VPAND(nibble, low[half], low[half])
			VPAND(nibble, high[half], high[half])
		}
		for i, sum := range f.sums {
			upper, lower := YMM(), YMM()
			VBROADCASTI128(Mem{Base: numbers, Disp: 128 * i}, upper)
			VBROADCASTI128(Mem{Base: numbers, Disp: 128*i + 64}, lower)
			for half := range low {
				a, b := YMM(), YMM()
				VPSHUFB(high[half], upper, a)
				VPSHUFB(low[half], lower, b)
				VPSIGNB(signs, b, b)
				VPMADDUBSW(b, a, a)
				VPMADDWD(ones, a, a)
				VPADDD(a, sum, sum)
			}
		}
	}
	ADDQ(U8(64), f.src)
	f.total(addedWide)
}
