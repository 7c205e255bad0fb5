package fingerprint

import (
	"encoding/binary"

	"eccbench/internal/grid"
)

// prime is the modulus of the field for the random bits of levels on the ladder of every float32.
const prime = 1<<31 - 1

// timesInField returns the product of two numbers below prime, modulo prime.
func timesInField(a, b uint64) uint64 {
	c := a * b
	c = c&prime + c>>31 // 2³¹ ≡ 1
	return c % prime
}

// A block contains the parameters for the vector code that computes weights on the ladder of every
// float32. These levels are too many for a table, so the random bits of each level are computed as
// a product of factors.
//
//	offset, bytes
//	   0, 4096  the factors for the first byte of a level, the second, third and fourth
//	4096,    4  the number of the level of 0
//	4100,    4  1, or −1 if weights descend
//	4104,    8  the constant part of all weights
//	4160, 4096  the factors again, by bytes: for the first byte of levels all lowest bytes, and so on
type block [8256]byte

func newBlock(w weights) []uint64 {
	var b block
	for i, f := range w.factors {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(f))
		for j := range 4 {
			b[4160+i>>8<<10+j<<8+i&255] = byte(f >> (8 * j))
		}
	}
	binary.LittleEndian.PutUint32(b[4096:], grid.EveryLevel(0)+uint32(w.first()))
	sign := int32(1)
	if w.descend() {
		sign = -1
	}
	binary.LittleEndian.PutUint32(b[4100:], uint32(sign))
	binary.LittleEndian.PutUint64(b[4104:], lowest)
	words := make([]uint64, len(b)/8)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	return words
}
