package fingerprint

import (
	"crypto/aes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"eccbench/internal/grid"
)

// Multilinear weights are those of at most 65,536 levels: the weight of v is
//
//	w(v) = Σᵢ factorᵢ · Πⱼ numbersᵢⱼ[part j of v]  modulo 2⁶⁴
//
// for five factors of 64 random bits and random numbers of a byte, of two parts of a level or three. What is outside
// has 0. They do not ascend, so cells are to be found by their values. But of what values sum to in each form, every
// number is a byte, looked up in 64, and not in as many as there are levels.
type multilinear struct {
	factors [forms]uint64
	parts   []part
	numbers [forms][][]int16 // by parts
}

// forms make wrong curves pass with a probability of less than 2⁻³¹.
const forms = 5

// A part of a level is some of its bits: those from shift on, by which it has one of a power of two of numbers.
type part struct {
	shift uint
	of    int
	draws
}

// draws are what numbers are drawn from, uniformly. Those of fewer than eight bits may have the other sign in a byte,
// and one part of a split has them.
type draws uint8

const (
	eightBits draws = iota // 0 to 255
	sevenBits              // 0 to 127
	evenly                 // −127 to 127
)

// A split says what parts a level has.
type split uint8

const (
	ascending split = iota // weights are not multilinear
	ofBytes                // bytes that are levels
	ofLevels               // few levels, of tiles
	ofPairs                // voxels of 16 bits that are levels
)

// splits are how a key's text ends that has multilinear weights, of how many levels they are at most, and which parts
// those have, of the upper bits first.
var splits = [...]struct {
	text  string
	most  int64
	parts []part
}{
	ascending: {"", math.MaxInt64, nil},
	ofBytes:   {"/bilinear256", 1 << 8, []part{{4, 16, eightBits}, {0, 16, sevenBits}}},
	ofLevels:  {"/bilinear1024", 1 << 10, []part{{5, 64, eightBits}, {0, 32, sevenBits}}},
	ofPairs:   {"/trilinear65536", 1 << 16, []part{{12, 16, evenly}, {6, 64, eightBits}, {0, 64, eightBits}}},
}

// most is how many levels there may be.
func (s split) most() int64 { return splits[s].most }

// Multilinear is the key with multilinear weights, where an image of a type on a ladder has a fingerprint
// by them and this machine is quicker so. It is for whoever looks at all of the image.
func (k Key) Multilinear(t grid.Type, l grid.Ladder) Key {
	k.split = ascending
	if !k.in.multilinear() {
		return k
	}
	switch {
	case ownLevels(t, l):
		_, lookUp, _ := turnVectorsOf(fastest(), t, k.in.Superlevel)
		switch {
		case t == grid.Uint8 && lookUp.forms != nil:
			k.split = ofBytes
		case t != grid.Uint8 && lookUp.pairs != nil:
			k.split = ofPairs
		}
	case t != grid.Uint8 && l.Len() <= ofLevels.most():
		if quick, _ := levelRowsOf(fastest(), t, l, 0); quick != nil {
			k.split = ofLevels
		}
	}
	return k
}

// ownLevels reports whether each value of an integer type is a level of its own.
func ownLevels(t grid.Type, l grid.Ladder) bool {
	first, whole := consecutive(t, l)
	return t != grid.Float32 && whole && first == least(t) && l.Len() == 1<<(8*t.Size())
}

// refused is why images of a type on a ladder have no fingerprint by a key.
func (k Key) refused(t grid.Type, l grid.Ladder) error {
	of, is := "voxels", true
	switch k.split {
	case ascending:
		return nil
	case ofBytes:
		of, is = "bytes", t == grid.Uint8
	case ofPairs:
		of, is = "voxels of 16 bits", t == grid.Int16 || t == grid.Uint16
	}
	if is && k.in.multilinear() && l.Len() <= k.split.most() {
		return nil
	}
	return fmt.Errorf("fingerprint: the weights of key %v are of %s on at most %d levels that are top cells, along axes that are not periodic", k, of, k.split.most())
}

// multilinear reports whether cells can be found by their values in a convention.
func (c Convention) multilinear() bool { return !c.Vertices && c.Periodic == grid.Axes{} }

// newMultilinear draws the numbers of a function.
func newMultilinear(w weights, s split) *multilinear {
	m := &multilinear{parts: splits[s].parts}
	var block [aes.BlockSize]byte
	number := int64(0)
	next := func() uint64 {
		number++
		return w.drawn(&block, number-1)
	}
	for i := range m.factors {
		m.factors[i] = next()
		for _, p := range m.parts {
			m.numbers[i] = append(m.numbers[i], p.drawn(next))
		}
	}
	return m
}

// drawn are the numbers of a part, of random words.
func (p part) drawn(next func() uint64) []int16 {
	numbers := make([]int16, p.of)
	var word uint64
	for i := range numbers {
		if p.draws == evenly {
			n, _ := bits.Mul64(next(), 255)
			numbers[i] = int16(n) - 127
			continue
		}
		if i%8 == 0 {
			word = next()
		}
		numbers[i] = int16(word & 0xff)
		if p.draws == sevenBits {
			numbers[i] &= 0x7f
		}
		word >>= 8
	}
	return numbers
}

// among is which of the numbers a level has, or what has bits in the places of a level's.
func (p part) among(v int64) int { return int(v>>p.shift) & (p.of - 1) }

// of is the weight of a level.
func (m *multilinear) of(v int64) (w uint64) {
	for i := range m.factors {
		w += m.factors[i] * uint64(m.form(i, v))
	}
	return w
}

// form is the product of a level's numbers in a form.
func (m *multilinear) form(i int, v int64) int64 {
	product := int64(1)
	for j, p := range m.parts {
		product *= int64(m.numbers[i][j][p.among(v)])
	}
	return product
}

// in64 is the numbers as vectors look them up in 64 bytes, form by form and part by part, by the bits of values in
// which those of flip are turned. Fewer are there several times: of the part with a sign every other time with the
// other one, for odd places in a list of turning points.
func (m *multilinear) in64(flip int64) []byte {
	var all []byte
	for i := range forms {
		for j, p := range m.parts {
			for n := range 64 {
				number := m.numbers[i][j][n%p.of^p.among(flip)]
				if n&p.of != 0 && p.draws != eightBits {
					number = -number
				}
				all = append(all, byte(number))
			}
		}
	}
	return all
}

// alternate gives turns.alternate of multilinear weights of values that are levels, nil where no vectors look them up.
func (m *multilinear) alternate(t grid.Type, lookUp lookUps) func(list []byte) int64 {
	const vector = 64
	var look func(src *byte, n int) int64 // at 64 values at a time
	size, atOnce := int(t.Size()), atOnce
	switch {
	case t == grid.Uint8 && lookUp.forms != nil:
		numbers := (*[forms * 128]byte)(m.in64(0))
		look = func(src *byte, n int) int64 { return lookUp.forms(numbers, &m.factors, src, n) }
	case t != grid.Uint8 && lookUp.pairs != nil:
		numbers := (*[forms * 192]byte)(m.in64(-least(t)))
		look = func(src *byte, n int) int64 { return lookUp.pairs(numbers, &m.factors, src, n) }
		atOnce = pairsAtOnce
	default:
		return nil
	}
	return func(list []byte) int64 {
		sum := int64(0) // of what is less than W, which is 0
		inVectors(list, vector*size, atOnce, func(src *byte, n int) { sum -= look(src, n) })
		return sum
	}
}

// turnsInGo finds the turning points of rows of values, of the least of them or of the greatest.
func turnsInGo(t grid.Type, greatest bool) turnVectors {
	flip := uint16(-least(t))
	if greatest { // of which the least are the greatest
		flip = ^flip
	}
	if t == grid.Uint8 {
		return turnsOf(uint8(flip))
	}
	return turnsOf(flip)
}

// turnsOf is of values that are in order with the bits of flip turned.
func turnsOf[V uint8 | uint16](flip V) turnVectors {
	kinds := func(planes []*byte, stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int {
		row := make([]V, columns)
		for y := range rows {
			if slices.Max(counts[:2*len(planes)]) > int64(full) {
				return y
			}
			for kind := range 2 * len(planes) {
				for i := range row {
					row[i] = ^V(0)
				}
				least := func(plane *byte, next int) {
					for i, v := range unsafe.Slice((*V)(unsafe.Add(unsafe.Pointer(plane), (y+next)*stride)), columns) {
						row[i] = min(row[i], v^flip)
					}
				}
				for _, p := range planes[:1+kind%len(planes)] {
					for next := range 1 + kind/len(planes) {
						least(p, next)
					}
				}
				turningPointsOf(row, flip, unsafe.Add(unsafe.Pointer(to), kind*apart), &counts[kind])
			}
		}
		return rows
	}
	return turnVectors{
		volume: func(below, above *byte, stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int {
			return kinds([]*byte{below, above}, stride, columns, rows, to, apart, full, counts)
		},
		area: func(below *byte, stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int {
			return kinds([]*byte{below}, stride, columns, rows, to, apart, full, counts)
		},
	}
}

// turningPointsOf writes the turning points of a row behind so many bytes of a list, and a voxel 0.
func turningPointsOf[V uint8 | uint16](row []V, flip V, list unsafe.Pointer, count *int64) {
	put := func(v V) {
		*(*V)(unsafe.Add(list, *count)) = v
		*count += int64(unsafe.Sizeof(v))
	}
	held := false
	for x, v := range row {
		holds := x == len(row)-1 || v <= row[x+1]
		if holds != held {
			put(v ^ flip)
		}
		held = holds
	}
	put(0)
}
