package duality

import (
	"math/bits"
	"slices"
)

// A box is a part of an image: its voxels in rows of whole words and planes of whole groups of
// words, and what one core knows of them. It is used again for others.
type box[K key] struct {
	j       *job[K]
	d, h, w int64
	sides   [6]side // least z, greatest z, and so on for y and x
	words   int     // of a row
	plane   int     // words of a plane

	keys    []K // of voxels, from lead on
	lead    int
	bits    []uint64 // of two planes by turns: of the 13 neighbours in places before a voxel, those that are not above it
	sight   sight
	layers  []uint64 // of a plane: the voxels at each of the six sides
	group   *group
	towards []uint8 // where each voxel descends to, in the set and around it

	set, around graph[K]
}

// A side of a box is one of the image's, or shares its layer with another box.
type side struct{ outer, shared bool }

// A graph is what a box knows of the components of its sets, or of what is around them: the
// keys of the latter are turned round, so that both begin with the least.
type graph[K key] struct {
	around  bool
	towards []uint8     // of the box
	offsets [256]uint32 // how many voxels further that is, around 2³², 0 where a voxel stays
	minima  []uint64
	first   []int32 // the number of the first minimum of each word
	count   int32   // of minima, and the outside around the set
	known   []int32 // of one of each eight voxels, one more than the number of the minimum that it descends to, or 0

	saddles []uint32   // voxels, and a place of a component of their links that is not the first one
	places  [32]uint32 // how many voxels further places are
	layers  []layered
	slots   [6]int32 // minima of shared layers

	circle        bool // whether a voxel descends in a circle
	events, spare []event
	runs          [256][]event // of some keys each
	up            forest       // of minima
	nodes         []int32      // of minima that are roots
	part          part         // what is left of the box
	tally         *tally       // of the core
}

// A layered is a minimum of a shared layer, and which one of them.
type layered struct {
	voxel uint32
	slot  int32
}

// planeWords is how many words planes of h rows of so many words take.
func planeWords(h, words int64) int64 {
	return (h*words + groupWords - 1) / groupWords * groupWords
}

// bitsOf is how many words the bits of a place take in a plane, with room for neighbours at
// either end.
func bitsOf(plane, words int) (apart, before int) {
	before = (words + 2*groupWords) / groupWords * groupWords
	return plane + 2*before, before
}

// cut makes a box of its sides. Its memory is enough for all of the layout.
func (b *box[K]) cut() {
	b.words = int(words(b.w))
	b.plane = int(planeWords(b.h, int64(b.words)))
	b.lead = 64 * (b.plane + b.words + 1)
	for k := range 27 {
		b.set.places[k] = uint32(b.offset(k))
	}
	for n, k := range faces {
		b.around.places[n] = uint32(b.offset(k))
	}
	for i := range 256 {
		b.set.offsets[i] = b.set.places[i&(1<<placeBits-1)]
		b.around.offsets[i] = b.around.places[i>>placeBits]
	}
	s := &b.sight
	s.bits, s.row, s.plane = b.bits, b.words, b.plane
	s.apart, _ = bitsOf(b.plane, b.words)
	clear(s.masks[:18*b.plane])
	clear(b.layers[:6*b.plane])
	for y := range b.h {
		for i := range b.words {
			at := int(y)*b.words + i
			all := ^uint64(0)
			ends := [3]uint64{} // the voxels at the ends of x
			if i == 0 {
				ends[0] = 1
			}
			if i == b.words-1 {
				all >>= 63 - uint(b.w-1)%64
				ends[2] = all &^ (all >> 1)
			}
			b.layers[at], b.layers[b.plane+at] = all, all
			if y == 0 {
				b.layers[2*b.plane+at] = all
			}
			if y == b.h-1 {
				b.layers[3*b.plane+at] = all
			}
			b.layers[4*b.plane+at], b.layers[5*b.plane+at] = ends[0], ends[2]
			for k := range 9 {
				r := y + int64(k/3) - 1
				beyond := uint64(0)
				if k%3 != 1 && b.sides[4+k%3/2].outer {
					beyond = ends[k%3]
				}
				switch {
				case r >= 0 && r < b.h:
					s.masks[k*b.plane+at] = all &^ ends[k%3]
				case b.sides[2+k/6].outer:
					beyond = all
				}
				s.masks[(9+k)*b.plane+at] = beyond
			}
		}
	}
}

// offset is how many voxels further a place around a voxel is.
func (b *box[K]) offset(place int) int {
	return 64*((place/9-1)*b.plane+(place/3%3-1)*b.words) + place%3 - 1
}

// compare finds which neighbours before a voxel are not above it, of all voxels of a plane.
func (b *box[K]) compare(z int64) {
	apart, before := bitsOf(b.plane, b.words)
	b.j.kernel.compare(b.bits[int(z&1)*middle*apart+before:], b.keys, b.lead+int(z)*64*b.plane, apart, b.words, b.plane, b.plane)
}

// scan finds minima, saddles, and where other voxels descend to.
func (b *box[K]) scan() {
	apart, before := bitsOf(b.plane, b.words)
	s, g := &b.sight, b.group
	b.compare(0)
	for z := range b.d {
		if z < b.d-1 {
			b.compare(z + 1)
		}
		for n := range 2 {
			inside := z > 0
			if n == 1 {
				inside = z < b.d-1
			}
			s.in[n], s.out[n] = 0, 0
			switch {
			case inside:
				s.in[n] = ^uint64(0)
			case b.sides[n].outer && (n == 0 || b.j.fault != LostSide):
				s.out[n] = ^uint64(0)
			}
		}
		for i := 0; i < b.plane; i += groupWords {
			s.at = i
			s.here = int(z&1)*middle*apart + before + i
			s.next = int(^z&1)*middle*apart + before + i
			b.j.kernel.links(g, s)
			word := int(z)*b.plane + i
			to := (*[groupVoxels]uint8)(b.towards[64*word:])
			b.j.kernel.set(g, to)
			b.plant(to)
			b.found(&b.set, &g.set, word, z)
			if b.j.hollow {
				b.j.kernel.around(g, s, to)
				b.found(&b.around, &g.around, word, z)
			}
		}
	}
}

// plant finds what a fault would in the set.
func (b *box[K]) plant(to *[groupVoxels]uint8) {
	g := b.group
	switch b.j.fault {
	case Faces:
		all := g.link
		for k := range g.link {
			if k != middle && !slices.Contains(faces[:], k) {
				g.link[k] = lanes{}
			}
		}
		b.j.kernel.set(g, to)
		g.link = all
	case SameAsAbove: // where voxels descend to stays, so that ways end
		for k := range middle {
			within := b.sight.insideBox(26 - k)
			for lane, v := range g.link[k] {
				g.link[26-k][lane] |= v & within[lane]
			}
		}
		b.j.kernel.set(g, new([groupVoxels]uint8))
	}
}

// found notes what was found of a group, in the set or around it.
func (b *box[K]) found(g *graph[K], f *found, word int, z int64) {
	copy(g.minima[word:], f.minima[:])
	keys, table := b.keys[b.lead+word*64:][:groupVoxels], g.tally.table
	for lane, minima := range f.minima {
		g.first[word+lane] = g.count
		g.count += int32(bits.OnesCount64(minima))
		for ; minima != 0; minima &= minima - 1 {
			key := uint32(keys[(lane*64+bits.TrailingZeros64(minima))&(groupVoxels-1)])
			if table != nil {
				table[key]++
			} else {
				g.tally.add(key, 1)
			}
		}
	}
	rounds := f.rounds
	if b.j.fault == LostUnion {
		rounds = min(rounds, 1)
	}
	saddles := g.saddles
	for n := range rounds {
		place := &f.place[n]
		for lane, more := range f.more[n] {
			for ; more != 0; more &= more - 1 {
				voxel := (lane*64 + bits.TrailingZeros64(more)) & (groupVoxels - 1)
				saddles = append(saddles, uint32(word*64+voxel)<<placeBits|uint32(place[voxel]))
			}
		}
	}
	g.saddles = saddles
	b.shared(g, f, word, z)
}

// shared notes the minima of the layers that the box shares, in the order in which the other
// box finds the same: voxels that none of their neighbours within the layer precedes.
func (b *box[K]) shared(g *graph[K], f *found, word int, z int64) {
	for n, s := range b.sides {
		if !s.shared || n < 2 && z != int64(n)*(b.d-1) || b.j.fault == LostLayer && n/2 == 1 {
			continue
		}
		at := word - int(z)*b.plane
		for lane, layer := range b.layers[n*b.plane+at:][:groupWords] {
			minima := layer & f.layers[n/2][lane]
			for ; minima != 0; minima &= minima - 1 {
				g.layers = append(g.layers, layered{uint32((word+lane)*64 + bits.TrailingZeros64(minima)), ^(g.slots[n]<<3 | int32(n))})
				g.slots[n]++
			}
		}
	}
}
