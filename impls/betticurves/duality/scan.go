package duality

import "encoding/binary"

// A row of groupWords words has the voxels that are looked at together.
const (
	groupWords  = 8
	groupVoxels = 64 * groupWords
)

// lanes are words of bits of a group.
type lanes [groupWords]uint64

// How many bits say where a voxel descends to: to one of 27 places, or to one of six faces,
// the outside or nowhere. A byte has both.
const (
	placeBits = 5
	faceBits  = 3
	toOutside = 6
	toNowhere = 7
)

// mostRounds is how many components a link has at most beside the first one: one at each
// corner.
const mostRounds = 7

// What is found of a group of words, in the set or around it.
type found struct {
	minima lanes                          // voxels whose link is empty
	layers [3]lanes                       // voxels that none of their neighbours precedes of the same z, y and x
	more   [mostRounds]lanes              // voxels whose link has a second component, a third one and so on,
	place  [mostRounds][groupVoxels]uint8 // and a place, or a face, of it
	rounds int64                          // how many of these there are
}

// A group is words of a plane that follow each other, and what is known of their voxels.
type group struct {
	link        [27]lanes               // neighbours that precede a voxel; in the middle, the voxels themselves
	work        [2*27 + placeBits]lanes // of the assembly
	set, around found
}

// A sight is of a group: where its bits are, and those of its neighbours.
type sight struct {
	bits       []uint64  // of the neighbours before a voxel that are not above it, of a plane and the next one
	here, next int       // where those of the first place begin, of the group's first voxel and of the one behind it
	apart, row int       // how far those of the next place are, and those of the next row
	masks      []uint64  // nine, of the rows and columns around: the voxels whose neighbours there are in the box, then those whose neighbours are outside the image
	at, plane  int       // where the group's are, and those of the next mask
	in, out    [2]uint64 // all bits if the plane before, or the next one, is in the box; if it is outside the image
}

// insideBox returns the voxels of the group whose neighbour in direction k is in the box.
func (s *sight) insideBox(k int) (in lanes) {
	copy(in[:], s.masks[s.at+k%9*s.plane:])
	if z := k / 9; z != 1 {
		for lane := range in {
			in[lane] &= s.in[z/2]
		}
	}
	return in
}

// outside are those whose neighbour at a place is outside the image.
func (s *sight) outside(k int) (out lanes) {
	copy(out[:], s.masks[s.at+(9+k%9)*s.plane:])
	if z := k / 9; z != 1 && s.out[z/2] != 0 {
		copy(out[:], s.masks[s.at+4*s.plane:])
	}
	return out
}

// findLinks finds which neighbours precede each voxel.
func findLinks(g *group, s *sight) {
	for k := range g.link {
		in := s.insideBox(k)
		switch {
		case k < middle:
			bits := s.bits[s.here+k*s.apart:][:groupWords]
			for lane, v := range bits {
				in[lane] &= v
			}
		case k > middle:
			// The other one is not above a voxel that it precedes, seen from there.
			at := s.here + (26-k)*s.apart + (k/3%3-1)*s.row
			if k >= 18 {
				at += s.next - s.here
			}
			bits := s.bits[at-1:][:groupWords+2]
			switch k % 3 {
			case 0:
				for lane := range in {
					in[lane] &^= bits[lane+1]<<1 | bits[lane]>>63
				}
			case 1:
				for lane := range in {
					in[lane] &^= bits[lane+1]
				}
			case 2:
				for lane := range in {
					in[lane] &^= bits[lane+1]>>1 | bits[lane+2]<<63
				}
			}
		}
		g.link[k] = in
	}
}

// linkOf returns the link of a word of voxels, and the voxels.
func (g *group) linkOf(lane int) (l link, mask uint64) {
	for k := range l {
		l[k] = g.link[k][lane]
	}
	mask, l[middle] = l[middle], 0
	return l, mask
}

// scanSet finds where each voxel of the set descends to, minima and saddles.
func scanSet(g *group, to *[groupVoxels]uint8) {
	f := &g.set
	f.more, f.rounds = [mostRounds]lanes{}, 0
	for lane := range groupWords {
		l, mask := g.linkOf(lane)
		var rows [9]uint64
		some, across := uint64(0), uint64(0)
		for i := range rows {
			rows[i] = l[3*i] | l[3*i+1] | l[3*i+2]
			some |= rows[i]
			across |= l[3*i+1]
		}
		f.minima[lane] = mask &^ some
		f.layers[0][lane] = mask &^ (rows[3] | rows[4] | rows[5])
		f.layers[1][lane] = mask &^ (rows[1] | rows[4] | rows[7])
		f.layers[2][lane] = mask &^ across
		only := l.descents()
		number := only.numbers()
		spreadBytes((*[64]uint8)(to[64*lane:]), number[:], 0)
		for n := range f.more {
			if l, some = l.rest(only); some == 0 {
				break
			}
			only = l.first()
			number = only.numbers()
			f.more[n][lane] = some
			spreadBytes((*[64]uint8)(f.place[n][64*lane:]), number[:], 0)
			f.rounds = max(f.rounds, int64(n)+1)
		}
	}
}

// scanAround does so of what is around the set, from the last voxel to the first: the outside
// comes before all, and is one wherever a voxel touches it.
func scanAround(g *group, s *sight, to *[groupVoxels]uint8) {
	f := &g.around
	f.more, f.rounds = [mostRounds]lanes{}, 0
	var above, beyond [27]lanes
	for k := range above {
		if k == middle || !touches[k] {
			continue
		}
		within, outside := s.insideBox(k), s.outside(k)
		beyond[k] = outside
		for lane, v := range g.link[k] {
			above[k][lane] = within[lane]&^v | outside[lane]
		}
	}
	for lane := range groupWords {
		mask := g.link[middle][lane]
		var faced, only crown
		var angle [len(angles)]uint64
		var some, open uint64
		for n, k := range faces {
			faced[n], only[n] = above[k][lane], beyond[k][lane]
			some |= faced[n]
			open |= only[n]
		}
		for i, t := range angles {
			angle[i] = above[t.edge][lane]
		}
		f.minima[lane] = mask &^ some
		for axis, v := range [3]uint64{faced[1] | faced[2] | faced[3] | faced[4], faced[0] | faced[2] | faced[3] | faced[5], faced[0] | faced[1] | faced[4] | faced[5]} {
			f.layers[axis][lane] = mask &^ v
		}
		first := crown{}
		for n := range faced { // away from what is not there, so that ways are short
			first[n] = faced[n] &^ faced[5-n] &^ open
		}
		first = first.first()
		seen := open
		for _, v := range first {
			seen |= v
		}
		for n, v := range faced {
			first[n] |= v &^ seen
			seen |= v
		}
		number := first.numbers()
		number[0] |= ^seen
		number[1] |= open | ^seen
		number[2] |= open | ^seen
		spreadBytes((*[64]uint8)(to[64*lane:]), number[:], placeBits)
		for n := range first {
			only[n] |= first[n]
		}
		for n := range f.more {
			if faced, some = faced.rest(only, &angle); some == 0 {
				break
			}
			only = faced.first()
			number = only.numbers()
			f.more[n][lane] = some
			spreadBytes((*[64]uint8)(f.place[n][64*lane:]), number[:], 0)
			f.rounds = max(f.rounds, int64(n)+1)
		}
	}
}

// apart has each bit of a byte in a byte.
var apart = func() (list [256]uint64) {
	for v := range list {
		for bit := range 8 {
			list[v] |= uint64(v>>bit&1) << (8 * bit)
		}
	}
	return list
}()

// spreadBytes writes numbers, of which there are the bits, from a bit of a byte on, and leaves
// the bits below.
func spreadBytes(to *[64]uint8, number []uint64, from int) {
	for i := 0; i < 64; i += 8 {
		eight := to[i:][:8]
		v := binary.LittleEndian.Uint64(eight) & (0x0101010101010101 * (1<<from - 1))
		for bit, n := range number {
			v |= apart[uint8(n>>uint(i))] << uint(from+bit)
		}
		binary.LittleEndian.PutUint64(eight, v)
	}
}
