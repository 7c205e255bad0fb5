package duality

import "encoding/binary"

// A group is groupWords words of a row, which are processed together.
const (
	groupWords  = 8
	groupVoxels = 64 * groupWords
)

// lanes are the words of a group.
type lanes [groupWords]uint64

// Numbers of bits that encode a descent: to one of 27 places in the set, and to one of six faces,
// the outside or nowhere in the background. A byte has both.
const (
	placeBits = 5
	faceBits  = 3
	toOutside = 6
	toNowhere = 7
)

// mostRounds is the maximum number of further components of a link: one at each corner except the
// first.
const mostRounds = 7

// found contains the results for a group, in the set or in the background.
type found struct {
	minima lanes                          // voxels with an empty link
	layers [3]lanes                       // voxels that no neighbour with the same z, y or x precedes
	more   [mostRounds]lanes              // voxels whose link has a second, third, … component
	place  [mostRounds][groupVoxels]uint8 // and a place, or a face, of that component
	rounds int64                          // number of rounds in use
}

// A group is consecutive words of a plane, with the results for their voxels.
type group struct {
	link        [27]lanes               // earlier neighbours of the voxels; in the middle, the voxels themselves
	work        [3*27 + placeBits]lanes // scratch memory of the assembly
	set, around found
}

// A sight locates the bits of a group and of its neighbours.
type sight struct {
	bits       []uint64 // earlier neighbours that are not above a voxel, for a plane and the next one
	here, next int      // index of the first place's bits, in this plane and in the next
	apart, row int      // distance to the next place, and to the next row
	// nine masks of voxels whose neighbours are in the box, then nine of voxels whose neighbours are outside the image
	masks     []uint64
	at, plane int       // index of the group in a mask, and distance to the next mask
	in, out   [2]uint64 // all ones if the previous or next plane is in the box, or is outside the image
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

// outside returns the voxels whose neighbour at a place is outside the image.
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
			// A later neighbour precedes the voxel unless the voxel is not above it, seen from
			// there.
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

// linkOf returns the links of a word of voxels, and the mask of the voxels.
func (g *group) linkOf(lane int) (l link, mask uint64) {
	for k := range l {
		l[k] = g.link[k][lane]
	}
	mask, l[middle] = l[middle], 0
	return l, mask
}

// scanSet finds minima, saddles and descents of the set.
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

// scanAround does the same for the background, from the last voxel to the first. The outside
// precedes everything, and is one component wherever a voxel touches it.
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
		for axis, v := range [3]uint64{faced[1] | faced[2] | faced[3] | faced[4], faced[0] | faced[2] | faced[3] | faced[5],
			faced[0] | faced[1] | faced[4] | faced[5]} {
			f.layers[axis][lane] = mask &^ v
		}
		first, seen := faced.shortest(open)
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

// apart spreads the bits of a byte to the bytes of a word.
var apart = func() (list [256]uint64) {
	for v := range list {
		for bit := range 8 {
			list[v] |= uint64(v>>bit&1) << (8 * bit)
		}
	}
	return list
}()

// spreadBytes writes numbers, given bit by bit, to bytes from a bit position on. It keeps the lower
// bits.
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
