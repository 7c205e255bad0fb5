package fingerprint

import (
	"crypto/aes"
	"encoding/binary"

	"eccbench/internal/grid"
)

// A block is what the vector instructions that give the weights of every float32 read: the
// levels are too many for a table of weights, so each is encrypted when it is met.
//
//	offset, bytes
//	   0, 176  the round keys of AES-128
//	 176,  32  the number of the block of a level, four times
//	 208,  32  the first round key, twice
//	 240,  32  the shuffle that brings the half that is taken to the front
//	 272,  16  64 − b, how far random bits are shifted
//	 288,  16  b, how far levels are
//	 304,  32  what the weights of all levels have in common, four times
//	 336,  32  the level of 0, eight times
//	 368,  32  1, or −1 where weights descend, eight times
type block [400]byte

func newBlock(w weights) []uint64 {
	var b block
	keys := roundKeys(w.seed)
	copy(b[:], keys[:])
	put := func(at, times int, v uint64) {
		for i := range times {
			binary.LittleEndian.PutUint64(b[at+8*i:], v)
		}
	}
	put(176, 4, w.number)
	copy(b[208:], keys[:aes.BlockSize])
	copy(b[224:], keys[:aes.BlockSize])
	for i := range 32 {
		b[240+i] = byte(i%16 ^ 8*w.half)
	}
	put(272, 1, uint64(64-w.bits))
	put(288, 1, uint64(w.bits))
	put(304, 4, w.base())
	zero := uint64(grid.EveryLevel(0))
	put(336, 4, zero<<32|zero)
	sign := uint64(1)
	if w.descend() {
		sign = 1<<32 - 1
	}
	put(368, 4, sign<<32|sign)
	words := make([]uint64, len(b)/8)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	return words
}

// roundKeys is the key schedule of AES-128 (FIPS 197, section 5.2), which package
// crypto/aes keeps to itself.
func roundKeys(key [aes.BlockSize]byte) (keys [11 * aes.BlockSize]byte) {
	copy(keys[:], key[:])
	box := substitution()
	for at, constant := 16, byte(1); at < len(keys); at += 4 {
		var word [4]byte
		copy(word[:], keys[at-4:])
		if at%16 == 0 {
			word = [4]byte{box[word[1]] ^ constant, box[word[2]], box[word[3]], box[word[0]]}
			constant = double(constant)
		}
		for i := range word {
			keys[at+i] = keys[at-16+i] ^ word[i]
		}
	}
	return keys
}

// double multiplies by x in the field of AES.
func double(a byte) byte { return a<<1 ^ a>>7*0x1b }

// substitution is the S-box of AES: the inverse in its field, and an affine map.
func substitution() (box [256]byte) {
	const affine = 0x63
	rotated := func(a byte, n int) byte { return a<<n | a>>(8-n) }
	power, inverse := byte(1), byte(1) // of the generator 3, and of its inverse
	for {
		power ^= double(power)
		inverse ^= inverse << 1
		inverse ^= inverse << 2
		inverse ^= inverse << 4
		if inverse&0x80 != 0 {
			inverse ^= 0x09
		}
		box[power] = inverse ^ rotated(inverse, 1) ^ rotated(inverse, 2) ^ rotated(inverse, 3) ^ rotated(inverse, 4) ^ affine
		if power == 1 {
			box[0] = affine
			return box
		}
	}
}
