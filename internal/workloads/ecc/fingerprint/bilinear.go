package fingerprint

import (
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"eccbench/internal/grid"
)

// Bilinear weights are those of at most 65,536 levels: the weight of v is
//
//	w(v) = Σᵢ factorᵢ · upperᵢ[v>>shift] · lowerᵢ[v mod lowers]  modulo 2⁶⁴
//
// for five factors of 64 random bits, upper numbers of 8 and lower ones of 7. What is outside has 0.
// They do not ascend, so cells are to be found by their values. But of what values sum to in each
// form, every number is a byte, looked up in 64 bytes or 256, and not in as many as there are levels.
type bilinear struct {
	factors      [forms]uint64
	upper, lower [forms][]byte
	shift        uint
}

// forms make wrong curves pass with a probability of less than 2⁻³¹.
const forms = 5

// A split says which bits of a level the upper number is by.
type split uint8

const (
	ascending split = iota // weights are not bilinear
	ofBytes                // the upper six of eight, which are those of bytes that are levels
	ofLevels               // the upper five of ten
	ofPairs                // the upper eight of sixteen, which are those of voxels of 16 bits that are levels
)

// splits are how a key's text ends that has bilinear weights, of how many levels they are at most, where the
// upper bits begin, and how many numbers there are.
var splits = [...]struct {
	text           string
	most           int64
	shift          uint
	uppers, lowers int
}{
	ascending: {"", math.MaxInt64, 0, 0, 0}, ofBytes: {"/bilinear", 1 << 8, 2, 64, 32}, ofLevels: {"/bilinear1024", 1 << 10, 5, 64, 32}, ofPairs: {"/bilinear65536", 1 << 16, 8, 256, 256},
}

// most is how many levels there may be.
func (s split) most() int64 { return splits[s].most }

// Bilinear is the key with bilinear weights, where an image of a type on a ladder has a fingerprint
// by them and this machine is quicker so. It is for whoever looks at all of the image.
func (k Key) Bilinear(t grid.Type, l grid.Ladder) Key {
	k.split = ascending
	if !k.in.bilinear() {
		return k
	}
	switch {
	case ownLevels(t, l):
		if _, _, quick := turnVectorsOf(fastest(), t, k.in.Superlevel); !quick {
			break
		}
		if k.split = ofPairs; t == grid.Uint8 {
			k.split = ofBytes
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
	if is && k.in.bilinear() && l.Len() <= k.split.most() {
		return nil
	}
	return fmt.Errorf("fingerprint: the weights of key %v are of %s on at most %d levels that are top cells, along axes that are not periodic", k, of, k.split.most())
}

// bilinear reports whether cells can be found by their values in a convention.
func (c Convention) bilinear() bool { return !c.Vertices && c.Periodic == grid.Axes{} }

// newBilinear draws the numbers of a function.
func newBilinear(w weights, s split) *bilinear {
	b := &bilinear{shift: splits[s].shift}
	var block [aes.BlockSize]byte
	number := int64(0)
	next := func() uint64 {
		number++
		return w.drawn(&block, number-1)
	}
	numbers := func(n int, bits uint64) []byte {
		list := make([]byte, n)
		for at := 0; at < n; at += 8 {
			binary.LittleEndian.PutUint64(list[at:], next()&bits)
		}
		return list
	}
	for i := range b.factors {
		b.factors[i] = next()
		b.upper[i] = numbers(splits[s].uppers, math.MaxUint64)
		b.lower[i] = numbers(splits[s].lowers, 0x7f7f7f7f7f7f7f7f)
	}
	return b
}

// of is the weight of a level.
func (b *bilinear) of(v int64) (w uint64) {
	for i, factor := range b.factors {
		w += factor * uint64(b.upper[i][v>>b.shift]) * uint64(b.lower[i][int(v)%len(b.lower[i])])
	}
	return w
}

// in64 is the numbers of each form as vectors look them up in 64 bytes: 64 upper ones, 32 lower ones, and those with
// the other sign, for odd places in a list of turning points.
func (b *bilinear) in64() *[forms * 128]byte {
	all := new([forms * 128]byte)
	for i := range forms {
		of := all[128*i:][:128]
		copy(of, b.upper[i])
		copy(of[64:], b.lower[i])
		for n, v := range b.lower[i] {
			of[96+n] = -v
		}
	}
	return all
}

// in256 is the numbers of each form as vectors look them up in 256 bytes: upper ones, by the upper byte of a voxel
// whose bits of flip are turned, and lower ones.
func (b *bilinear) in256(flip int) *[forms * 512]byte {
	all := new([forms * 512]byte)
	for i := range forms {
		of := all[512*i:][:512]
		for n := range 256 {
			of[n] = b.upper[i][n^flip]
		}
		copy(of[256:], b.lower[i])
	}
	return all
}

// alternate gives turns.alternate of bilinear weights of values that are levels.
func (b *bilinear) alternate(t grid.Type, lookUp lookUps) func(list []byte) int64 {
	const vector = 64
	var look func(src *byte, n int) int64 // at 64 values at a time
	size := int(t.Size())
	if t == grid.Uint8 {
		numbers := b.in64()
		look = func(src *byte, n int) int64 { return lookUp.forms(numbers, &b.factors, src, n) }
	} else {
		numbers := b.in256(int(-least(t) >> 8))
		look = func(src *byte, n int) int64 { return lookUp.pairForms(numbers, &b.factors, src, n) }
	}
	return func(list []byte) int64 {
		sum := int64(0) // of what is less than W, which is 0
		inVectors(list, vector*size, func(src *byte, n int) { sum -= look(src, n) })
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
	kinds := func(planes []*byte, stride, columns, rows int, to *byte, apart int, counts *[4]int64) {
		row := make([]V, columns)
		for y := range rows {
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
	}
	return turnVectors{
		volume: func(below, above *byte, stride, columns, rows int, to *byte, apart int, counts *[4]int64) {
			kinds([]*byte{below, above}, stride, columns, rows, to, apart, counts)
		},
		area: func(below *byte, stride, columns, rows int, to *byte, apart int, counts *[4]int64) {
			kinds([]*byte{below}, stride, columns, rows, to, apart, counts)
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
