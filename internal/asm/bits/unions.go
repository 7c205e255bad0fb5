package bits

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Unions writes all functions of package unions.
func Unions(i ISA) {
	if i.Bytes == 64 {
		notAbove(i, 1, func(own, other Op) Op { return New(K, VPCMPUB, GE, other, own) },
			func(bits Op, to Mem) { KMOVQ(bits, to) })
		notAbove(i, 4, func(own, other Op) Op { return New(K, VPCMPUD, GE, other, own) },
			func(bits Op, to Mem) { KMOVW(bits, to) })
	} else {
		notAbove(i, 1, func(own, other Op) Op {
			return New(GP32, VPMOVMSKB, New(YMM, VPCMPEQB, own, New(YMM, VPMAXUB, other, own)))
		}, func(bits Op, to Mem) { MOVL(bits, to) })
		notAbove(i, 4, func(own, other Op) Op {
			return New(GP32, VMOVMSKPS, New(YMM, VPCMPEQD, own, New(YMM, VPMAXUD, other, own))).As8()
		}, func(bits Op, to Mem) { MOVB(bits, to) })
	}
	near(i)
	choose(i, "faces", (*chooser).faces)
	choose(i, "corners", (*chooser).corners)
}

// named returns the name of a function with its instruction set.
func named(i ISA, name string) string { return name + strings.ToUpper(i.Name) }

// notAbove writes a function that compares keys of size bytes: see compareKeys in Go. compare gets
// a vector of them and the memory of others.
func notAbove(i ISA, size int, compare func(own, other Op) Op, store func(bits Op, to Mem)) {
	Func(named(i, fmt.Sprint("notAbove", 8*size)), fmt.Sprintf("func(to *uint64, own, other *uint%d, words int)", 8*size),
		"sets a bit for each key of other that is not above that of own; a word has 64 keys.")
	to, own, other, words := Arg("to"), Arg("own"), Arg("other"), Arg("words")
	Label("word")
	for at := 0; at < 64*size; at += i.Bytes {
		v := i.Copy(Mem{Base: own, Disp: at})
		store(compare(v, Mem{Base: other, Disp: at}), Mem{Base: to, Disp: at / size / 8})
	}
	Advance(I32(64*size), own, other)
	Advance(I32(8), to)
	Repeat(words, "word")
	End()
}

// A group in Go has these vectors: the neighbours that precede, the sides of the image, the further
// links, the bits of the numbers of first links, and the words with further links. The middle place is of
// the voxels themselves, and of minima. With AVX2 a call takes half of each.
const (
	middle    = 13
	sidesAt   = 27
	furtherAt = sidesAt + 3
	numberAt  = furtherAt + 27
	someAt    = numberAt + 5
)

func inGroup(base Register, k int) Mem { return Mem{Base: base, Disp: 64 * k} }

// inPlace is the number of a place, whose x counts most.
func inPlace(z, y, x int) int { return 9*x + 3*y + z }

// near writes a function that finds the neighbours that precede voxels: see near in Go.
func near(i ISA) {
	Func(named(i, "near"), "func(group, here, next, masks *uint64, apart, row, plane int, before, behind, flip uint64)",
		"finds the neighbours that precede the voxels of a vector of words: see near. Distances are of bytes.")
	group, here, next, masks := Arg("group"), Arg("here"), Arg("next"), Arg("masks")
	apart, row, plane := Arg("apart"), Arg("row"), Arg("plane")
	before, behind := i.Broadcast("before", 8), i.Broadcast("behind", 8)
	flip, not := i.Broadcast("flip", 8), i.Ones()
	i.Xor(flip, not, not)
	back := New(GP64, MOVQ, row)
	NEGQ(back)
	var exists [9]VecVirtual
	for k := range exists {
		exists[k] = i.Copy(Mem{Base: masks})
		ADDQ(plane, masks)
	}
	i.Move(exists[4], inGroup(group, middle))
	// within changes v to the bits of v ^ turn that are in two masks, or in one and nil.
	within := func(v, turn, mask, and VecVirtual) {
		if i.Bytes == 32 {
			i.Xor(turn, v, v)
			i.And(mask, v, v)
		} else {
			VPTERNLOGQ((A^B)&C, mask, turn, v)
		}
		if and != nil {
			i.And(and, v, v)
		}
	}
	for k := range 13 {
		from, inBefore, inBehind := Mem{Base: here}, VecVirtual(nil), VecVirtual(nil)
		v := i.Copy(from)
		if k < 9 {
			from.Base, inBefore, inBehind = next, before, behind
		}
		within(v, flip, exists[k%9], inBefore)
		place := inPlace(k/9, k/3%3, k%3)
		i.Move(v, inGroup(group, place))
		switch k / 3 % 3 {
		case 0:
			from = from.Idx(row, 1)
		case 2:
			from = from.Idx(back, 1)
		}
		v = i.Copy(from)
		shift(i, v, from, 1-k%3)
		within(v, not, exists[(26-k)%9], inBehind)
		i.Move(v, inGroup(group, 26-place))
		Advance(apart, here, next)
	}
	End()
}

// shift moves the bits of v, which are at from, down (1), up (−1) or not at all (0). The bits that move in are those of
// the adjacent word.
func shift(i ISA, v VecVirtual, from Mem, down int) {
	switch {
	case down == 0:
	case i.Bytes == 64 && down > 0:
		VPSHRDQ(U8(1), from.Offset(8), v, v)
	case i.Bytes == 64:
		VPSHLDQ(U8(1), from.Offset(-8), v, v)
	case down > 0:
		VPSRLQ(U8(1), v, v)
		i.Or(New(YMM, VPSLLQ, U8(63), i.Copy(from.Offset(8))), v, v)
	default:
		VPSLLQ(U8(1), v, v)
		i.Or(New(YMM, VPSRLQ, U8(63), i.Copy(from.Offset(-8))), v, v)
	}
}

// A chooser has the vectors of a group while its links are chosen.
type chooser struct {
	ISA
	group, to    Register
	linked, zero VecVirtual
	number       [5]VecVirtual // the bits of the number of the first link
	links        int
}

func (c *chooser) of(places ...int) VecVirtual {
	v := c.Copy(inGroup(c.group, places[0]))
	for _, k := range places[1:] {
		c.Or(inGroup(c.group, k), v, v)
	}
	return v
}

// all returns the voxels with all of some neighbours.
func (c *chooser) all(places ...int) VecVirtual {
	v := c.of(places[0])
	for _, k := range places[1:] {
		c.And(inGroup(c.group, k), v, v)
	}
	return v
}

// link chooses the links to a place, except those of voxels in a vector, which may be nil and is
// changed.
func (c *chooser) link(place int, except Op) {
	var sides []Op
	for axis, by := range [3]int{place%3 - 1, place/3%3 - 1, place/9 - 1} {
		if by == 0 {
			sides = append(sides, inGroup(c.group, sidesAt+axis))
		}
	}
	if except == nil {
		except = c.Zero()
	}
	for _, s := range sides {
		c.Or(s, except, except)
	}
	v := c.AndNot(inGroup(c.group, place), except)
	further := c.Wide()
	c.And(v, c.linked, further)
	c.further(place, further)
	first := c.AndNot(v, c.linked)
	c.links++
	for bit, number := range c.number {
		if c.links>>bit&1 == 1 {
			c.Or(first, number, number)
		}
	}
	c.Or(first, c.linked, c.linked)
}

// further stores further links to a place, and the words that have any.
func (c *chooser) further(place int, v VecVirtual) {
	c.Move(v, inGroup(c.group, furtherAt+place))
	some := inGroup(c.group, someAt).Offset(place)
	if c.Bytes == 64 {
		KMOVB(New(K, VPTESTMQ, v, v), some)
		return
	}
	none := New(GP32, VMOVMSKPD, New(YMM, VPCMPEQQ, c.zero, v))
	XORL(U8(15), none)
	MOVB(none.As8(), some)
}

// choose writes a function that chooses the links of a group: see choose in Go.
func choose(i ISA, name string, links func(*chooser)) {
	Func(named(i, name), "func(group *uint64, to *uint8)", "chooses the links of a vector of words: see choose.")
	c := &chooser{ISA: i, group: Arg("group"), to: Arg("to"), zero: i.Zero()}
	VMOVDQU(c.zero.AsY(), inGroup(c.group, someAt))
	c.linked = c.of(sidesAt, sidesAt+1, sidesAt+2)
	for bit := range c.number {
		c.number[bit] = c.Copy(c.linked)
	}
	links(c)
	for bit, number := range c.number {
		c.Move(number, inGroup(c.group, numberAt+bit))
	}
	c.further(middle, c.AndNot(inGroup(c.group, middle), c.linked))
	if i.Bytes == 64 {
		c.bytes512()
	} else {
		c.bytes256()
	}
	End()
}

// bytes512 writes the number of each voxel's first link.
func (c *chooser) bytes512() {
	var ones [len(c.number)]VecVirtual
	for bit := range ones {
		ones[bit] = New(ZMM, VPBROADCASTB, New(GP32, MOVL, U32(1<<bit)))
	}
	for lane := range 8 {
		var v VecVirtual
		for bit, one := range ones {
			with := New(K, KMOVQ, inGroup(c.group, numberAt+bit).Offset(8*lane))
			if bit == 0 {
				v = New(ZMM, VMOVDQU8_Z, one, with)
			} else {
				VPADDB(one, v, with, v)
			}
		}
		VMOVDQU64(v, inGroup(c.to, lane))
	}
}

// bytes256 does so with AVX2: each byte of a vector selects its bit of a copy of 32 bits.
func (c *chooser) bytes256() {
	var ones [len(c.number)]VecVirtual
	for bit := range ones {
		ones[bit] = New(YMM, VPBROADCASTB, New(XMM, VMOVD, New(GP32, MOVL, U32(1<<bit))))
	}
	spread := New(YMM, VMOVDQU, Table("spread", 0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303))
	single := New(YMM, VPBROADCASTQ, New(XMM, VMOVQ, New(GP64, MOVQ, U64(0x8040201008040201))))
	for lane := range 8 {
		var v VecVirtual
		for bit, one := range ones {
			w := New(YMM, VPBROADCASTD, inGroup(c.group, numberAt+bit).Offset(4*lane))
			VPSHUFB(spread, w, w)
			VPAND(single, w, w)
			VPCMPEQB(single, w, w)
			VPAND(one, w, w)
			if bit == 0 {
				v = w
			} else {
				VPOR(w, v, v)
			}
		}
		VMOVDQU(v, Mem{Base: c.to, Disp: 32 * lane})
	}
}

// faces: see chooseFaces in Go.
func (c *chooser) faces() {
	// Each list is of neighbours that are all needed for a way around.
	except := func(ways ...[]int) Op {
		v := c.all(ways[0]...)
		for _, w := range ways[1:] {
			c.Or(c.all(w...), v, v)
		}
		return v
	}
	// At a side of the image, a neighbour at that side is on a way from the outside.
	const sideY, sideX = sidesAt + 1, sidesAt + 2
	c.link(4, except([]int{sideX, 10, 1}, []int{sideX, 16, 7}, []int{sideX, 12, 3}, []int{sideX, 14, 5}))
	c.link(22, except([]int{4, 10, 1, 19}, []int{4, 16, 7, 25}, []int{4, 12, 3, 21}, []int{4, 14, 5, 23},
		[]int{sideX, 10, 19}, []int{sideX, 16, 25}, []int{sideX, 12, 21}, []int{sideX, 14, 23}))
	for s := 0; s <= 6; s += 6 {
		ways := [][]int{{4, 1 + s}, {22, 19 + s}, {4, 3, 12, 9 + s}, {4, 5, 14, 11 + s}, {22, 21, 12, 9 + s},
			{22, 23, 14, 11 + s}, {sideY, 12, 9 + s}, {sideY, 14, 11 + s}}
		if s > 0 {
			ways = append(ways, []int{10, 12, 9, 15}, []int{10, 14, 11, 17})
		}
		c.link(10+s, except(ways...))
	}
	c.link(12, except([]int{4, 3}, []int{22, 21}, []int{10, 9}, []int{16, 15}))
	c.link(14, except([]int{4, 5}, []int{22, 23}, []int{10, 11}, []int{16, 17}))
}

// corners: see chooseCorners in Go.
func (c *chooser) corners() {
	x, y, z := c.of(4, 22), c.of(10, 16), c.of(12, 14)
	with := func(v VecVirtual, places ...int) VecVirtual {
		w := c.Copy(v)
		for _, k := range places {
			c.Or(inGroup(c.group, k), w, w)
		}
		return w
	}
	// across returns the voxels with a neighbour and one of others.
	across := func(from int, others VecVirtual) VecVirtual {
		c.And(inGroup(c.group, from), others, others)
		return others
	}
	either := func(v, w VecVirtual) VecVirtual {
		both := c.Wide()
		c.Or(v, w, both)
		return both
	}
	c.link(4, nil)
	c.link(22, across(4, with(either(y, z), 9, 11, 15, 17)))
	c.link(10, with(x))
	c.link(16, either(x, across(10, with(z, 3, 5, 21, 23))))
	c.link(12, either(x, y))
	c.link(14, either(either(x, y), across(12, c.of(1, 7, 19, 25))))
	for s := 0; s <= 18; s += 18 {
		for r := 0; r <= 6; r += 6 {
			c.link(s+1+r, either(with(z, 4+s, 10+r), either(across(22-s, c.of(9+r, 11+r)), across(16-r, c.of(3+s, 5+s)))))
		}
	}
	for s := 0; s <= 18; s += 18 {
		for q := 0; q <= 2; q += 2 {
			c.link(s+3+q, either(with(y, 4+s, 12+q, s+1, s+7), across(22-s, c.of(9+q, 15+q))))
		}
	}
	for r := 0; r <= 6; r += 6 {
		for q := 0; q <= 2; q += 2 {
			c.link(9+r+q, with(x, 10+r, 12+q, 1+r, 19+r, 3+q, 21+q))
		}
	}
	for s := 0; s <= 18; s += 18 {
		for r := 0; r <= 6; r += 6 {
			for q := 0; q <= 2; q += 2 {
				c.link(s+r+q, c.of(4+s, 10+r, 12+q, s+1+r, s+3+q, 9+r+q))
			}
		}
	}
}
