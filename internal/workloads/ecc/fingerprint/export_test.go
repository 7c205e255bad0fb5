package fingerprint

import (
	"crypto/aes"
	"iter"

	"eccbench/internal/grid"
)

// On is Below by one instruction set.
func On(isa string, s grid.Source, k Key, top int64, threads int) (Sum, error) {
	return below(s, k, top, threads, isa)
}

// PrepareOn is Prepare for one instruction set.
func PrepareOn(isa string, t grid.Type, l grid.Ladder, k Key) *Prepared {
	return prepare(t, l, k, l.Len(), isa)
}

// Available lists the instruction sets of this program on this machine.
func Available() []string { return available() }

// OfFewBits is the key with so many random bits in each weight.
func OfFewBits(k Key, bits uint) Key {
	k.atMost = bits
	return k
}

// OfBytes is the key with bilinear weights of bytes, on any machine.
func OfBytes(k Key) Key {
	k.split = ofBytes
	return k
}

// OfLevels is the key with bilinear weights of levels, on any machine.
func OfLevels(k Key) Key {
	k.split = ofLevels
	return k
}

// OfPairs is the key with trilinear weights of voxels of 16 bits, on any machine.
func OfPairs(k Key) Key {
	k.split = ofPairs
	return k
}

// MostByLevels is how many levels those are of, at most.
const MostByLevels = 1024

// Forms are what changes sum to in each form of a key's first function.
func Forms(k Key, changes iter.Seq2[int64, int64]) []int64 {
	m, sums := k.weights(k.split.most(), 0).multilinear, make([]int64, forms)
	for level, change := range changes {
		for i := range sums {
			sums[i] += change * m.form(i, level)
		}
	}
	return sums
}

// RandomBits is how many random bits the weights of so many levels have.
func RandomBits(levels int64) uint { return randomBits(levels) }

// Weights are the weights of the levels and of what is outside, of the first function.
func Weights(k Key, levels int64) []uint64 {
	w := k.weights(levels, 0)
	var all []uint64
	var block [aes.BlockSize]byte
	for t := range levels {
		all = append(all, w.with(&block, t))
	}
	return append(all, w.outside())
}

var ApartOf = apart
