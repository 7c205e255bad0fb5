package fingerprint

import (
	"encoding/binary"

	"eccbench/internal/grid"
)

// prime is that of the field in which the random bits of the levels of every float32 are products.
const prime = 1<<31 - 1

// timesInField is the product of two numbers below prime, modulo prime.
func timesInField(a, b uint64) uint64 {
	c := a * b
	c = c&prime + c>>31 // 2³¹ is 1
	return c % prime
}

// A block is what the vector instructions that give the weights of every float32 read: the
// levels are too many for a table of weights, so the random bits of each are multiplied when it is
// met.
//
//	offset, bytes
//	   0, 4096  the factors of the first bytes of levels, of the second, third and fourth ones
//	4096,    4  the number of the level of 0
//	4100,    4  1, or −1 where weights descend
//	4104,    8  what all weights have in common
//	4160, 4096  the factors again: of the first bytes all lowest bytes, and so on
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
