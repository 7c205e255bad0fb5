package duality

import (
	"encoding/binary"
	"math"

	"eccbench/internal/grid"
)

// packValues sets a bit for each value that is not above t, rows of w to whole words.
func packValues[T grid.Element](to []uint64, values []T, w int64, t float32) {
	for ; len(values) > 0; values = values[w:] {
		for row := values[:w]; len(row) > 0; to = to[1:] {
			n := min(64, len(row))
			var word uint64
			for _, v := range row[:n] {
				// Without branches, because their outcomes are noise.
				var in uint64
				if float32(v) <= t {
					in = 1
				}
				word = word>>1 | in<<63
			}
			to[0] = word >> uint(64-n)
			row = row[n:]
		}
	}
}

// packBytes is packValues of uint8, eight at a time.
func packBytes(to []uint64, values []byte, w int64, t float32) {
	const (
		ones  = 0x0101010101010101
		tops  = ones << 7
		order = 0x0102040810204080 // brings the lowest bit of each byte to the highest byte, in order
	)
	if t < 0 {
		clear(to)
		return
	}
	limit := uint64(math.Floor(float64(min(t, math.MaxUint8))))
	low := (limit&0x7f)*ones | tops
	var high uint64 // bytes below 128 are within a limit that is not
	if limit > 0x7f {
		high = tops
	}
	// The highest bit of each byte says whether its others are within the limit's.
	pack := func(v uint64) uint64 {
		within := low - v&^tops
		within = within&(^v|high) | ^v&high
		return within & tops >> 7 * order >> 56
	}
	for ; len(values) > 0; values = values[w:] {
		row := values[:w]
		for ; len(row) >= 64; row, to = row[64:], to[1:] {
			eight := (*[64]byte)(row)
			to[0] = pack(binary.LittleEndian.Uint64(eight[0:])) | pack(binary.LittleEndian.Uint64(eight[8:]))<<8 |
				pack(binary.LittleEndian.Uint64(eight[16:]))<<16 | pack(binary.LittleEndian.Uint64(eight[24:]))<<24 |
				pack(binary.LittleEndian.Uint64(eight[32:]))<<32 | pack(binary.LittleEndian.Uint64(eight[40:]))<<40 |
				pack(binary.LittleEndian.Uint64(eight[48:]))<<48 | pack(binary.LittleEndian.Uint64(eight[56:]))<<56
		}
		if len(row) > 0 {
			var word uint64
			for i, v := range row {
				if uint64(v) <= limit {
					word |= 1 << uint(i)
				}
			}
			to[0], to = word, to[1:]
		}
	}
}
