package duality

import "encoding/binary"

// A key is the level of a voxel in the narrowest type for all levels. Voxels in no set have the key
// after the last level.
type key interface{ uint8 | uint16 | uint32 }

// compare finds, for some words of voxels, the earlier neighbours that are not above them. row and
// plane are the sizes of rows and planes in words.
func compare[K key](to []uint64, keys []K, at, apart, row, plane, words int) {
	own := keys[at:][:64*words]
	for place := range middle {
		from := at + 64*((place/9-1)*plane+(place/3%3-1)*row) + place%3 - 1
		notAbove(to[place*apart:][:words], own, keys[from:][:64*words])
	}
}

// notAbove sets the bits of the voxels whose neighbours are not above them, 64 voxels per word.
func notAbove[K key](to []uint64, own, other []K) {
	if bytes, ok := any(own).([]uint8); ok {
		notAboveBytes(to, bytes, any(other).([]uint8))
		return
	}
	for i := range to {
		a, b := (*[64]K)(other[64*i:]), (*[64]K)(own[64*i:])
		var word uint64
		for k := 0; k < 64; k += 8 {
			v, u := (*[8]K)(a[k:]), (*[8]K)(b[k:])
			word |= (leq(v[0], u[0]) | leq(v[1], u[1])<<1 | leq(v[2], u[2])<<2 | leq(v[3], u[3])<<3 |
				leq(v[4], u[4])<<4 | leq(v[5], u[5])<<5 | leq(v[6], u[6])<<6 | leq(v[7], u[7])<<7) << uint(k)
		}
		to[i] = word
	}
}

// leq returns 1 for v ≤ limit, else 0. It is branch-free, because the outcomes are unpredictable.
func leq[K key](v, limit K) (in uint64) {
	if v <= limit {
		in = 1
	}
	return in
}

// notAboveBytes is notAbove for bytes, eight at a time.
func notAboveBytes(to []uint64, own, other []uint8) {
	const (
		ones  = 0x0101010101010101
		tops  = ones << 7
		order = 0x0102040810204080 // moves the lowest bit of each byte to the highest byte, in order
	)
	for i := range to {
		a, b := (*[64]uint8)(other[64*i:]), (*[64]uint8)(own[64*i:])
		var word uint64
		for k := 0; k < 64; k += 8 {
			v, limit := binary.LittleEndian.Uint64(a[k:]), binary.LittleEndian.Uint64(b[k:])
			// The highest bit of each byte means that its other bits are at most the limit's.
			low := (limit | tops) - v&^tops
			in := limit&^v | ^(limit^v)&low
			word |= in & tops >> 7 * order >> 56 << uint(k)
		}
		to[i] = word
	}
}
