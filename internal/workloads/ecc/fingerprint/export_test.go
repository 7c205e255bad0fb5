package fingerprint

import (
	"crypto/aes"

	"eccbench/internal/grid"
)

// On is ComputeBelow by one instruction set.
func On(isa string, s grid.Source, k Key, top int64, threads int) (Sum, error) {
	return computeBelow(s, k, top, threads, isa)
}

// PrepareOn is Prepare for one instruction set.
func PrepareOn(isa string, t grid.Type, l grid.Ladder, k Key) *Prepared {
	return prepare(t, l, k, l.Len(), isa)
}

// Available lists the instruction sets of this program on this machine.
func Available() []string { return available() }

// OfFewBits returns the key with the given number of random bits in each weight.
func OfFewBits(k Key, bits uint) Key {
	k.atMost = bits
	return k
}

// RandomBits returns the number of random bits in the weights of levels levels.
func RandomBits(levels int64) uint { return randomBits(levels) }

// Weights returns the weights of the levels and of the outside in the first function.
func Weights(k Key, levels int64) []uint64 {
	w := k.weights(levels, 0)
	var all []uint64
	var block [aes.BlockSize]byte
	for t := range levels {
		all = append(all, w.weightUsing(&block, t))
	}
	return append(all, w.outside())
}

var ApartOf = firstDifferingISA
