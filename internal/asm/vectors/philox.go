package vectors

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// A 64-bit lane is one Philox block. Each of its four words is the lower half of a lane of a
// separate register. The upper halves are arbitrary, because VPMULUDQ ignores them. So the two
// halves of a product need no packing: the lower one is the product itself, and a shift gives the
// upper one.

// A quad is the four words of a vector of blocks.
type quad [4]VecVirtual

// The blocks of a turn have an order in the lanes, with a block and its neighbour in each 128 bits.
// The packing at the end changes it to voxel order.

// inOrder returns the order of packWords.
func (i isa) inOrder() (order []int) {
	for k := range i.groups * i.blocks() {
		order = append(order, k)
	}
	return order
}

// transposed returns the order of packDwords: the first lanes of all 128 bits are the first half.
func (i isa) transposed() (order []int) {
	n := i.blocks()
	for g := range i.groups {
		for k := range n / 2 {
			order = append(order, g*n+k, g*n+n/2+k)
		}
	}
	return order
}

// interleaved returns the order of packBytes, which alternately takes two blocks from each of two
// vectors.
func (i isa) interleaved() (order []int) {
	n := i.blocks()
	for g := 0; g < i.groups; g += 2 {
		for half := range 2 {
			for k := range n / 2 {
				order = append(order, g*n+4*k+2*half, g*n+4*k+2*half+1)
			}
		}
	}
	return order
}

// A loop makes the blocks of a number of turns.
type loop struct {
	isa
	m0, m1  Op
	offsets Mem
	keys    Register // of the schedule
	first   Mem      // the counter's first word, of the turn
	dst     Register
	turns   Register
}

// begin loads the parameters that all functions share.
func (i isa) begin(order []int, orderName string) loop {
	l := loop{isa: i}
	l.dst, l.keys, l.turns = Arg("dst"), Arg("s"), Arg("turns")
	first := Load(Param("first"), GP32())
	l.first = AllocLocal(8)
	MOVL(first, l.first)
	m0 := New(i.Wide, VPBROADCASTQ, Table("multiplier0"+i.Name, 0xD2511F53))
	m1 := New(i.Wide, VPBROADCASTQ, Table("multiplier1"+i.Name, 0xCD9E8D57))
	l.m0, l.m1 = m0, m1
	l.offsets = Table(orderName+i.Name, order...)
	return l
}

// each iterates over the turns: body gets the words of a turn's blocks and adds to l.dst.
func (l loop) each(body func(groups []quad)) {
	Label("turn")
	groups := l.philox()
	body(groups)
	ADDL(U8(l.groups*l.blocks()), l.first)
	Repeat(l.turns, "turn")
	End()
}

// key copies a word of the schedule to all lanes.
func (l loop) key(n int, to VecVirtual) { VPBROADCASTD(Mem{Base: l.keys, Disp: 4 * n}, to) }

// philox computes the ten rounds for all groups in parallel, to hide the latency of multiplication.
// The schedule has the part of the first three rounds that all blocks of a row share.
func (l loop) philox() []quad {
	key, hi := l.Wide(), l.Wide()
	q := make([]quad, l.groups)
	key2 := New(l.Wide, VPBROADCASTD, l.first)
	l.key(0, key)
	for g := range q {
		// Round 1: word 2 is the upper half of the product, word 3 the lower one.
		c3 := New(l.Wide, VPADDD, l.offsets.Offset(g*l.Bytes), key2)
		VPMULUDQ(l.m0, c3, c3)
		c2 := New(l.Wide, VPSRLQ, U8(32), c3)
		l.Xor(key, c2, c2)
		q[g][2], q[g][3] = c2, c3
	}
	l.key(1, key)
	l.key(2, key2)
	for g := range q {
		// Round 2: words 0 and 1, and word 2 from word 3.
		c1 := q[g][2]
		VPMULUDQ(l.m1, c1, c1)
		c0 := New(l.Wide, VPSRLQ, U8(32), c1)
		l.Xor(key, c0, c0)
		l.Xor(key2, q[g][3], q[g][3])
		q[g] = quad{c0, c1, q[g][3], nil}
	}
	l.key(4, key)
	l.key(3, key2)
	for g := range q {
		// Round 3.
		a, b, old := q[g][0], q[g][2], q[g][1]
		c2 := l.Wide()
		VPMULUDQ(l.m1, b, b)
		VPMULUDQ(l.m0, a, a)
		l.high(b, hi, 0)
		l.xor3(key, hi, old)
		l.high(a, c2, 1)
		l.Xor(key2, c2, c2)
		q[g] = quad{old, b, c2, a}
	}
	for round := range 7 {
		l.key(5+2*round, key)
		l.key(6+2*round, key2)
		for g := range q {
			a, b, old1, old3 := q[g][0], q[g][2], q[g][1], q[g][3]
			VPMULUDQ(l.m1, b, b)
			VPMULUDQ(l.m0, a, a)
			l.high(b, hi, 0)
			l.xor3(key, hi, old1)
			l.high(a, hi, 1)
			l.xor3(key2, hi, old3)
			q[g] = quad{old1, b, old3, a}
		}
	}
	return q
}

// high moves the upper halves of products down. It alternates between a shift and a shuffle,
// because these use different execution ports.
func (l loop) high(product, to VecVirtual, turn int) {
	if l.Bytes == 64 && turn%2 == 1 {
		VPSHUFD(U8(0xf5), product, to)
		return
	}
	VPSRLQ(U8(32), product, to)
}

// Selectors of VSHUFPS: the even 32-bit lanes of two vectors, or the odd ones.
const even, odd = 0x88, 0xdd

// store writes a vector at l.dst.
func (l loop) store(v VecVirtual, disp int) { VMOVUPS(v, Mem{Base: l.dst, Disp: disp}) }

// dwords returns a vector's blocks as two vectors in voxel order, if the lanes are in transposed
// order. For every two blocks, low has word 0 of both and then word 1, and high has words 2 and 3.
func (l loop) dwords(low, high VecVirtual) (first, second VecVirtual) {
	first = New(l.Wide, VSHUFPS, U8(even), high, low)
	VSHUFPS(U8(odd), high, low, high)
	return first, high
}

// level converts a vector of blocks to levels, with two words per vector.
func (l loop) level(levels Op, q quad) (low, high VecVirtual) {
	for _, w := range q {
		VPMULUDQ(levels, w, w)
	}
	VSHUFPS(U8(odd), q[1], q[0], q[0])
	VSHUFPS(U8(odd), q[3], q[2], q[2])
	return q[0], q[2]
}

// kept returns an argument in all lanes, from memory if registers are few.
func (i isa) kept(name string, double bool) Op {
	v := i.BroadcastFloat(name, double)
	if i.Bytes == 64 {
		return v
	}
	at := AllocLocal(i.Bytes)
	VMOVUPS(v, at)
	return at
}

// shuffle returns a 16-byte constant, repeated every 128 bits.
func (i isa) shuffle(name string, order ...uint8) Mem {
	return Table(name+i.Name, slices.Repeat(order, i.Bytes/16)...)
}

func (i isa) noiseBytes() {
	Func("noiseBytes"+i.Name, "func(dst *uint8, s *uint32, first uint32, turns int, levels uint32)",
		fmt.Sprintf("writes the levels of %d voxels of a row a turn, at most 256 levels.", i.unit()))
	l := i.begin(i.interleaved(), "interleaved")
	levels := i.kept("levels", false)
	order := i.bytesOrder()
	l.each(func(groups []quad) {
		for g := 0; g < len(groups); g += 2 {
			var words [2]VecVirtual
			for k := range words {
				low, high := l.level(levels, groups[g+k])
				VPACKUSDW(high, low, low)
				words[k] = low
			}
			VPACKUSWB(words[1], words[0], words[0])
			VPSHUFB(order, words[0], words[0])
			l.store(words[0], g/2*l.Bytes)
		}
		ADDQ(U32(l.groups*l.Bytes/2), l.dst)
	})
}

func (i isa) noisePairs() {
	Func("noisePairs"+i.Name, "func(dst *uint16, s *uint32, first uint32, turns int, levels, shift uint32)",
		fmt.Sprintf("writes the levels of %d voxels of a row a turn, at most 65,536 levels, each plus shift, two "+
			"numbers of 16 bits.", i.unit()))
	l := i.begin(i.inOrder(), "inOrder")
	levels, shift := i.kept("levels", false), i.kept("shift", false)
	order := i.pairsOrder()
	l.each(func(groups []quad) {
		for g, q := range groups {
			low, high := l.level(levels, q)
			VPACKUSDW(high, low, low)
			VPSHUFB(order, low, low)
			VPADDW(shift, low, low)
			l.store(low, g*l.Bytes)
		}
		ADDQ(U32(l.groups*l.Bytes), l.dst)
	})
}

func (i isa) noiseFloats(double bool) {
	what, typ, zero := "noiseSingles", "float32", ""
	if double {
		what, typ, zero = "noiseDoubles", "float64", " −0 becomes +0."
	}
	Func(what+i.Name, "func(dst *float32, s *uint32, first uint32, turns int, levels uint32, lo, step "+typ+")",
		fmt.Sprintf("writes the values of %d voxels of a row a turn, with the ladder's arithmetic in %s.%s",
			i.unit(), typ, zero))
	l := i.begin(i.transposed(), "transposed")
	levels, lo, step := i.kept("levels", false), i.kept("lo", double), i.kept("step", double)
	l.each(func(groups []quad) {
		for g, q := range groups {
			low, high := l.level(levels, q)
			first, second := l.dwords(low, high)
			for k, v := range []VecVirtual{first, second} {
				at := (2*g + k) * l.Bytes
				if double {
					for part, h := range i.doubles(v, lo, step) {
						l.store(h, at+part*l.Bytes/2)
					}
					continue
				}
				i.singles(v, lo, step)
				l.store(v, at)
			}
		}
		ADDQ(U32(2*l.groups*l.Bytes), l.dst)
	})
}

// singles converts levels to values by float32 arithmetic.
func (i isa) singles(v VecVirtual, lo, step Op) {
	VCVTDQ2PS(v, v)
	VMULPS(step, v, v)
	VADDPS(lo, v, v)
}

// doubles converts levels to values by float64 arithmetic, in two halves. A sum with 0 changes −0
// to +0.
func (i isa) doubles(v VecVirtual, lo, step Op) (halves [2]VecVirtual) {
	for part := range halves {
		h, d := i.Half(), i.Wide()
		if part == 0 {
			VCVTDQ2PD(i.Lower(v), d)
		} else {
			i.Upper(v, h)
			VCVTDQ2PD(h, d)
		}
		VMULPD(step, d, d)
		VADDPD(lo, d, d)
		i.ToFloats(d, h)
		zero := i.Half()
		VXORPS(zero.AsX(), zero.AsX(), zero.AsX())
		VADDPS(zero, h, h)
		halves[part] = h
	}
	return halves
}
