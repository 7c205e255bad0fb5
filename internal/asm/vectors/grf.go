package vectors

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// counts writes the number of 1 bits of each random word, as bytes or 16-bit numbers.
func (i isa) counts(what, typ string) {
	i.groups = 2 // lines have margins, so that small turns waste less
	name, bytes := what+i.Name, typ == "uint8"
	Func(name, "func(dst *"+typ+", s *uint32, first uint32, turns int)",
		fmt.Sprintf("writes the number of 1s in each of %d random words of a row a turn.", i.unit()))
	order, orderName, lanes := i.inOrder(), "inOrder", i.pairsOrder
	if bytes {
		order, orderName, lanes = i.interleaved(), "interleaved", i.bytesOrder
	}
	l := i.begin(order, orderName)
	repeat := func(what string, bytes ...uint8) Mem { return i.shuffle(what, slices.Repeat(bytes, 16/len(bytes))...) }
	ones := i.shuffle("ones", 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)
	nibbles, everyByte, pairs := repeat("nibbles", 15), repeat("everyByte", 1), repeat("everyPair", 1, 0)
	voxels := lanes()
	count := func(v VecVirtual) {
		table := New(i.Wide, VMOVUPS, ones)
		mask := New(i.Wide, VMOVUPS, nibbles)
		high := New(i.Wide, VPSRLD, U8(4), v)
		i.And(mask, v, v)
		i.And(mask, high, high)
		VPSHUFB(v, table, v)
		VPSHUFB(high, table, high)
		VPADDB(high, v, v)
		VPMADDUBSW(everyByte, v, v)
		VPMADDWD(pairs, v, v)
	}
	l.each(func(groups []quad) {
		for g, q := range groups {
			VSHUFPS(U8(even), q[1], q[0], q[0])
			VSHUFPS(U8(even), q[3], q[2], q[2])
			count(q[0])
			count(q[2])
			VPACKUSDW(q[2], q[0], q[0])
			if !bytes {
				VPSHUFB(voxels, q[0], q[0])
				l.store(q[0], g*l.Bytes)
			} else if g%2 == 1 {
				VPACKUSWB(q[0], groups[g-1][0], q[0])
				VPSHUFB(voxels, q[0], q[0])
				l.store(q[0], g/2*l.Bytes)
			}
		}
		if bytes {
			ADDQ(U32(l.groups*l.Bytes/2), l.dst)
		} else {
			ADDQ(U32(l.groups*l.Bytes), l.dst)
		}
	})
}

// weigh computes weighted sums of bytes.
func (i isa) weigh() {
	Func("weigh"+i.Name, "func(dst *uint16, src, weights *uint8, n int)",
		fmt.Sprintf("writes, n times %d of them, the sums of the 12 bytes that begin with each one, with weights "+
			"below 128.", i.Bytes),
		"Two products add up to less than 32768.")
	dst, src, from := Arg("dst"), Arg("src"), Arg("weights")
	var weights [6]VecVirtual
	for k := range weights {
		weights[k] = New(i.Wide, VPBROADCASTW, Mem{Base: from, Disp: 2 * k})
	}
	i.forward(func(at Register) {
		var sums [2]VecVirtual // of the bytes at even offsets and of those at odd ones
		for odd := range sums {
			for k, w := range weights {
				v := New(i.Wide, VMOVUPS, Mem{Base: src, Index: at, Scale: 1, Disp: 2*k + odd})
				VPMADDUBSW(w, v, v)
				if k == 0 {
					sums[odd] = v
				} else {
					VPADDW(v, sums[odd], sums[odd])
				}
			}
		}
		for k, v := range i.zipped(sums[0], sums[1]) {
			VMOVUPS(v, Mem{Base: dst, Index: at, Scale: 2, Disp: k * i.Bytes})
		}
	})
	End()
}

// zipped interleaves the 16-bit numbers of two vectors.
func (i isa) zipped(a, b VecVirtual) (both [2]VecVirtual) {
	z := i.Zip(VPUNPCKLWD, VPUNPCKHWD, b, a)
	for k := range both {
		if i.Bytes == 32 {
			both[k] = New(YMM, VPERM2I128, U8(0x20+0x11*k), z[1], z[0])
			continue
		}
		half := 4 * k // alternating every 128 bits
		both[k] = New(ZMM, VMOVUPS, Table(fmt.Sprint("quarters", k, i.Name),
			half, half+1, half+8, half+9, half+2, half+3, half+10, half+11))
		VPERMI2Q(z[1], z[0], both[k])
	}
	return both
}

// pushPairs is push for 16-bit sums, except those of the last filter.
func (i isa) pushPairs() {
	Func("pushPairs"+i.Name, "func(to *uint32, line, old0, sum0, old1, sum1, old2 *uint16, sum2 *uint32, n int)",
		"is push"+i.Name+
			" for n vectors of 16 bits, of sums that fit those, but for the last filter's, of 32.")
	to, line, last := Arg("to"), Arg("line"), Arg("sum2")
	var sums, olds [3]Register
	for k := range olds {
		if olds[k] = Arg(fmt.Sprint("old", k)); k < 2 {
			sums[k] = Arg(fmt.Sprint("sum", k))
		}
	}
	i.forward(func(at Register) {
		v := New(i.Wide, VMOVUPS, Mem{Base: line, Index: at, Scale: 1})
		for k := range 2 {
			old := Mem{Base: olds[k], Index: at, Scale: 1}
			s := New(i.Wide, VMOVUPS, Mem{Base: sums[k], Index: at, Scale: 1})
			VPSUBW(old, s, s)
			VPADDW(v, s, s)
			VMOVUPS(v, old)
			v = s
		}
		old := Mem{Base: olds[2], Index: at, Scale: 1}
		var left [2]VecVirtual
		for k := range left {
			left[k] = New(i.Wide, VPMOVZXWD, old.Offset(k*i.Bytes/2))
		}
		VMOVUPS(v, old)
		for k, o := range left {
			entered, half := i.Wide(), i.Half()
			if k == 0 {
				VPMOVZXWD(i.Lower(v), entered)
			} else {
				i.Upper(v, half)
				VPMOVZXWD(half, entered)
			}
			sum := New(i.Wide, VMOVUPS, Mem{Base: last, Index: at, Scale: 2, Disp: k * i.Bytes})
			VPSUBD(o, sum, sum)
			VPADDD(entered, sum, sum)
			VMOVUPS(sum, Mem{Base: to, Index: at, Scale: 2, Disp: k * i.Bytes})
		}
	})
	End()
}

// pairsOrder converts 16-bit words of two blocks from "word 0 of both, word 1 of both, …" to voxel
// order.
func (i isa) pairsOrder() Mem {
	return i.shuffle("pairs", 0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
}

// bytesOrder is pairsOrder for the bytes of four blocks. Two of the blocks are in other lanes than
// the rest.
func (i isa) bytesOrder() Mem {
	return i.shuffle("bytes", 0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15)
}

// forward makes a loop over arrays, with n vectors in the first one; body gets the byte offset.
func (i isa) forward(body func(at Register)) {
	n, at := Arg("n"), GP64()
	XORQ(at, at)
	Label("vector")
	body(at)
	ADDQ(U8(i.Bytes), at)
	Repeat(n, "vector")
}

// adds makes the function that adds two arrays.
func (i isa) adds(what, typ string, add func(...Op)) {
	Func(what+i.Name, "func(dst, a, b *"+typ+", n int)", "adds n vectors. dst may be a, and b the same array further on.")
	dst, a, b := Arg("dst"), Arg("a"), Arg("b")
	i.forward(func(at Register) {
		v := New(i.Wide, VMOVUPS, Mem{Base: a, Index: at, Scale: 1})
		add(Mem{Base: b, Index: at, Scale: 1}, v, v)
		VMOVUPS(v, Mem{Base: dst, Index: at, Scale: 1})
	})
	End()
}

// widens makes the function that copies unsigned integers to larger ones.
func (i isa) widens(what, to, from string, times int, widen func(...Op)) {
	Func(what+i.Name, "func(dst *"+to+", src *"+from+", n int)", "copies integers to n vectors of larger ones.")
	dst, src := Arg("dst"), Arg("src")
	i.forward(func(at Register) {
		v := New(i.Wide, widen, Mem{Base: src})
		ADDQ(U8(i.Bytes/times), src)
		VMOVUPS(v, Mem{Base: dst, Index: at, Scale: 1})
	})
	End()
}

// push passes a line through three box filters.
func (i isa) push() {
	Func("push"+i.Name, "func(to, line, old0, sum0, old1, sum1, old2, sum2 *uint64, n int)",
		"runs a line of n vectors through three box filters. Each has the line that leaves it, which the one that "+
			"enters",
		"takes the place of, and the sums before. The sums of the first two enter the next one, those of the last are the "+
			"answer.")
	to, line := Arg("to"), Arg("line")
	var sums, olds [3]Register
	for k := range sums {
		olds[k], sums[k] = Arg(fmt.Sprint("old", k)), Arg(fmt.Sprint("sum", k))
	}
	i.forward(func(at Register) {
		v := New(i.Wide, VMOVUPS, Mem{Base: line, Index: at, Scale: 1})
		for k := range sums {
			sum, old := Mem{Base: sums[k], Index: at, Scale: 1}, Mem{Base: olds[k], Index: at, Scale: 1}
			s := New(i.Wide, VMOVUPS, sum)
			VPSUBQ(old, s, s)
			VPADDQ(v, s, s)
			VMOVUPS(v, old)
			v = s
		}
		VMOVUPS(v, Mem{Base: to, Index: at, Scale: 1})
	})
	End()
}

// quantise converts 32-bit sums to levels.
func (i isa) quantise() {
	Func("quantise"+i.Name, "func(dst, sums *uint32, n int, base, most, factor, top uint32, zero, down, up uint64, near "+
		"uint32) uint32",
		"writes the levels of n vectors of sums and returns 0, or another number where one of them is too near to "+
			"the next level:",
		"(min(max(sum, base) − base, most)·factor + zero) >> down, at most top, is too near where what is shifted out, the "+
			"upper 32 bits of it, is not below near.")
	dst, sums := Arg("dst"), Arg("sums")
	base, most := i.BroadcastFloat("base", false), i.BroadcastFloat("most", false)
	factor, top, zero := i.BroadcastFloat("factor", false), i.BroadcastFloat("top", false), i.BroadcastFloat("zero", true)
	down, up := New(XMM, VMOVQ, Arg("down")), New(XMM, VMOVQ, Arg("up"))
	largest := i.Zero()
	i.forward(func(at Register) {
		v := New(i.Wide, VPMAXUD, Mem{Base: sums, Index: at, Scale: 1}, base)
		VPSUBD(base, v, v)
		VPMINUD(most, v, v)
		odds := New(i.Wide, VPSRLQ, U8(32), v)
		for _, h := range []VecVirtual{v, odds} {
			VPMULUDQ(factor, h, h)
			VPADDQ(zero, h, h)
		}
		rest := New(i.Wide, VPSLLQ, up, v)
		more := New(i.Wide, VPSLLQ, up, odds)
		VSHUFPS(U8(odd), more, rest, rest)
		VPMAXUD(rest, largest, largest)
		VPSRLQ(down, v, v)
		VPSRLQ(down, odds, odds)
		VPSLLQ(U8(32), odds, odds)
		i.Or(odds, v, v)
		VPMINUD(top, v, v)
		VMOVUPS(v, Mem{Base: dst, Index: at, Scale: 1})
	})
	i.tooNear(largest)
}

// quantiseWide converts 64-bit sums to levels.
func (i isa) quantiseWide() {
	Func("quantiseWide"+i.Name, "func(dst *uint32, sums *uint64, n int, base, most, factor, zero, drop, down, up "+
		"uint64, top, near uint32) uint32",
		"is quantise"+i.Name+" for sums below 2^63, whose distance from base is shifted by drop to 32 bits.")
	dst, sums := Arg("dst"), Arg("sums")
	base, most, factor := i.kept("base", true), i.kept("most", true), i.kept("factor", true)
	zero, top := i.kept("zero", true), i.kept("top", false)
	drop, down, up := New(XMM, VMOVQ, Arg("drop")), New(XMM, VMOVQ, Arg("down")), New(XMM, VMOVQ, Arg("up"))
	largest := i.Zero()
	i.forward(func(at Register) {
		var levels, rests [2]VecVirtual
		for k := range levels {
			v := New(i.Wide, VMOVUPS, Mem{Base: sums, Index: at, Scale: 2, Disp: k * i.Bytes})
			i.clampWide(v, base, most)
			VPSRLQ(drop, v, v)
			VPMULUDQ(factor, v, v)
			VPADDQ(zero, v, v)
			rest := New(i.Wide, VPSLLQ, up, v)
			VPSRLQ(down, v, v)
			levels[k], rests[k] = v, rest
		}
		VSHUFPS(U8(odd), rests[1], rests[0], rests[0])
		VPMAXUD(rests[0], largest, largest)
		VSHUFPS(U8(even), levels[1], levels[0], levels[0])
		VPMINUD(top, levels[0], levels[0])
		i.evenLanesFirst(levels[0])
		VMOVUPS(levels[0], Mem{Base: dst, Index: at, Scale: 1})
	})
	i.tooNear(largest)
}

// tooNear returns a bit for each lane whose dropped bits were at least near.
func (i isa) tooNear(largest VecVirtual) {
	near := i.BroadcastFloat("near", false)
	VPMAXUD(largest, near, near)
	End(i.Bits(i.Equal(largest, near)))
}

// clampWide computes min(max(v, base) − base, most) in 64 bits.
func (i isa) clampWide(v VecVirtual, base, most Op) {
	if i.Bytes == 64 {
		VPMAXUQ(base, v, v)
		VPSUBQ(base, v, v)
		VPMINUQ(most, v, v)
		return
	}
	// Negative numbers become 0, and those above most become most.
	VPSUBQ(base, v, v)
	mask := i.Zero()
	VPCMPGTQ(v, mask, mask)
	VPANDN(v, mask, v)
	limit := New(i.Wide, VMOVUPS, most)
	VPCMPGTQ(limit, v, mask)
	VBLENDVPD(mask, limit, v, v)
}

// evenLanesFirst moves the even 64-bit lanes to the lower half of a vector, and the odd ones to the
// upper.
func (i isa) evenLanesFirst(v VecVirtual) {
	if i.Bytes == 32 {
		VPERMQ(U8(0xd8), v, v)
		return
	}
	order := New(i.Wide, VMOVUPS, Table("evenLanesFirst"+i.Name, 0, 2, 4, 6, 1, 3, 5, 7))
	VPERMQ(v, order, v)
}

func (i isa) putBytes() {
	Func("putBytes"+i.Name, "func(dst *uint8, levels *uint32, n int)", "writes n vectors of bytes, levels below 256.")
	dst, levels := Arg("dst"), Arg("levels")
	var order VecVirtual
	if i.Bytes == 32 {
		order = New(i.Wide, VMOVUPS, Table[uint32]("lanes"+i.Name, 0, 4, 1, 5, 2, 6, 3, 7))
	}
	i.forward(func(Register) {
		if i.Bytes == 64 {
			for k := range 4 {
				v := New(i.Wide, VMOVUPS, Mem{Base: levels, Disp: k * i.Bytes})
				VPMOVDB(v, Mem{Base: dst, Disp: k * i.Bytes / 4})
			}
		} else {
			var v [2]VecVirtual
			for k := range v {
				v[k] = New(i.Wide, VMOVUPS, Mem{Base: levels, Disp: 2 * k * i.Bytes})
				VPACKUSDW(Mem{Base: levels, Disp: (2*k + 1) * i.Bytes}, v[k], v[k])
			}
			VPACKUSWB(v[1], v[0], v[0])
			VPERMD(v[0], order, v[0])
			VMOVUPS(v[0], Mem{Base: dst})
		}
		ADDQ(U32(4*i.Bytes), levels)
		ADDQ(U8(i.Bytes), dst)
	})
	End()
}

func (i isa) putPairs() {
	Func("putPairs"+i.Name, "func(dst *uint16, levels *uint32, n int, shift uint32)",
		"writes n vectors of levels below 65,536 as 16 bits, each plus shift, two numbers of 16 bits.")
	dst, levels := Arg("dst"), Arg("levels")
	shift := i.BroadcastFloat("shift", false)
	i.forward(func(Register) {
		v := New(i.Wide, VMOVUPS, Mem{Base: levels})
		VPACKUSDW(Mem{Base: levels, Disp: i.Bytes}, v, v)
		i.evenLanesFirst(v)
		VPADDW(shift, v, v)
		VMOVUPS(v, Mem{Base: dst})
		ADDQ(U32(2*i.Bytes), levels)
		ADDQ(U8(i.Bytes), dst)
	})
	End()
}

func (i isa) putFloats(double bool) {
	what, typ := "putSingles", "float32"
	if double {
		what, typ = "putDoubles", "float64"
	}
	Func(what+i.Name, "func(dst *float32, levels *uint32, n int, lo, step "+typ+")",
		"writes the values of n vectors of levels, with the ladder's arithmetic in "+typ+". −0 becomes +0.")
	dst, levels := Arg("dst"), Arg("levels")
	lo, step := i.BroadcastFloat("lo", double), i.BroadcastFloat("step", double)
	i.forward(func(at Register) {
		v := New(i.Wide, VMOVUPS, Mem{Base: levels, Index: at, Scale: 1})
		if double {
			for part, h := range i.doubles(v, lo, step) {
				VMOVUPS(h, Mem{Base: dst, Index: at, Scale: 1, Disp: part * i.Bytes / 2})
			}
			return
		}
		i.singles(v, lo, step)
		VMOVUPS(v, Mem{Base: dst, Index: at, Scale: 1})
	})
	End()
}
