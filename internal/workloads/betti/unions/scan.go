package unions

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Places around a voxel are numbered by x, row and plane: 27 in all, with the voxel in the middle.
// The first links lead along x, so that those who follow them stay in a row.
const middle = 13

// The places at faces.
const beforeX, beforeY, beforeZ, afterZ, afterY, afterX = 4, 10, 12, 14, 16, 22

// walkOrder lists the places in the order in which a voxel is linked with them. Those at faces are
// first.
var walkOrder = [26]uint8{beforeX, afterX, beforeY, afterY, beforeZ, afterZ,
	1, 7, 19, 25, 3, 5, 21, 23, 9, 11, 15, 17, 0, 2, 6, 8, 18, 20, 24, 26}

// offset returns the distances to a place along z, y and x.
func offset(place int) [3]int { return [3]int{place%3 - 1, place/3%3 - 1, place/9 - 1} }

// earlier lists the places of the voxels before a voxel.
var earlier = [middle]int{0, 9, 18, 3, 12, 21, 6, 15, 24, 1, 10, 19, 4}

const groupWords = 8

// Lanes are eight words in order, with a bit per voxel.
type lanes [groupWords]uint64

// A group is eight words of voxels of a plane in one of the graphs. Vectors rely on the order.
type group struct {
	before  [27]lanes         // the neighbours that precede; in the middle, the voxels themselves
	sides   [3]lanes          // the voxels next to the outside, by axis
	further [27]lanes         // the links by place, without the first of a voxel; in the middle, the minima
	number  [numberBits]lanes // the bits of the numbers of first links, of the graph with corners first
	layers  [3]lanes          // by axis: the voxels that neither a neighbour in their layer nor the outside precedes
	some    lanes             // by place, in bytes: a bit per word in which further has a voxel
}

// The number of a voxel's first link is 1 for the first of walkOrder, 0 without a link, and the
// largest next to the outside.
const (
	cornerBits  = 5
	faceBits    = 3
	numberBits  = cornerBits + faceBits
	groupVoxels = 64 * groupWords
)

// A plan is the layout of a box. Rows are whole words, and planes are whole groups.
type plan struct {
	d, h, w, words int
	row, plane     int      // voxels from row to row and from plane to plane
	lead           int      // keys before the first voxel
	size           int      // words of a plane
	exist          []uint64 // of a plane: which voxels have a neighbour, by distance along y and x
	ends           [2][2][]uint64
	atSide         [][3]lanes // of each group: the ends along y and x at sides of the image
	shared         []bool     // groups with an end that is shared
	steps          [27]uint32 // voxels to each place, modulo 2³²

	notAbove    [2][]uint64 // by parity of the plane, of one for both: whether each earlier neighbour is not above
	apart, base int         // words from place to place there, and before the first
}

// lay makes the layout of a box.
func (p *plan) lay(b *box) {
	d, h, w := int(b.size(0)), int(b.size(1)), int(b.size(2))
	if p.d == d && p.h == h && p.w == w {
		return
	}
	p.d, p.h, p.w, p.words = d, h, w, (w+63)/64
	p.size = (h*p.words + groupWords - 1) / groupWords * groupWords
	p.row, p.plane = 64*p.words, 64*p.size
	if p.lead = p.row + 64; d > 1 {
		p.lead += p.plane
	}
	p.base = p.words + groupWords
	p.apart = p.size + 2*p.base
	for parity := range min(d, 2) {
		p.notAbove[parity] = room(p.notAbove[parity], middle*p.apart) // those of no neighbour are not used
	}
	p.exist = room(p.exist, 9*p.size)
	clear(p.exist)
	for x := range 3 {
		row := slices.Repeat([]uint64{math.MaxUint64}, p.words)
		row[p.words-1] >>= uint(p.row - w)
		switch x {
		case 0:
			row[0] &^= 1
		case 2:
			row[p.words-1] &^= 1 << uint((w-1)&63)
		}
		for k := x; k < 9; k += 3 {
			for y := max(0, 1-k/3); y < h+min(0, 1-k/3); y++ {
				copy(p.exist[k*p.size+y*p.words:], row)
			}
		}
	}
	valid := p.exist[4*p.size:][:p.size]
	for n, k := range [4]int{1, 7, 3, 5} {
		ends := room(p.ends[n/2][n%2], p.size)
		for i := range ends {
			ends[i] = valid[i] &^ p.exist[k*p.size+i]
		}
		p.ends[n/2][n%2] = ends
	}
	for k := range p.steps {
		by := offset(k)
		p.steps[k] = uint32(by[0]*p.plane + by[1]*p.row + by[2])
	}
}

// of returns notAbove of a plane. A single plane has no other.
func (p *plan) of(z int) []uint64 { return p.notAbove[z&min(p.d-1, 1)] }

// divide returns, for each group of a plane, the voxels at sides of the image along y and x, and whether one is
// in a shared layer.
func (p *plan) divide(b *box) (atSide [][3]lanes, shared []bool) {
	p.atSide, p.shared = room(p.atSide, p.size/groupWords), room(p.shared, p.size/groupWords)
	clear(p.atSide)
	clear(p.shared)
	for axis, shares := range b.shares[1:] {
		for side, with := range shares {
			for i, v := range p.ends[axis][side] {
				switch n := i / groupWords; {
				case v == 0:
				case with:
					p.shared[n] = true
				default:
					p.atSide[n][1+axis][i%groupWords] |= v
				}
			}
		}
	}
	return p.atSide, p.shared
}

// corners finds the neighbours that precede the voxels of a group in the graph with corners, in
// order or in reverse, and chooses the links.
func (p *plan) corners(g *group, z, at int, reverse bool) {
	p.near(g, z, at, reverse)
	g.choose(true)
}

// faces does so in the other graph, after corners. It writes the numbers of first links in both.
func (p *plan) faces(g *group, z, at int, to *[groupVoxels]uint8) {
	p.reverse(g, z, at)
	g.choose(false)
	for lane := range groupWords {
		for x := range 8 {
			var eight uint64
			for bit, v := range g.number {
				eight |= spread[uint8(v[lane]>>(8*x))] << bit
			}
			binary.LittleEndian.PutUint64(to[64*lane+8*x:], eight)
		}
	}
}

// reverse replaces the neighbours at faces and edges that precede by the others, which precede in
// the other graph.
func (p *plan) reverse(g *group, z, at int) {
	for k := range g.before {
		by := offset(k)
		if k == middle || by[0]*by[1]*by[2] != 0 {
			continue
		}
		exist := (*lanes)(p.exist[(4+3*by[1]+by[2])*p.size+at:])
		inside := z+by[0] >= 0 && z+by[0] < p.d
		for lane, before := range g.before[k] {
			g.before[k][lane] = 0
			if inside {
				g.before[k][lane] = exist[lane] &^ before
			}
		}
	}
}

// near finds the neighbours that precede the voxels of a group, in order or in reverse.
func (p *plan) near(g *group, z, at int, reverse bool) {
	flip := uint64(0)
	if reverse {
		flip = ^uint64(0)
	}
	g.before[middle] = *(*lanes)(p.exist[4*p.size+at:])
	for k, place := range earlier {
		by, own, other := offset(int(place)), &g.before[place], &g.before[26-place]
		before, after := (*lanes)(p.exist[k%9*p.size+at:]), (*lanes)(p.exist[(26-k)%9*p.size+at:])
		here := (*lanes)(p.of(z)[k*p.apart+p.base+at:])
		next := (*[groupWords + 2]uint64)(p.of(z - by[0])[k*p.apart+p.base+at-by[1]*p.words-1:])
		*own, *other = lanes{}, lanes{}
		if z+by[0] >= 0 {
			for lane, not := range here {
				own[lane] = before[lane] & (not ^ flip)
			}
		}
		if z-by[0] >= p.d {
			continue
		}
		// A later neighbour precedes the voxel unless the voxel is not above it.
		switch by[2] {
		case -1:
			for lane := range other {
				other[lane] = after[lane] &^ (next[lane+1]>>1 | next[lane+2]<<63 ^ flip)
			}
		case 0:
			for lane := range other {
				other[lane] = after[lane] &^ (next[lane+1] ^ flip)
			}
		case 1:
			for lane := range other {
				other[lane] = after[lane] &^ (next[lane+1]<<1 | next[lane]>>63 ^ flip)
			}
		}
	}
}

// choose chooses the links of a group, and the numbers of first links. A link is left out if it
// closes a cycle with links of the same voxel that are before it in the order, or with the outside,
// through other neighbours that precede the voxel.
func (g *group) choose(corners bool) {
	g.some = lanes{}
	numbers := g.number[:cornerBits]
	if !corners {
		numbers = g.number[cornerBits:]
	}
	for lane := range groupWords {
		var l, c [27]uint64
		for k := range l {
			l[k] = g.before[k][lane]
		}
		if corners {
			chooseCorners(&l, &c)
		} else {
			chooseFaces(&l, &c, g.sides[1][lane], g.sides[2][lane])
		}
		linked := g.sides[0][lane] | g.sides[1][lane] | g.sides[2][lane]
		outside := linked
		for axis, places := range inLayer {
			before := outside
			for _, k := range places {
				c[k] &^= g.sides[axis][lane] // both voxels are next to the outside
				if corners || k%2 == 0 {
					before |= l[k]
				}
			}
			g.layers[axis][lane] = l[middle] &^ before
		}
		var first [1 << cornerBits]uint64 // the voxels whose first link has a number
		further := func(place uint8, voxels uint64) {
			if g.further[place][lane] = voxels; voxels != 0 {
				g.some[place/8] |= 1 << lane << (place % 8 * 8)
			}
		}
		for n, k := range walkOrder[:ways(corners)] {
			first[n+1] = c[k] &^ linked
			further(k, c[k]&linked)
			linked |= c[k]
		}
		further(middle, l[middle]&^linked)
		for bit := range numbers {
			numbers[bit][lane] = outside
			for n, v := range first {
				numbers[bit][lane] |= v * uint64(n>>bit&1)
			}
		}
	}
}

// spread has the bits of each byte as eight bytes of 0 and 1.
var spread = func() (list [256]uint64) {
	for v := range list {
		for bit := range 8 {
			list[v] |= uint64(v) >> bit & 1 << (8 * bit)
		}
	}
	return list
}()

// chooseFaces leaves out a link if two neighbours at faces are connected by a third one, or by
// three. At a side of the image across y or x, a neighbour at the same side touches the outside.
func chooseFaces(l, c *[27]uint64, sideY, sideX uint64) {
	before := l[beforeX]&(l[3]&l[beforeZ]&l[9]|l[5]&l[afterZ]&l[11]) |
		l[afterX]&(l[21]&l[beforeZ]&l[9]|l[23]&l[afterZ]&l[11]) | sideY&(l[beforeZ]&l[9]|l[afterZ]&l[11])
	after := l[beforeX]&(l[3]&l[beforeZ]&l[15]|l[5]&l[afterZ]&l[17]) |
		l[afterX]&(l[21]&l[beforeZ]&l[15]|l[23]&l[afterZ]&l[17]) |
		l[beforeY]&(l[beforeZ]&l[9]&l[15]|l[afterZ]&l[11]&l[17]) | sideY&(l[beforeZ]&l[15]|l[afterZ]&l[17])
	c[beforeX] = l[beforeX] &^ (sideX & (l[beforeY]&l[1] | l[afterY]&l[7] | l[beforeZ]&l[3] | l[afterZ]&l[5]))
	c[afterX] = l[afterX] &^ (l[beforeX]&(l[beforeY]&l[1]&l[19]|l[afterY]&l[7]&l[25]|l[beforeZ]&l[3]&l[21]|
		l[afterZ]&l[5]&l[23]) | sideX&(l[beforeY]&l[19]|l[afterY]&l[25]|l[beforeZ]&l[21]|l[afterZ]&l[23]))
	c[beforeY] = l[beforeY] &^ (l[beforeX]&l[1] | l[afterX]&l[19] | before)
	c[afterY] = l[afterY] &^ (l[beforeX]&l[7] | l[afterX]&l[25] | after)
	c[beforeZ] = l[beforeZ] &^ (l[beforeX]&l[3] | l[afterX]&l[21] | l[beforeY]&l[9] | l[afterY]&l[15])
	c[afterZ] = l[afterZ] &^ (l[beforeX]&l[5] | l[afterX]&l[23] | l[beforeY]&l[11] | l[afterY]&l[17])
}

// chooseCorners leaves out a link if an earlier one leads to a neighbour of the same voxel, or of a
// third one.
func chooseCorners(l, c *[27]uint64) {
	x, y, z := l[beforeX]|l[afterX], l[beforeY]|l[afterY], l[beforeZ]|l[afterZ]
	c[beforeX] = l[beforeX]
	c[afterX] = l[afterX] &^ (l[beforeX] & (y | z | l[9] | l[11] | l[15] | l[17]))
	c[beforeY] = l[beforeY] &^ x
	c[afterY] = l[afterY] &^ (x | l[beforeY]&(z|l[3]|l[5]|l[21]|l[23]))
	c[beforeZ] = l[beforeZ] &^ (x | y)
	c[afterZ] = l[afterZ] &^ (x | y | l[beforeZ]&(l[1]|l[7]|l[19]|l[25]))
	for s := 0; s <= 18; s += 18 { // before or after along x
		for r := 0; r <= 6; r += 6 {
			c[s+1+r] = l[s+1+r] &^ (l[beforeX+s] | l[beforeY+r] | z | l[afterX-s]&(l[9+r]|l[11+r]) |
				l[afterY-r]&(l[3+s]|l[5+s]))
		}
		for q := 0; q <= 2; q += 2 {
			c[s+3+q] = l[s+3+q] &^ (l[beforeX+s] | l[beforeZ+q] | y | l[s+1] | l[s+7] | l[afterX-s]&(l[9+q]|l[15+q]))
		}
	}
	for r := 0; r <= 6; r += 6 {
		for q := 0; q <= 2; q += 2 {
			faces := l[beforeY+r] | l[beforeZ+q]
			c[9+r+q] = l[9+r+q] &^ (faces | x | l[1+r] | l[19+r] | l[3+q] | l[21+q])
			for s := 0; s <= 18; s += 18 {
				c[s+r+q] = l[s+r+q] &^ (l[beforeX+s] | faces | l[s+1+r] | l[s+3+q] | l[9+r+q])
			}
		}
	}
}

// compareKeys sets the bits of the keys of other that are not above those of own.
func compareKeys[K key](to []uint64, own, other []K) {
	if bytes, ok := any(own).([]uint8); ok {
		compareBytes(to, bytes, any(other).([]uint8))
		return
	}
	for i := range to {
		a, b := (*[64]K)(other[64*i:]), (*[64]K)(own[64*i:])
		const half = 32
		var low, high uint64
		for x := range half { // the highest bit of a difference is set if the key of own is less
			low = low>>1 | (uint64(b[x])-uint64(a[x]))&(1<<63)
			high = high>>1 | (uint64(b[half+x])-uint64(a[half+x]))&(1<<63)
		}
		to[i] = ^(low>>half | high)
	}
}

// compareBytes does so for eight keys of a byte at a time.
func compareBytes(to []uint64, own, other []uint8) {
	const (
		tops   = 0x8080808080808080
		gather = 0x0002040810204081 // a factor that moves the highest bit of each byte to the highest byte, in order
	)
	for i := range to {
		a, b := (*[64]uint8)(other[64*i:]), (*[64]uint8)(own[64*i:])
		var word uint64
		for x := 0; x < 64; x += 8 {
			v, most := binary.LittleEndian.Uint64(a[x:]), binary.LittleEndian.Uint64(b[x:])
			// Without the highest bits, no byte borrows from the next one.
			less := (most | tops) - v&^tops
			word |= (most&^v | less&^(most^v)) & tops * gather >> 56 << x
		}
		to[i] = word
	}
}

// compare finds the earlier neighbours of the voxels of a plane that are not above them.
func (j *joiner[K]) compare(z int) {
	p := &j.plan
	own := p.lead + z*p.plane
	for k, place := range earlier {
		if p.d == 1 && offset(int(place))[0] != 0 {
			continue // no other plane
		}
		to := p.of(z)[k*p.apart+p.base:][:p.h*p.words]
		j.kernel.compare(to, j.keys[own:][:p.plane], j.keys[own+int(int32(p.steps[place])):][:p.plane])
	}
}

// Found are the voxels without a link, the links of all others, and by axis and side the meetings of
// a graph: voxels of a shared layer that no neighbour there precedes.
type found struct {
	minima   []uint32
	links    []uint64 // key, voxel and place of all links but the first of a voxel
	meetings [3][2][]uint32
}

const placeBits = 5

// scan scans a box for both graphs.
func (j *joiner[K]) scan(b *box, graphs [2]*graph) {
	p, g := &j.plan, &j.group
	for which := range j.found {
		f := &j.found[which]
		f.minima, f.links = f.minima[:0], f.links[:0]
		for axis := range f.meetings {
			for side, list := range f.meetings[axis] {
				f.meetings[axis][side] = list[:0]
			}
		}
	}
	j.first = room(j.first, p.d*p.plane)
	j.compare(0)
	atSide, shared := p.divide(b)
	for z := range p.d {
		if z+1 < p.d {
			j.compare(z + 1)
		}
		var planes [2]bool // whether the plane is a side of the image, or shared
		for side, shared := range b.shares[0] {
			if j.s.Dim() == 3 && z == side*(p.d-1) {
				planes[0], planes[1] = planes[0] || !shared, planes[1] || shared
			}
		}
		for at := 0; at < p.size; at += groupWords {
			first := z*p.plane + 64*at
			for _, corners := range [2]bool{true, false} {
				which := 0
				if graphs[0].corners != corners {
					which = 1
				}
				f, graph := &j.found[which], graphs[which]
				if !graph.outside {
					g.sides = [3]lanes{}
				} else if g.sides = atSide[at/groupWords]; planes[0] {
					copy(g.sides[0][:], p.exist[4*p.size+at:])
				}
				if corners {
					j.kernel.corners(p, g, z, at, graph.descending)
				} else {
					j.kernel.faces(p, g, z, at, (*[groupVoxels]uint8)(j.first[first:]))
				}
				j.links(f, graph, first)
				if planes[1] || shared[at/groupWords] {
					j.meet(f, b, z, at)
				}
			}
		}
	}
}

// links lists the minima of a group, and the links except the first of each voxel.
func (j *joiner[K]) links(f *found, graph *graph, first int) {
	keys, flip := (*[groupVoxels]K)(j.keys[j.plan.lead+first:]), K(graph.flip())
	minima, links := f.minima, f.links
	for i, eight := range j.group.some[:(len(j.group.further)+7)/8] {
		for ; eight != 0; eight &= eight - 1 {
			bit := bits.TrailingZeros64(eight)
			k, lane := 8*i+bit/8, bit%8
			for v := j.group.further[k][lane]; v != 0; v &= v - 1 {
				x := (64*lane + bits.TrailingZeros64(v)) & (groupVoxels - 1)
				if k == middle {
					minima = append(minima, uint32(first+x))
				} else {
					links = append(links, uint64(keys[x]^flip)<<32|uint64(first+x)<<placeBits|uint64(k))
				}
			}
		}
	}
	f.minima, f.links = minima, links
}

// ways returns the number of places of neighbours in a graph.
func ways(corners bool) int {
	if corners {
		return len(walkOrder)
	}
	return 6
}

// inLayer lists the places within a layer across each axis, those at faces first.
var inLayer = func() (list [3][]uint8) {
	for _, k := range walkOrder {
		for axis, by := range offset(int(k)) {
			if by == 0 {
				list[axis] = append(list[axis], k)
			}
		}
	}
	return list
}()

// meet lists the meetings of a group in the order of voxels.
func (j *joiner[K]) meet(f *found, b *box, z, at int) {
	p, g := &j.plan, &j.group
	for axis, shares := range b.shares {
		for side, shared := range shares {
			if !shared || axis == 0 && (j.s.Dim() == 2 || z != side*(p.d-1)) {
				continue
			}
			voxels := p.exist[4*p.size:]
			if axis > 0 {
				voxels = p.ends[axis-1][side]
			}
			list := f.meetings[axis][side]
			for lane, left := range voxels[at:][:groupWords] {
				for left &= g.layers[axis][lane]; left != 0; left &= left - 1 {
					list = append(list, uint32(z*p.plane+64*(at+lane)+bits.TrailingZeros64(left)))
				}
			}
			f.meetings[axis][side] = list
		}
	}
}
