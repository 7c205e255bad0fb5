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
	corners(i)
	faces(i)
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

// A group in Go has these vectors: the neighbours that precede, the sides of the image, the further links, the bits of
// the numbers of first links of both graphs, the first voxels of layers, and the words with further links. The middle
// place is of the voxels themselves, and of minima. With AVX2 a call takes half of each.
const (
	middle     = 13
	sidesAt    = 27
	furtherAt  = sidesAt + 3
	numberAt   = furtherAt + 27
	cornerBits = 5
	faceBits   = 3
	layersAt   = numberAt + cornerBits + faceBits
	someAt     = layersAt + 3
)

func inGroup(base Register, k int) Mem { return Mem{Base: base, Disp: 64 * k} }

// inPlace is the number of a place, whose x counts most.
func inPlace(z, y, x int) int { return 9*x + 3*y + z }

// near finds the neighbours that precede voxels: see near in Go. The arguments of the function are group, here, next,
// masks, apart, row, plane, before, behind and flip.
func near(i ISA, group Register) {
	here, next, masks := Arg("here"), Arg("next"), Arg("masks")
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

// A chooser has the vectors of a group while its links are chosen. With AVX2 the neighbours are in memory.
type chooser struct {
	ISA
	group    Register
	near     [27]Op       // the neighbours that precede
	linked   VecVirtual   // the voxels that have a link, or are next to the outside
	links, n int          // of the graph, and chosen
	number   []VecVirtual // the bits of the number of the first link
	since    []VecVirtual // by bit, with AVX-512: the voxels that were linked before the last numbers with it
	zero     VecVirtual   // with AVX2
}

// chooserOf returns a chooser of links, whose numbers have some bits.
func chooserOf(i ISA, group Register, links, bits int) *chooser {
	c := &chooser{ISA: i, group: group, links: links, number: make([]VecVirtual, bits), since: make([]VecVirtual, bits)}
	for k := range c.near {
		c.near[k] = inGroup(group, k)
	}
	for word := range 4 {
		MOVQ(I32(0), inGroup(group, someAt).Offset(8*word))
	}
	if c.linked = c.outside(); i.Bytes == 32 {
		c.zero = i.Zero()
		for bit := range c.number {
			c.number[bit] = i.Copy(c.linked)
		}
	}
	return c
}

// outside returns the voxels next to the outside.
func (c *chooser) outside() VecVirtual {
	v := c.Copy(inGroup(c.group, sidesAt))
	c.Or(inGroup(c.group, sidesAt+1), v, v)
	c.Or(inGroup(c.group, sidesAt+2), v, v)
	return v
}

// layers stores the voxels that neither the outside nor neighbours in their layers across z, y and x precede.
func (c *chooser) layers(across ...[]Op) {
	for axis, list := range across {
		c.Move(c.AndNot(inGroup(c.group, middle), c.or(append(list, c.linked)...)), inGroup(c.group, layersAt+axis))
	}
}

// faced are the places at faces.
var faced = [6]int{4, 10, 12, 14, 16, 22}

// load loads the neighbours at faces, if there are enough registers.
func (c *chooser) load() {
	for _, k := range faced {
		if c.Bytes == 64 {
			c.near[k] = c.Copy(c.near[k])
		}
	}
}

// at returns the neighbours at places.
func (c *chooser) at(places ...int) (list []Op) {
	for _, k := range places {
		list = append(list, c.near[k])
	}
	return list
}

// change computes a function of three vectors in a, with equal parts of b and d. These may be in memory.
func (c *chooser) change(f U8, a VecVirtual, b, d Op) {
	if _, in := b.(Mem); in {
		b, d = d, b
	}
	if _, in := b.(Mem); in && c.Bytes == 64 {
		b = c.Copy(b)
	}
	c.Ternary(f, d, b, a)
}

// fold changes a by two vectors of a list at a time, at most one of them in memory, and by the others one at a time.
func (c *chooser) fold(list []Op, two func(b, d Op), one func(b Op)) {
	var in, out []Op // memory, and registers
	for _, v := range list {
		if _, is := v.(Mem); is {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
	}
	for ; len(in) > 0 && len(out) > 0; in, out = in[1:], out[1:] {
		two(out[0], in[0])
	}
	for ; len(out) > 1; out = out[2:] {
		two(out[0], out[1])
	}
	for _, v := range append(in, out...) {
		one(v)
	}
}

// or returns the voxels in any vector of a list.
func (c *chooser) or(list ...Op) VecVirtual {
	v := c.Copy(list[0])
	c.fold(list[1:], func(b, d Op) { c.change(A|B|C, v, b, d) }, func(b Op) { c.Or(b, v, v) })
	return v
}

// and returns the voxels in two vectors.
func (c *chooser) and(a, b Op) VecVirtual {
	v := c.Copy(a)
	c.And(b, v, v)
	return v
}

// link chooses the links to a place, except those of voxels in any vector of a list, or in both of a pair. All further
// links are of voxels that have a link to an earlier place.
func (c *chooser) link(place int, except []Op, pairs ...[2]Op) {
	for axis, by := range [3]int{place%3 - 1, place/3%3 - 1, place/9 - 1} {
		if by == 0 {
			except = append(except, inGroup(c.group, sidesAt+axis))
		}
	}
	c.further(place, c.left(c.near[place], except, pairs))
	before := c.linked
	c.linked = c.Wide()
	c.Or(c.near[place], before, c.linked)
	c.count(before)
}

// left returns the linked voxels of v without exceptions.
func (c *chooser) left(of Op, except []Op, pairs [][2]Op) VecVirtual {
	v := c.Copy(of)
	if c.Bytes == 64 {
		started := false
		c.fold(except, func(b, d Op) { c.change(A&^(B|C), v, b, d) },
			func(b Op) { started = true; c.Ternary(A&B&^C, b, c.linked, v) })
		if !started {
			c.And(c.linked, v, v)
		}
		for _, p := range pairs {
			c.change(A&^(B&C), v, p[0], p[1])
		}
		return v
	}
	c.And(c.linked, v, v)
	if len(except) == 0 {
		except, pairs = []Op{c.and(pairs[0][0], pairs[0][1])}, pairs[1:]
	}
	all := c.or(except...)
	for _, p := range pairs {
		c.change(A|B&C, all, p[0], p[1])
	}
	return c.AndNot(v, all)
}

// count gives the next number to the voxels whose first link was chosen last. before are the voxels linked until then.
func (c *chooser) count(before VecVirtual) {
	c.n++
	for bit, number := range c.number {
		if c.n>>bit&1 == 0 {
			continue
		}
		if c.Bytes == 32 {
			c.Or(c.AndNot(c.linked, before), number, number)
			continue
		}
		if c.n%(1<<bit) == 0 {
			c.since[bit] = before
		}
		if next := c.n + 1; next <= c.links && next>>bit&1 == 1 {
			continue
		}
		if number == nil {
			c.number[bit] = c.AndNot(c.linked, c.since[bit])
		} else {
			c.Ternary(A|C&^B, c.linked, c.since[bit], number)
		}
	}
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

// end stores the minima, and the bits of the numbers of first links from a vector on.
func (c *chooser) end(at int) {
	c.further(middle, c.AndNot(inGroup(c.group, middle), c.linked))
	if c.Bytes == 64 {
		outside := c.outside()
		for _, number := range c.number {
			c.Or(outside, number, number)
		}
	}
	for bit, number := range c.number {
		c.Move(number, inGroup(c.group, at+bit))
	}
}

// bytes512 writes the numbers of each voxel's first links, by transposing matrices of eight bits by eight voxels.
func (c *chooser) bytes512(to Register) {
	var from [32]int // numbers of 16 bits, by which a lane of 128 bits gets two bytes of each word
	for k := range from {
		from[k] = k%8*4 + k/8
	}
	var words []int
	for k := 0; k < len(from); k += 4 {
		words = append(words, from[k]|from[k+1]<<16|from[k+2]<<32|from[k+3]<<48)
	}
	order := c.Copy(Table("order", words...))
	rows := make([]VecVirtual, 8) // the first byte of a matrix is of the last bit
	for k := range rows {
		rows[k] = New(ZMM, VPERMW, inGroup(c.group, numberAt+7-k), order)
	}
	single := New(ZMM, VPBROADCASTQ, New(GP64, MOVQ, U64(0x8040201008040201)))
	for lane, matrices := range c.zipped(rows) {
		c.Move(New(ZMM, VGF2P8AFFINEQB, U8(0), matrices, single), inGroup(to, lane))
	}
}

// zipped interleaves the bytes of eight vectors, in lanes of 128 bits.
func (c *chooser) zipped(rows []VecVirtual) []VecVirtual {
	zips := map[int][2]any{8: {VPUNPCKLBW, VPUNPCKHBW}, 4: {VPUNPCKLWD, VPUNPCKHWD}, 2: {VPUNPCKLDQ, VPUNPCKHDQ}}
	by, is := zips[len(rows)]
	if !is {
		return rows
	}
	var low, high []VecVirtual
	for k := 0; k < len(rows); k += 2 {
		both := c.Zip(by[0], by[1], rows[k+1], rows[k])
		low, high = append(low, both[0]), append(high, both[1])
	}
	return append(c.zipped(low), c.zipped(high)...)
}

// bytes256 does so with AVX2: each byte of a vector selects its bit of a copy of 32 bits.
func (c *chooser) bytes256(to Register) {
	var ones [8]VecVirtual
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
		VMOVDQU(v, Mem{Base: to, Disp: 32 * lane})
	}
}

// corners writes a function that finds the neighbours that precede voxels, and chooses the links of the graph with
// corners: see near and chooseCorners in Go.
func corners(i ISA) {
	Func(named(i, "corners"), "func(group, here, next, masks *uint64, apart, row, plane int, before, behind, flip uint64)",
		"finds the neighbours that precede the voxels of a vector of words, and chooses the links of the graph with "+
			"corners: see near and choose. Distances are of bytes.")
	group := Arg("group")
	near(i, group)
	c := chooserOf(i, group, 26, cornerBits)
	c.load()
	x, y, z := c.or(c.at(4, 22)...), c.or(c.at(10, 16)...), c.or(c.at(12, 14)...)
	with := func(v VecVirtual, places ...int) []Op { return append(c.at(places...), v) }
	some := func(places ...int) VecVirtual { return c.or(c.at(places...)...) }
	c.layers(append(with(x, 1, 7, 19, 25), y), append(with(x, 3, 5, 21, 23), z), append(with(y, 9, 11, 15, 17), z))
	c.link(4, nil)
	c.link(22, nil, [2]Op{c.near[4], c.or(append(with(y, 9, 11, 15, 17), z)...)})
	c.link(10, []Op{x})
	c.link(16, []Op{x}, [2]Op{c.near[10], c.or(with(z, 3, 5, 21, 23)...)})
	c.link(12, []Op{x, y})
	c.link(14, []Op{x, y}, [2]Op{c.near[12], some(1, 7, 19, 25)})
	for s := 0; s <= 18; s += 18 {
		for r := 0; r <= 6; r += 6 {
			c.link(s+1+r, with(z, 4+s, 10+r), [2]Op{c.near[22-s], some(9+r, 11+r)}, [2]Op{c.near[16-r], some(3+s, 5+s)})
		}
	}
	for s := 0; s <= 18; s += 18 {
		for q := 0; q <= 2; q += 2 {
			c.link(s+3+q, with(y, 4+s, 12+q, s+1, s+7), [2]Op{c.near[22-s], some(9+q, 15+q)})
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
				c.link(s+r+q, c.at(4+s, 10+r, 12+q, s+1+r, s+3+q, 9+r+q))
			}
		}
	}
	c.end(numberAt)
	End()
}

// faces writes a function that chooses the links of the other graph, in which the neighbours precede that follow in the
// graph with corners: see reverse and chooseFaces in Go.
func faces(i ISA) {
	Func(named(i, "faces"), "func(group, masks *uint64, plane int, before, behind uint64, to *uint8)",
		"reverses the order of a vector of words, chooses the links of the graph with faces, and writes the numbers of "+
			"first links in both graphs: see reverse and choose. Distances are of bytes.")
	group := Arg("group")
	reverse(i, group)
	c := chooserOf(i, group, 6, faceBits)
	c.load()
	// Ways around are through neighbours that are all needed. At a side of the image, a neighbour at that side is on a
	// way from the outside.
	sideY, sideX := Op(inGroup(group, sidesAt+1)), Op(inGroup(group, sidesAt+2))
	c.layers(c.at(4, 22, 10, 16), c.at(4, 22, 12, 14), c.at(10, 16, 12, 14))
	near := c.near
	ways := func(pairs ...[2]int) VecVirtual {
		v := c.and(near[pairs[0][0]], near[pairs[0][1]])
		for _, p := range pairs[1:] {
			c.change(A|B&C, v, near[p[0]], near[p[1]])
		}
		return v
	}
	c.link(4, nil, [2]Op{sideX, ways([2]int{10, 1}, [2]int{16, 7}, [2]int{12, 3}, [2]int{14, 5})})
	var all VecVirtual
	for _, p := range [4][3]int{{10, 1, 19}, {16, 7, 25}, {12, 3, 21}, {14, 5, 23}} {
		v := c.and(near[p[0]], near[p[2]])
		if c.And(near[p[1]], v, v); all == nil {
			all = v
		} else {
			c.Or(v, all, all)
		}
	}
	edges := ways([2]int{10, 19}, [2]int{16, 25}, [2]int{12, 21}, [2]int{14, 23})
	c.link(22, nil, [2]Op{near[4], all}, [2]Op{sideX, edges})
	before, behind := ways([2]int{4, 3}, [2]int{22, 21}), ways([2]int{4, 5}, [2]int{22, 23})
	c.Or(sideY, before, before)
	c.Or(sideY, behind, behind)
	for s := 0; s <= 6; s += 6 {
		if s > 0 {
			c.change(A|B&C, before, near[10], near[9])
			c.change(A|B&C, behind, near[10], near[11])
		}
		c.link(10+s, nil, [2]Op{near[4], near[1+s]}, [2]Op{near[22], near[19+s]},
			[2]Op{before, c.and(near[12], near[9+s])}, [2]Op{behind, c.and(near[14], near[11+s])})
	}
	for q := 0; q <= 2; q += 2 {
		c.link(12+q, nil, [2]Op{near[4], near[3+q]}, [2]Op{near[22], near[21+q]}, [2]Op{near[10], near[9+q]},
			[2]Op{near[16], near[15+q]})
	}
	c.end(numberAt + cornerBits)
	to := Arg("to")
	if i.Bytes == 64 {
		c.bytes512(to)
	} else {
		c.bytes256(to)
	}
	End()
}

// reverse replaces the neighbours at faces and edges that precede by the others: see reverse in Go. The arguments of
// the function are group, masks, plane, before and behind.
func reverse(i ISA, group Register) {
	masks, plane := Arg("masks"), Arg("plane")
	inside := [3]VecVirtual{i.Broadcast("before", 8), nil, i.Broadcast("behind", 8)}
	for yx := range 9 {
		for z, within := range inside {
			x, y := yx%3, yx/3
			if (x|y|z)&1 == 0 || x&y&z == 1 { // corners, and the voxel
				continue
			}
			m := inGroup(group, inPlace(z, y, x))
			v := i.Copy(m)
			if within == nil {
				v = i.AndNot(Mem{Base: masks}, v)
			} else {
				i.Ternary(^A&B&C, Mem{Base: masks}, within, v)
			}
			i.Move(v, m)
		}
		ADDQ(plane, masks)
	}
}
