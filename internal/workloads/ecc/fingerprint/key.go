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

// A Key says what the weights are: a seed of 128 bits, and how many weight functions.
type Key struct {
	seed      [aes.BlockSize]byte
	functions int
	atMost    uint // random bits of a weight, for tests; 0 for as many as there is room for
	in        Convention
}

// A Convention says which cells an image has, and of which values its sets are. The zero
// Convention is the project's: voxels are top cells, sets are of the values at or below a
// level.
type Convention struct {
	// Vertices takes the voxels for the vertices of cells, which are there with all of
	// them, in place of top cells, which bring all their faces.
	Vertices bool
	// Superlevel takes sets of the values at or above a level.
	Superlevel bool
	// Periodic are the axes along which the last voxels and the first are neighbours.
	Periodic grid.Axes
	// Masked says that the image is one of grid.Mask, of which voxels are no part that are
	// above the ladder's last level.
	Masked bool
}

// WithinSlices is the convention of an image's slabs: what it says of how the last slice and
// the first meet is left out.
func (c Convention) WithinSlices(s grid.Shape) Convention {
	c.Periodic = c.Periodic.WithinSlices(s)
	return c
}

// In is the key for a convention. A cell has the greatest of its voxels' values in place of
// the least where one of the two differs from the project's: then weights descend with the
// levels. What is outside has no cell with vertices there: its weight is the least.
func (k Key) In(c Convention) Key {
	k.in = c
	return k
}

// Draw is a fresh key of so many functions, at least one.
func Draw(functions int) Key {
	k := Key{functions: max(1, functions)}
	rand.Read(k.seed[:]) // never fails
	return k
}

// Derived is the key of one function that everybody derives of a text: the first bits of its
// SHA-256.
func Derived(text string) Key {
	k, hash := Key{functions: 1}, sha256.Sum256([]byte(text))
	copy(k.seed[:], hash[:])
	return k
}

// leastBits is how many random bits the weights of a level have together, at least.
const leastBits = 31

// For is the key with as many functions as it takes for their weights to have leastBits
// together on a ladder of so many levels, which is one on that of every float32, and no
// fewer than the key has.
func (k Key) For(levels int64) Key {
	for k.functions*int(randomBits(levels)) < leastBits {
		k.functions++
	}
	return k
}

// Convention is what the key is for.
func (k Key) Convention() Convention { return k.in }

// String is the seed in hexadecimal digits, and the number of functions where it is not one:
// "00112233445566778899aabbccddeeff*2".
func (k Key) String() string {
	s := hex.EncodeToString(k.seed[:])
	if k.functions != 1 {
		s += "*" + strconv.Itoa(k.functions)
	}
	return s
}

// ParseKey is the inverse of String.
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

// Functions is the number of weight functions.
func (k Key) Functions() int { return k.functions }

// The weights ascend with the levels, so that the least weight of some voxels is the weight
// of their least value. A weight is
//
//	lowest + level·2^b + b random bits
//
// and that of what is outside the image is as of the level after the last, without random bits where
// a level has its own. Where voxels are vertices, levels are counted from 1, and what is outside is 0,
// so that the bits above the random ones tell both apart. Every weight is, read as a
// float64, a positive normal number, because a processor without a minimum of 64-bit
// integers has one of those, in the same order.
type weights struct {
	seed   [aes.BlockSize]byte
	random cipher.Block
	half   int    // of a block
	number uint64 // of the block of a level
	levels int64
	bits   uint // b
	in     Convention
	// factors are what random bits are products of, those of the upper bytes of levels first and
	// those of the lowest bytes last; nil where a level has its own.
	factors []uint64
}

// Beyond mostDrawn levels, up to mostProducts, the random bits of a level are the lowest ones of a
// product of two random numbers: all products together take the room that weights of 512 levels take.
// On the ladder of every float32 they are a product of four, modulo a prime.
const (
	mostDrawn    = 1 << 11
	mostProducts = 1 << 16
	lowerFactors = 257 // where those of the lower bytes begin: the levels and what is outside have 17 bits
)

const (
	lowest  = 1 << 52 // the least bit pattern of a normal float64
	highest = 0x7fe << 52
)

// maxRandomBits leaves 64 bits to what is beside the random ones.
const maxRandomBits = 56

// randomBits returns how many random bits the weights of so many levels have: as many as
// leave every weight between lowest and highest, but no more than maxRandomBits, and on as few
// levels as 8-bit voxels have no more than it takes, so that W − w has few digits.
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

// weights is function i of a key.
func (k Key) weights(levels int64, i int) weights {
	random, err := aes.NewCipher(k.seed[:])
	if err != nil {
		panic("fingerprint: " + err.Error()) // the seed is as long as a key
	}
	w := weights{seed: k.seed, random: random, half: i % 2, number: uint64(i / 2), levels: levels, bits: randomBits(levels), in: k.in}
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

// weightUsing returns the weight of a level, in a block that is given, since one for each level would be
// allocated.
func (w *weights) weightUsing(block *[aes.BlockSize]byte, level int64) uint64 {
	if w.descend() {
		level = w.levels - 1 - level
	}
	if w.factors != nil {
		return w.weightOf(level + w.first())
	}
	return w.weightFrom(level+w.first(), w.randomBits(block, level)>>(64-w.bits))
}

// weightOf returns the weight of a level number, or of outside, by its factors.
func (w *weights) weightOf(number int64) uint64 {
	f := w.factors
	if len(f) < 1024 {
		return w.weightFrom(number, f[number>>8]*f[lowerFactors+number&255])
	}
	upper := timesInField(f[number>>24], f[256+number>>16&255])
	return w.weightFrom(number, timesInField(upper, timesInField(f[512+number>>8&255], f[768+number&255])))
}

// weightFrom returns the weight of a number, with random bits.
func (w *weights) weightFrom(number int64, random uint64) uint64 {
	return lowest + uint64(number)<<w.bits + random&(1<<w.bits-1)
}

// randomBits returns the 64 random bits of a number, of which the first ones are taken: half a block of
// AES-128, the number and that of the function encrypted with the seed.
func (w *weights) randomBits(block *[aes.BlockSize]byte, number int64) uint64 {
	binary.LittleEndian.PutUint64(block[:], uint64(number))
	binary.LittleEndian.PutUint64(block[8:], w.number)
	w.random.Encrypt(block[:], block[:])
	return binary.LittleEndian.Uint64(block[8*w.half:])
}

// first is the number of the lowest level, or of the highest one where weights descend.
func (w *weights) first() int64 {
	if w.in.Vertices {
		return 1
	}
	return 0
}

// descend reports whether a higher level has a lower weight.
func (w *weights) descend() bool { return w.in.Vertices != w.in.Superlevel }

// outside is the weight of what is outside the image.
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
