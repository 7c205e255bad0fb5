package duality

import "math/bits"

// A strip is rows of bits, with the number of the first node that begins in each word.
type strip struct {
	left []uint64
	base []int32
}

// upTo returns a mask of the bits up to and including one.
func upTo(bit int) uint64 { return 2<<uint(bit) - 1 }

// node returns the number of the run that contains a bit of a word.
func (s strip) node(p int64, bit int) int32 {
	return s.base[p] + int32(bits.OnesCount64(s.starts(p)&upTo(bit))) - 1
}

// starts returns the first bit of each run of a word.
func (s strip) starts(p int64) uint64 { return s.left[p] &^ (s.left[p]<<1 | s.left[p-1]>>63) }

// linkFaces links the runs of two rows in a word. One link is enough for each run of common bits.
func linkFaces(parent []int32, a strip, p int64, b strip, q int64) (joined int64) {
	both := a.left[p] & b.left[q]
	if both == 0 {
		return 0
	}
	starts, others := a.starts(p), b.starts(q)
	node, other := a.base[p]-1, b.base[q]-1
	for links := both &^ (both<<1 | a.left[p-1]&b.left[q-1]>>63); links != 0; links &= links - 1 {
		first := links ^ (links - 1) // the bits up to the first link
		joined += unite(parent, node+int32(bits.OnesCount64(starts&first)), other+int32(bits.OnesCount64(others&first)))
	}
	return joined
}

// linkCorners links the runs of two rows whose bits are at most one apart, in a word of the first
// row. It makes a link where the first such bit starts a run of the first row, or precedes a start
// in the other row.
func linkCorners(parent []int32, a strip, p int64, b strip, q int64) (joined int64) {
	v, before, other, after := a.left[p], b.left[q-1], b.left[q], b.left[q+1]
	wide := other | other<<1 | other>>1 | before>>63 | after<<63
	if v&wide == 0 {
		return 0
	}
	starts, others := a.starts(p), b.starts(q)
	node, first := a.base[p]-1, b.base[q]-1
	number := func(of uint64, bit int) int32 { return int32(bits.OnesCount64(of & upTo(bit))) }
	link := func(bit int, with int32) { joined += unite(parent, node+number(starts, bit), with) }
	for links := starts & wide; links != 0; links &= links - 1 {
		bit := bits.TrailingZeros64(links)
		at := uint64(1) << bit
		if other&at != 0 {
			link(bit, first+number(others, bit))
			continue
		}
		if other&(at>>1) != 0 {
			link(bit, first+number(others, bit))
		} else if at == 1 && before>>63 != 0 {
			link(bit, b.node(q-1, 63))
		}
		if other&(at<<1) != 0 {
			link(bit, first+number(others, bit+1))
		} else if at>>63 != 0 && after&1 != 0 {
			link(bit, b.node(q+1, 0))
		}
	}
	for links := others >> 1 & v &^ starts; links != 0; links &= links - 1 {
		bit := bits.TrailingZeros64(links)
		link(bit, first+number(others, bit+1))
	}
	if after&1&^(other>>63)&((v&^starts)>>63) != 0 {
		link(63, b.node(q+1, 0))
	}
	return joined
}
