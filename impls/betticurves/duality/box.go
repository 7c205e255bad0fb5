package duality

import (
	"math/bits"
)

// A box is a part of an image that one core processes: its voxels, in rows of whole words and
// planes of whole groups of words, and the results for them. It is reused for other boxes.
type box[K key] struct {
	j       *job[K]
	d, h, w int64
	sides   [6]side // least z, greatest z, and so on for y and x
	words   int     // per row
	plane   int     // words per plane

	keys    []K // of the voxels, from lead on
	lead    int
	bits    []uint64 // for two planes in turn: which of the 13 earlier neighbours of each voxel are not above it
	sight   sight
	layers  []uint64 // of a plane: masks of the voxels at each of the six sides
	group   *group
	towards []uint8 // the descent direction of each voxel, for the set and for the background

	set, around graph[K]
}

// A side of a box is a side of the image (outer), or a layer that the box shares with another one.
type side struct{ outer, shared bool }

// A graph describes the components of a box, of its sublevel sets or of their background. For the
// background the keys are complemented, so that both start with the least key.
type graph[K key] struct {
	around  bool
	towards []uint8     // towards of the box
	offsets [256]uint32 // distance in voxels for each direction, modulo 2³²; 0 for a voxel without a descent
	minima  []uint64
	first   []int32 // number of the first minimum of each word
	count   int32   // number of minima, and of the outside for the background
	known   []int32 // for one of every eight voxels: 1 + the number of the minimum that it descends to, or 0

	saddles []uint32   // a saddle voxel with a place of a further component of its link
	places  [32]uint32 // distance of each place in voxels
	layers  []layered
	slots   [6]int32 // number of minima of each shared layer

	circle        bool // whether a descent is circular, which is an error
	events, spare []event
	runs          [256][]event // events in runs of neighbouring keys
	up            forest       // of the minima
	nodes         []int32      // nodes of the minima that are roots
	part          part         // result of the box
	tally         *tally       // belongs to the core
}

// A layered is a minimum of a shared layer, with its slot in the layer.
type layered struct {
	voxel uint32
	slot  int32
}

// planeWords returns the number of words of a plane of h rows.
func planeWords(h, words int64) int64 {
	return (h*words + groupWords - 1) / groupWords * groupWords
}

// bitsOf returns the number of words per place in a plane, and the padding before them for
// neighbours.
func bitsOf(plane, words int) (apart, before int) {
	before = (words + 2*groupWords) / groupWords * groupWords
	return plane + 2*before, before
}

// cut prepares a box after its sides are set. Its memory is large enough for every box of the
// layout.
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

// offset returns the distance in voxels of a place around a voxel.
func (b *box[K]) offset(place int) int {
	return 64*((place/9-1)*b.plane+(place/3%3-1)*b.words) + place%3 - 1
}

// compare finds, for all voxels of a plane, the earlier neighbours that are not above them.
func (b *box[K]) compare(z int64) {
	apart, before := bitsOf(b.plane, b.words)
	b.j.kernel.compare(b.bits[int(z&1)*middle*apart+before:], b.keys, b.lead+int(z)*64*b.plane, apart, b.words, b.plane,
		b.plane)
}

// scan finds minima and saddles, and where other voxels descend to.
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
			case b.sides[n].outer:
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
			b.found(&b.set, &g.set, word, z)
			if b.j.hollow {
				b.j.kernel.around(g, s, to)
				b.found(&b.around, &g.around, word, z)
			}
		}
	}
}

// found records the results for a group, for the set or for the background.
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
	saddles := g.saddles
	for n := range f.rounds {
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

// shared records the minima of the box's shared layers: voxels that no neighbour within the layer
// precedes. The order is the same in the other box.
func (b *box[K]) shared(g *graph[K], f *found, word int, z int64) {
	for n, s := range b.sides {
		if !s.shared || n < 2 && z != int64(n)*(b.d-1) {
			continue
		}
		at := word - int(z)*b.plane
		for lane, layer := range b.layers[n*b.plane+at:][:groupWords] {
			minima := layer & f.layers[n/2][lane]
			for ; minima != 0; minima &= minima - 1 {
				g.layers = append(g.layers, layered{uint32((word+lane)*64 + bits.TrailingZeros64(minima)),
					^(g.slots[n]<<3 | int32(n))})
				g.slots[n]++
			}
		}
	}
}
