package fingerprint

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"eccbench/internal/grid"
)

// A Key determines the weights: a seed of 128 bits, the number of weight functions, and the
// convention.
type Key struct {
	seed      [aes.BlockSize]byte
	functions int
	atMost    uint // number of random bits of a weight, for tests; 0 for the maximum
	in        Convention
}

// A Convention defines the cells of an image and the direction of its sets. The zero Convention is
// the default: construction T (voxels are top cells) and sublevel sets.
type Convention struct {
	// Vertices selects construction V: voxels are vertices, and a cell is present if all its
	// vertices are. In construction T voxels are top cells, and all their faces are present.
	Vertices bool
	// Superlevel selects the sets of values at or above a level.
	Superlevel bool
	// Periodic lists the axes along which the last and the first voxels are neighbours.
	Periodic grid.Axes
	// Masked means that the image comes from views.Mask: voxels above the ladder's last level are
	// not part of it.
	Masked bool
}

// WithinSlices returns the convention for slabs of an image, which are not periodic along the slice
// axis.
func (c Convention) WithinSlices(s grid.Shape) Convention {
	c.Periodic = c.Periodic.WithinSlices(s)
	return c
}

// WithConvention returns the key for a convention. A cell takes the greatest instead of the least value of its
// voxels if exactly one of Vertices and Superlevel is set. Then weights descend with the levels. In
// construction V the outside has the least weight, because no cell has a vertex there.
func (k Key) WithConvention(c Convention) Key {
	k.in = c
	return k
}

// Draw returns a random key with the given number of functions, at least one.
func Draw(functions int) Key {
	k := Key{functions: max(1, functions)}
	rand.Read(k.seed[:]) // never fails
	return k
}

// Derived returns the key of one function that is derived from a text: the first bits of its
// SHA-256.
func Derived(text string) Key {
	k, hash := Key{functions: 1}, sha256.Sum256([]byte(text))
	copy(k.seed[:], hash[:])
	return k
}

// leastBits is the minimum number of random bits of a level, over all functions.
const leastBits = 31

// ForLevels returns the key with enough functions for leastBits random bits per level, on a ladder of the
// given number of levels. It never removes functions. The ladder of every float32 needs one.
func (k Key) ForLevels(levels int64) Key {
	for k.functions*int(randomBits(levels)) < leastBits {
		k.functions++
	}
	return k
}

// Convention returns the convention of the key.
func (k Key) Convention() Convention { return k.in }

// String formats the seed as hexadecimal digits, followed by the number of functions unless it is
// one: "00112233445566778899aabbccddeeff*2".
func (k Key) String() string {
	s := hex.EncodeToString(k.seed[:])
	if k.functions != 1 {
		s += "*" + strconv.Itoa(k.functions)
	}
	return s
}

// ParseKey parses a key from String.
func ParseKey(s string) (Key, error) {
	k := Key{functions: 1}
	seed, functions, several := strings.Cut(s, "*")
	if several {
		n, err := strconv.Atoi(functions)
		if err != nil || n < 1 {
			return Key{}, fmt.Errorf("key %q: %q is not a number of functions", s, functions)
		}
		k.functions = n
	}
	b, err := hex.DecodeString(seed)
	if err != nil || len(b) != len(k.seed) {
		return Key{}, fmt.Errorf("key %q: want %d hexadecimal digits", s, 2*len(k.seed))
	}
	copy(k.seed[:], b)
	return k, nil
}

// Functions returns the number of weight functions.
func (k Key) Functions() int { return k.functions }

// weights is one weight function. Weights ascend with the levels, so that the smallest weight of
// several voxels belongs to the smallest value. A weight is
//
//	lowest + level·2^b + b random bits
//
// The outside has the weight of the level after the last one, without random bits unless these come
// from factors. In construction V levels count from 1 and the outside is 0, so that the bits above
// the random ones distinguish them. Read as a float64, every weight is a positive normal number:
// processors without a minimum of 64-bit integers use their float64 minimum, which has the same
// order.
type weights struct {
	seed    [aes.BlockSize]byte
	random  cipher.Block
	half    int    // which half of a block
	number  uint64 // part of the encrypted block, together with the level
	levels  int64
	bits    uint // b
	in      Convention
	threads int // for a table; 0 for all cores
	// factors are multiplied to give the random bits of a level: first the factors for the upper bytes of
	// levels, last the factors for the lowest bytes. It is nil if each level has random bits of its own.
	factors []uint64
}

// With more than mostDrawn and up to mostProducts levels, the random bits of a level are the lowest
// bits of a product of two random numbers. All factors together need the memory of 512 weights. On
// the ladder of every float32 they are a product of four factors modulo a prime.
const (
	mostDrawn    = 1 << 11
	mostProducts = 1 << 16
	lowerFactors = 257 // start of the factors for lower bytes: levels and the outside have 17 bits
)

const (
	lowest  = 1 << 52 // the smallest bit pattern of a normal float64
	highest = 0x7fe << 52
)

// maxRandomBits leaves enough of the 64 bits for the level.
const maxRandomBits = 56

// randomBits returns the number of random bits of weights on the given number of levels. It is the
// maximum that keeps every weight between lowest and highest, up to maxRandomBits. On up to 256
// levels it is only leastBits, so that W − w has few digits.
func randomBits(levels int64) uint {
	if levels <= 256 {
		return leastBits
	}
	b := uint(maxRandomBits)
	for {
		if hi, lo := bits.Mul64(uint64(levels)+1, 1<<b); hi == 0 && lo <= highest-lowest {
			return b
		}
		b--
	}
}

// weights returns weight function i of a key.
func (k Key) weights(levels int64, i int) weights {
	random, err := aes.NewCipher(k.seed[:])
	if err != nil {
		panic("fingerprint: " + err.Error()) // the seed has the length of an AES key
	}
	w := weights{seed: k.seed, random: random, half: i % 2, number: uint64(i / 2), levels: levels,
		bits: randomBits(levels), in: k.in}
	if k.atMost > 0 {
		w.bits = min(w.bits, k.atMost)
	}
	block := new([aes.BlockSize]byte)
	switch {
	case levels > grid.MaxLevels:
		w.factors = make([]uint64, 1024)
		for j := range w.factors {
			w.factors[j] = w.randomBits(block, int64(j)) % prime
		}
	case levels > mostDrawn && levels <= mostProducts:
		w.factors = make([]uint64, lowerFactors+256)
		for j := range w.factors {
			w.factors[j] = w.randomBits(block, int64(j)) >> (64 - w.bits)
		}
	}
	return w
}

// weightUsing returns the weight of a level. The caller provides the block to avoid an allocation
// per level.
func (w *weights) weightUsing(block *[aes.BlockSize]byte, level int64) uint64 {
	if w.descend() {
		level = w.levels - 1 - level
	}
	if w.factors != nil {
		return w.weightOf(level + w.first())
	}
	return w.weightFrom(level+w.first(), w.randomBits(block, level)>>(64-w.bits))
}

// weightOf returns the weight of a level number, or of the outside, from the factors.
func (w *weights) weightOf(number int64) uint64 {
	f := w.factors
	if len(f) < 1024 {
		return w.weightFrom(number, f[number>>8]*f[lowerFactors+number&255])
	}
	upper := timesInField(f[number>>24], f[256+number>>16&255])
	return w.weightFrom(number, timesInField(upper, timesInField(f[512+number>>8&255], f[768+number&255])))
}

// weightFrom combines a level number and random bits.
func (w *weights) weightFrom(number int64, random uint64) uint64 {
	return lowest + uint64(number)<<w.bits + random&(1<<w.bits-1)
}

// randomBits returns 64 random bits for a number: half of an AES-128 block, which encrypts the
// number and the function's number with the seed.
func (w *weights) randomBits(block *[aes.BlockSize]byte, number int64) uint64 {
	binary.LittleEndian.PutUint64(block[:], uint64(number))
	binary.LittleEndian.PutUint64(block[8:], w.number)
	w.random.Encrypt(block[:], block[:])
	return binary.LittleEndian.Uint64(block[8*w.half:])
}

// first returns the number of the lowest level, or of the highest level if weights descend.
func (w *weights) first() int64 {
	if w.in.Vertices {
		return 1
	}
	return 0
}

// descend reports whether higher levels have lower weights.
func (w *weights) descend() bool { return w.in.Vertices != w.in.Superlevel }

// outside returns the weight of the outside of the image.
func (w *weights) outside() uint64 {
	number := w.levels
	if w.in.Vertices {
		number = 0
	}
	if w.factors != nil {
		return w.weightOf(number)
	}
	return w.weightFrom(number, 0)
}
