package bits

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Unions writes all functions of package unions.
func Unions(ISA) {
	notAbove("notAbove8AVX512", 1, func(own, other Op) Op { return New(K, VPCMPUB, LE, own, other) },
		func(k, to Op) { KMOVQ(k, to) })
	notAbove("notAbove32AVX512", 4, func(own, other Op) Op { return New(K, VPCMPUD, LE, own, other) },
		func(k, to Op) { KMOVW(k, to) })
	near()
	choose("facesAVX512", chooseFaces)
	choose("cornersAVX512", chooseCorners)
}

// notAbove writes a function that compares keys: see compareKeys in Go.
func notAbove(name string, size int, compare func(own, other Op) Op, store func(k, to Op)) {
	Func(name, "func(to *uint64, own, other *"+map[int]string{1: "uint8", 4: "uint32"}[size]+", words int)",
		"sets a bit for each key of other that is not above that of own; a word has 64 keys.")
	to, own, other, words := Arg("to"), Arg("own"), Arg("other"), Arg("words")
	Label("word")
	for i := range size {
		v := New(ZMM, VMOVDQU64, Mem{Base: other, Disp: 64 * i})
		store(compare(Mem{Base: own, Disp: 64 * i}, v), Mem{Base: to, Disp: i * vector / size})
	}
	Advance(I32(64*size), own, other)
	Advance(I32(vector), to)
	Repeat(words, "word")
	End()
}

// A group in Go has these vectors: the neighbours that precede, the sides of the image, the further
// links, the voxels with one and with two of them, and the bits of the numbers of first links.
const (
	sidesAt   = 27
	furtherAt = sidesAt + 3
	linkedAt  = furtherAt + 27
	twiceAt   = linkedAt + 1
	numberAt  = twiceAt + 1
)

func inGroup(base Register, k int) Mem { return Mem{Base: base, Disp: 64 * k} }

// inPlace is the number of a place, whose x counts most.
func inPlace(z, y, x int) int { return 9*x + 3*y + z }

// near writes a function that finds the neighbours that precede voxels: see near in Go.
func near() {
	Func("nearAVX512", "func(group, here, next, masks *uint64, apart, row, plane int, before, behind, flip uint64)",
		"finds the neighbours that precede the voxels of eight words: see near. Distances are of bytes.")
	group, here, next, masks := Arg("group"), Arg("here"), Arg("next"), Arg("masks")
	apart, row, plane := Arg("apart"), Arg("row"), Arg("plane")
	before, behind := AVX512.Broadcast("before", 8), AVX512.Broadcast("behind", 8)
	flip := AVX512.Broadcast("flip", 8)
	not := New(ZMM, VPXORQ, flip, AVX512.Ones())
	back := New(GP64, MOVQ, row)
	NEGQ(back)
	var exists [9]VecVirtual
	for k := range exists {
		exists[k] = New(ZMM, VMOVDQU64, Mem{Base: masks})
		ADDQ(plane, masks)
	}
	for k := range 13 {
		v := New(ZMM, VPXORQ, Mem{Base: here}, flip)
		later, from := 26-k, Mem{Base: here}
		if k < 9 {
			VPTERNLOGQ(A&B&C, before, exists[k], v)
			from.Base = next
		} else {
			VPANDQ(exists[k-9], v, v)
		}
		place := inPlace(k/9, k/3%3, k%3)
		VMOVDQU64(v, inGroup(group, place))
		switch k / 3 % 3 {
		case 0:
			from = from.Idx(row, 1)
		case 2:
			from = from.Idx(back, 1)
		}
		v = New(ZMM, VMOVDQU64, from)
		switch k % 3 {
		case 0:
			VPSHRDQ(U8(1), from.Offset(8), v, v)
		case 2:
			VPSHLDQ(U8(1), from.Offset(-8), v, v)
		}
		VPTERNLOGQ((A^B)&C, exists[later%9], not, v)
		if k < 9 {
			VPANDQ(behind, v, v)
		}
		VMOVDQU64(v, inGroup(group, 26-place))
		Advance(apart, here, next)
	}
	End()
}

// A chooser has the vectors of a group while its links are chosen.
type chooser struct {
	group, to     Register
	linked, twice VecVirtual
	number        [5]VecVirtual // the bits of the number of the first link
	links         int
}

func (c *chooser) of(places ...int) VecVirtual {
	v := New(ZMM, VMOVDQU64, inGroup(c.group, places[0]))
	for _, k := range places[1:] {
		VPORQ(inGroup(c.group, k), v, v)
	}
	return v
}

// all returns the voxels with all of some neighbours.
func (c *chooser) all(places ...int) VecVirtual {
	v := c.of(places[0])
	for _, k := range places[1:] {
		VPANDQ(inGroup(c.group, k), v, v)
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
		except = AVX512.Zero()
	}
	for _, s := range sides {
		VPORQ(s, except, except)
	}
	v := New(ZMM, VPANDNQ, inGroup(c.group, place), except)
	c.links++
	for bit, number := range c.number {
		if c.links>>bit&1 == 1 {
			VPTERNLOGQ(A|B&^C, c.linked, v, number)
		}
	}
	further := New(ZMM, VPANDQ, v, c.linked)
	VMOVDQU64(further, inGroup(c.group, furtherAt+place))
	VPORQ(further, c.twice, c.twice)
	VPORQ(v, c.linked, c.linked)
}

// choose writes a function that chooses the links of a group: see choose in Go.
func choose(name string, links func(*chooser)) {
	Func(name, "func(group *uint64, to *uint8)", "chooses the links of eight words: see choose.")
	c := &chooser{group: Arg("group"), to: Arg("to"), twice: AVX512.Zero()}
	c.linked = c.of(sidesAt, sidesAt+1, sidesAt+2)
	for bit := range c.number {
		c.number[bit] = New(ZMM, VMOVDQA64, c.linked)
	}
	links(c)
	for bit, number := range c.number {
		VMOVDQU64(number, inGroup(c.group, numberAt+bit))
	}
	c.bytes()
	VMOVDQU64(c.linked, inGroup(c.group, linkedAt))
	VMOVDQU64(c.twice, inGroup(c.group, twiceAt))
	End()
}

// bytes writes the number of each voxel's first link.
func (c *chooser) bytes() {
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

func chooseFaces(c *chooser) {
	// Each list is of neighbours that are all needed for a way around.
	except := func(ways ...[]int) Op {
		v := c.all(ways[0]...)
		for _, w := range ways[1:] {
			VPORQ(c.all(w...), v, v)
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

func chooseCorners(c *chooser) {
	x, y, z := c.of(4, 22), c.of(10, 16), c.of(12, 14)
	with := func(v VecVirtual, places ...int) VecVirtual {
		w := New(ZMM, VMOVDQA64, v)
		for _, k := range places {
			VPORQ(inGroup(c.group, k), w, w)
		}
		return w
	}
	// across returns the voxels with a neighbour and one of others.
	across := func(from int, others VecVirtual) VecVirtual {
		VPANDQ(inGroup(c.group, from), others, others)
		return others
	}
	either := func(v, w VecVirtual) VecVirtual { return New(ZMM, VPORQ, v, w) }
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
