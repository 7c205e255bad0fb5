package duality

import (
	"encoding/binary"
	"math"
)

// packValues sets a bit for each value ≤ t. Rows have w values; rows of bits are stride words
// apart.
func packValues[T int16 | uint16 | float32](to []uint64, values []T, w, stride, rows int64, t float32) {
	limit, some := limitOf[T](t)
	for y := range rows {
		row, to := values[y*w:][:w], to[y*stride:][:words(w)]
		if !some {
			clear(to)
			continue
		}
		for ; len(row) >= 64; row, to = row[64:], to[1:] {
			var word uint64
			for i := 0; i < 64; i += 8 {
				v := (*[8]T)(row[i:])
				word |= (leq(v[0], limit) | leq(v[1], limit)<<1 | leq(v[2], limit)<<2 | leq(v[3], limit)<<3 |
					leq(v[4], limit)<<4 | leq(v[5], limit)<<5 | leq(v[6], limit)<<6 | leq(v[7], limit)<<7) << uint(i)
			}
			to[0] = word
		}
		if len(row) > 0 {
			var word uint64
			for i, v := range row {
				word |= leq(v, limit) << uint(i)
			}
			to[0] = word
		}
	}
}

// leq returns 1 for v ≤ limit, else 0. It is branch-free, because the outcomes are unpredictable.
func leq[T int16 | uint16 | float32](v, limit T) (in uint64) {
	if v <= limit {
		in = 1
	}
	return in
}

// limitOf returns the greatest value of a type that is ≤ t, or false if there is none.
func limitOf[T int16 | uint16 | float32](t float32) (limit T, some bool) {
	least, most := float64(math.MinInt16), float64(math.MaxInt16)
	switch any(limit).(type) {
	case float32:
		return T(t), true
	case uint16:
		least, most = 0, math.MaxUint16
	}
	return T(min(math.Floor(max(float64(t), least)), most)), float64(t) >= least
}

// packBytes is packValues for uint8.
func (k kernel) packBytes(to []uint64, values []byte, w, stride, rows int64, t float32) {
	if t < 0 {
		for y := range rows {
			clear(to[y*stride:][:words(w)])
		}
		return
	}
	k.pack(to, values, w, stride, rows, uint8(min(t, math.MaxUint8)))
}

// packPortably sets a bit for each byte ≤ most, eight bytes at a time.
func packPortably(to []uint64, from []byte, w, stride, rows int64, most uint8) {
	const (
		ones  = 0x0101010101010101
		tops  = ones << 7
		order = 0x0102040810204080 // moves the lowest bit of each byte to the highest byte, in order
	)
	limit := uint64(most)
	low := (limit&0x7f)*ones | tops
	var high uint64 // if limit ≥ 128, bytes below 128 are within it
	if limit > 0x7f {
		high = tops
	}
	// The highest bit of each byte means that its other bits are at most the limit's.
	pack := func(v uint64) uint64 {
		within := low - v&^tops
		within = within&(^v|high) | ^v&high
		return within & tops >> 7 * order >> 56
	}
	for y := range rows {
		row, to := from[y*w:][:w], to[y*stride:][:words(w)]
		for ; len(row) >= 64; row, to = row[64:], to[1:] {
			eight := (*[64]byte)(row)
			to[0] = pack(binary.LittleEndian.Uint64(eight[0:])) | pack(binary.LittleEndian.Uint64(eight[8:]))<<8 |
				pack(binary.LittleEndian.Uint64(eight[16:]))<<16 | pack(binary.LittleEndian.Uint64(eight[24:]))<<24 |
				pack(binary.LittleEndian.Uint64(eight[32:]))<<32 | pack(binary.LittleEndian.Uint64(eight[40:]))<<40 |
				pack(binary.LittleEndian.Uint64(eight[48:]))<<48 | pack(binary.LittleEndian.Uint64(eight[56:]))<<56
		}
		if len(row) > 0 {
			packTail(to, row, most)
		}
	}
}

// packTail packs the last, incomplete word of a row.
func packTail(to []uint64, row []byte, limit uint8) {
	var word uint64
	for i, v := range row {
		if v <= limit {
			word |= 1 << uint(i)
		}
	}
	to[0] = word
}
