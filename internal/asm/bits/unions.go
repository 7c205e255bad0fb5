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
		"sets the bits of the keys of other that are not above those of own, for so many words of 64 keys.")
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

// A group in Go has these vectors: the neighbours that precede, the sides of the image, the links,
// and the voxels with one and with two of them.
const (
	sidesAt  = 27
	linksAt  = sidesAt + 3
	linkedAt = linksAt + 27
	twiceAt  = linkedAt + 1
)

func inGroup(base Register, k int) Mem { return Mem{Base: base, Disp: 64 * k} }

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
		VMOVDQU64(v, inGroup(group, k))
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
		VMOVDQU64(v, inGroup(group, later))
		Advance(apart, here, next)
	}
	End()
}

// A chooser has the vectors of a group while its links are chosen.
type chooser struct {
	group         Register
	linked, twice VecVirtual
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
	for axis, by := range [3]int{place/9 - 1, place/3%3 - 1, place%3 - 1} {
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
	VMOVDQU64(v, inGroup(c.group, linksAt+place))
	VPTERNLOGQ(A|B&C, v, c.linked, c.twice)
	VPORQ(v, c.linked, c.linked)
}

// choose writes a function that chooses the links of a group: see choose in Go.
func choose(name string, links func(*chooser)) {
	Func(name, "func(group *uint64)", "chooses the links of eight words: see choose.")
	c := &chooser{group: Arg("group"), twice: AVX512.Zero()}
	c.linked = c.of(sidesAt, sidesAt+1, sidesAt+2)
	links(c)
	VMOVDQU64(c.linked, inGroup(c.group, linkedAt))
	VMOVDQU64(c.twice, inGroup(c.group, twiceAt))
	End()
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
	c.link(4, nil)
	c.link(22, except([]int{4, 10, 1, 19}, []int{4, 16, 7, 25}, []int{4, 12, 3, 21}, []int{4, 14, 5, 23}))
	c.link(10, except([]int{4, 1}, []int{22, 19}))
	c.link(16, except([]int{4, 7}, []int{22, 25}, []int{10, 12, 9, 15}, []int{10, 14, 11, 17}))
	c.link(12, except([]int{4, 3}, []int{22, 21}, []int{10, 9}, []int{16, 15}))
	c.link(14, except([]int{4, 5}, []int{22, 23}, []int{10, 11}, []int{16, 17}))
}

func chooseCorners(c *chooser) {
	z, y, x := c.of(4, 22), c.of(10, 16), c.of(12, 14)
	with := func(v VecVirtual, places ...int) VecVirtual {
		w := New(ZMM, VMOVDQA64, v)
		for _, k := range places {
			VPORQ(inGroup(c.group, k), w, w)
		}
		return w
	}
	c.link(4, nil)
	both := New(ZMM, VPORQ, y, x)
	VPANDQ(inGroup(c.group, 4), both, both)
	c.link(22, both)
	c.link(10, with(z))
	across := New(ZMM, VPANDQ, inGroup(c.group, 10), x)
	VPORQ(z, across, across)
	c.link(16, across)
	both = New(ZMM, VPORQ, z, y)
	c.link(12, with(both))
	c.link(14, both)
	for s := 0; s <= 18; s += 18 {
		for b := range 2 {
			c.link(s+1+6*b, with(x, 4+s, 10+6*b))
		}
	}
	for s := 0; s <= 18; s += 18 {
		for b := range 2 {
			c.link(s+3+2*b, with(y, 4+s, 12+2*b, s+1, s+7))
		}
	}
	for r := 0; r <= 6; r += 6 {
		for q := 0; q <= 2; q += 2 {
			c.link(9+r+q, with(z, 10+r, 12+q, 1+r, 19+r, 3+q, 21+q))
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
