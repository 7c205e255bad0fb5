package duality

import "math/bits"

// A strip is rows of bits, and of each word the number of the first node that begins in it.
type strip struct {
	left []uint64
	base []int32
}

// upTo is the bits of a word up to one.
func upTo(bit int) uint64 { return 2<<uint(bit) - 1 }

// node is the number of the run that a bit of a word is of.
func (s strip) node(p int64, bit int) int32 {
	return s.base[p] + int32(bits.OnesCount64(s.starts(p)&upTo(bit))) - 1
}

// starts is where runs of a word begin.
func (s strip) starts(p int64) uint64 { return s.left[p] &^ (s.left[p]<<1 | s.left[p-1]>>63) }

// linkFaces links runs of two rows in a word: one link is enough for each run of bits that both have.
func linkFaces(parent []int32, a strip, p int64, b strip, q int64) (joined int64) {
	both := a.left[p] & b.left[q]
	if both == 0 {
		return 0
	}
	starts, others := a.starts(p), b.starts(q)
	node, other := a.base[p]-1, b.base[q]-1
	for links := both &^ (both<<1 | a.left[p-1]&b.left[q-1]>>63); links != 0; links &= links - 1 {
		first := links ^ (links - 1) // up to the first of them
		joined += unite(parent, node+int32(bits.OnesCount64(starts&first)), other+int32(bits.OnesCount64(others&first)))
	}
	return joined
}

// linkCorners links runs of two rows that have bits at most one apart, in a word of the first row: where the
// first such bit is the start of a run of that, or is before the start of one of the other.
func linkCorners(parent []int32, a strip, p int64, b strip, q int64, corners bool) (joined int64) {
	if !corners { // bits above each other alone
		return linkFaces(parent, a, p, b, q)
	}
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
