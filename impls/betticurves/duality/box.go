package duality

import (
	"math/bits"
)

// A box is a part of an image: its voxels in rows of whole words, and what one core knows of
// them. It is used again for others.
type box[K key] struct {
	j       *job[K]
	d, h, w int64
	sides   [6]side // least z, greatest z, and so on for y and x
	words   int     // of a row

	keys   []K // rows with room for a neighbour at either end
	stride int
	before []uint64 // bits of the 13 neighbours in places before a voxel that are not above it, a word of each for every word of voxels

	places      [27]int32 // how many voxels further each is
	set, around graph[K]
}

// A side of a box is one of the image's, or shares its layer with another box.
type side struct{ outer, shared bool }

// A graph is what a box knows of the components of its sets, or of what is around them: the
// keys of the latter are turned round, so that both begin with the least.
type graph[K key] struct {
	around  bool
	numbers []uint64 // of each voxel, the bits of where it descends to, a word of each for every word of voxels
	events  []uint64 // saddles and minima of shared layers: the turned key, and an index of ends
	ends    [][2]int32
	spare   []uint64
	parent  []int32               // of voxels, see unknown
	up      []int32               // of minima, another one of the component
	nodes   []int32               // of minima that are roots
	offsets [1 << placeBits]int32 // by number
	slots   [6]int32              // minima of shared layers
	part    part                  // what is left of the box
	tally   *tally                // of the core
}

// How many bits say where a voxel descends to: to one of 27 places, or to one of six faces,
// the outside or nowhere.
const (
	placeBits = 6
	faceBits  = 3
	toOutside = 6
	toNowhere = 7
)

// keyAt is the key of a voxel, whose number is that of its bit.
func (b *box[K]) keyAt(voxel int) K {
	row := voxel / (64 * b.words)
	return b.keys[row*b.stride+margin+voxel-row*64*b.words]
}

// margin is the room at either end of a row.
const margin = 8

// compare finds which neighbours before a voxel are not above it, of all voxels.
func (b *box[K]) compare() {
	for z := range b.d {
		for y := range b.h {
			row := int(z*b.h + y)
			own := b.keys[row*b.stride+margin:]
			to := b.before[row*b.words*middle:]
			for place := range middle {
				dz, dy, dx := place/9-1, place/3%3-1, place%3-1
				if z+int64(dz) < 0 || y+int64(dy) < 0 || y+int64(dy) >= b.h {
					continue // nobody asks
				}
				other := b.keys[(row+dz*int(b.h)+dy)*b.stride+margin+dx:]
				notAbove(to[place:], middle, own, other, b.words)
			}
		}
	}
}

// scan finds minima, saddles, and where other voxels descend to.
func (b *box[K]) scan() {
	lastWord := b.words - 1
	lastBit := uint(b.w-1) % 64
	for z := range b.d {
		for y := range b.h {
			row := int(z*b.h + y)
			// Which neighbouring rows are in the box, and which are outside the image.
			var in, out [9]bool
			for i := range in {
				c, r := z+int64(i/3)-1, y+int64(i%3)-1
				in[i] = c >= 0 && c < b.d && r >= 0 && r < b.h
				out[i] = c < 0 && b.sides[0].outer || c >= b.d && b.sides[1].outer || r < 0 && b.sides[2].outer || r >= b.h && b.sides[3].outer
			}
			for i := range b.words {
				mask := ^uint64(0)
				var leftmost, rightmost uint64 // voxels at the ends of x
				if i == 0 {
					leftmost = 1
				}
				if i == lastWord {
					mask >>= 63 - lastBit
					rightmost = 1 << lastBit
				}
				var l, within, outside link
				for k := range 27 {
					if k == middle {
						continue
					}
					dx := k%3 - 1
					mine, beyond := mask, uint64(0)
					switch {
					case dx < 0:
						mine &^= leftmost
						if b.sides[4].outer {
							beyond = leftmost
						}
					case dx > 0:
						mine &^= rightmost
						if b.sides[5].outer {
							beyond = rightmost
						}
					}
					if out[k/3] {
						beyond = mask
					}
					outside[k] = beyond
					if !in[k/3] {
						continue
					}
					within[k] = mine
					if k < middle {
						l[k] = b.before[(row*b.words+i)*middle+k] & mine
						continue
					}
					// The other one is not above a voxel that it precedes, seen from there.
					there := (row + (k/9-1)*int(b.h) + k/3%3 - 1) * b.words
					at := func(i int) uint64 { return b.before[(there+i)*middle+26-k] }
					v := at(i)
					switch {
					case dx < 0:
						if v <<= 1; i > 0 {
							v |= at(i-1) >> 63
						}
					case dx > 0:
						if v >>= 1; i < lastWord {
							v |= at(i+1) << 63
						}
					}
					l[k] = mine &^ v
				}
				if b.j.fault == SameAsAbove {
					for k := range middle {
						l[26-k] |= l[k] & within[26-k]
					}
				}
				if b.j.hollow {
					b.scanAround(&l, &within, &outside, row, i, mask, z, y)
				}
				b.scanSet(&l, row, i, mask, z, y)
			}
		}
	}
}

// scanSet looks at a word of voxels of the set.
func (b *box[K]) scanSet(l *link, row, i int, mask uint64, z, y int64) {
	if b.j.fault == Faces {
		var some link
		for _, k := range faces {
			some[k] = l[k]
		}
		l = &some
	}
	g := &b.set
	word := row*b.words + i
	only, number, none := l.first()
	copy(g.numbers[word*placeBits:], number[:])
	b.begin(g, none&mask, word)
	b.shared(g, word, i, mask, z, y, func(normal func(k int) bool) (some uint64) {
		for k, v := range l {
			if !normal(k) {
				some |= v
			}
		}
		return some
	})
	rest, saddles := l.rest(only)
	for ; saddles != 0; saddles &= saddles - 1 {
		bit := bits.TrailingZeros64(saddles)
		voxel := word*64 + bit
		var set uint32
		for k, v := range rest {
			set |= uint32(v>>uint(bit)&1) << uint(k)
		}
		key := uint64(b.keyAt(voxel))
		for n := 0; set != 0; n++ {
			if n > 0 && b.j.fault == LostUnion {
				break
			}
			of := component(set)
			g.add(key, int32(voxel), int32(voxel)+b.places[bits.TrailingZeros32(of)])
			set &^= of
		}
	}
}

// scanAround looks at a word of voxels of what is around the set, from the last to the first.
func (b *box[K]) scanAround(l, within, outside *link, row, i int, mask uint64, z, y int64) {
	g := &b.around
	word := row*b.words + i
	var up link
	for k := range up {
		up[k] = within[k]&^l[k] | outside[k]
	}
	if b.j.fault == LostSide && b.sides[1].outer && z == b.d-1 {
		for k := range up {
			up[k] = within[k] &^ l[k]
		}
		*outside = link{}
	}
	// The outside comes first, and is one wherever a voxel touches it.
	var number [faceBits]uint64
	var only link
	var seen uint64
	put := func(n int, v uint64) {
		for bit := range number {
			if n>>bit&1 == 1 {
				number[bit] |= v
			}
		}
	}
	for _, k := range faces {
		only[k] = outside[k]
		seen |= outside[k]
	}
	put(toOutside, seen)
	for n, k := range faces {
		first := up[k] &^ seen
		only[k] |= first
		seen |= first
		put(n, first)
	}
	none := mask &^ seen
	put(toNowhere, none)
	copy(g.numbers[word*faceBits:], number[:])
	b.begin(g, none, word)
	b.shared(g, word, i, mask, z, y, func(normal func(k int) bool) (some uint64) {
		for _, k := range faces {
			if !normal(k) {
				some |= up[k]
			}
		}
		return some
	})
	rest, saddles := up.restOfFaces(only)
	for ; saddles != 0; saddles &= saddles - 1 {
		bit := bits.TrailingZeros64(saddles)
		voxel := word*64 + bit
		key := uint64(^b.keyAt(voxel))
		for n := range faces {
			if rest[n]>>uint(bit)&1 == 1 {
				g.add(key, int32(voxel), int32(voxel)+g.offsets[n])
			}
		}
	}
}

// add adds an edge that comes with a key, or a minimum of a shared layer.
func (g *graph[K]) add(key uint64, a, b int32) {
	g.events = append(g.events, key<<32|uint64(len(g.ends)))
	g.ends = append(g.ends, [2]int32{a, b})
}

// begin counts minima, at their own keys.
func (b *box[K]) begin(g *graph[K], minima uint64, word int) {
	for ; minima != 0; minima &= minima - 1 {
		g.tally.add(uint32(b.keyAt(word*64+bits.TrailingZeros64(minima))), 1)
	}
}

// shared notes the minima of the layers that the box shares, in the order in which the other
// box finds the same: voxels that none of their neighbours within the layer precedes, of which
// some tells.
func (b *box[K]) shared(g *graph[K], word, i int, mask uint64, z, y int64, some func(normal func(k int) bool) uint64) {
	for n, s := range b.sides {
		if !s.shared {
			continue
		}
		here := mask
		switch n {
		case 0, 1:
			if z != int64(n)*(b.d-1) {
				continue
			}
		case 2, 3:
			if y != int64(n-2)*(b.h-1) {
				continue
			}
		case 4:
			if here &= 1; i > 0 {
				continue
			}
		case 5:
			if here &= 1 << (uint(b.w-1) % 64); i < b.words-1 {
				continue
			}
		}
		if b.j.fault == LostLayer && n/2 == 1 {
			continue
		}
		minima := here &^ some(func(k int) bool {
			return [3]int{k / 9, k / 3 % 3, k % 3}[n/2] != 1
		})
		for ; minima != 0; minima &= minima - 1 {
			voxel := word*64 + bits.TrailingZeros64(minima)
			key := b.keyAt(voxel)
			if g.around {
				key = ^key
			}
			g.add(uint64(key), int32(voxel), ^(g.slots[n]<<3 | int32(n)))
			g.slots[n]++
		}
	}
}
