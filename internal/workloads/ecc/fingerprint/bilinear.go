package fingerprint

import (
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"eccbench/internal/grid"
)

// Bilinear weights are those of few levels: the weight of v is
//
//	w(v) = Σᵢ factorᵢ · upperᵢ[v>>shift] · lowerᵢ[v&31]  modulo 2⁶⁴
//
// for five factors of 64 random bits, upper numbers of 8 and lower ones of 7. What is outside has 0.
// They do not ascend, so cells are to be found by their values. But of what values sum to in each
// form, every number is a byte, looked up in 64 bytes and not in as many as there are levels.
type bilinear struct {
	factors [forms]uint64
	// numbers are, of each form, the 64 upper ones, the 32 lower ones, and those with the other sign,
	// for odd places in a list of turning points.
	numbers [forms * 128]byte
	shift   uint
}

const (
	// forms make wrong curves pass with a probability of less than 2⁻³¹.
	forms = 5
	// lowers is how many lower numbers there are.
	lowers = 32
)

// A split says which bits of a level the upper number is by.
type split uint8

const (
	ascending split = iota // weights are not bilinear
	ofBytes                // the upper six of eight, which are those of bytes that are levels
	ofLevels               // the upper five of ten
)

// splits are how a key's text ends that has bilinear weights, of how many levels they are at most, and where the
// upper bits begin.
var splits = [...]struct {
	text  string
	most  int64
	shift uint
}{
	ascending: {"", math.MaxInt64, 0}, ofBytes: {"/bilinear", 256, 2}, ofLevels: {"/bilinear1024", 1024, 5},
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
	_, _, turns := turnVectorsOf(fastest(), t, k.in.Superlevel)
	first, whole := consecutive(t, l)
	switch fast, _ := levelRowsOf(fastest(), t, l, 0); {
	case t == grid.Uint8:
		if turns && whole && first == 0 && l.Len() == 256 {
			k.split = ofBytes
		}
	case l.Indexed() && l.Len() <= ofLevels.most() && fast != nil:
		k.split = ofLevels
	}
	return k
}

// refused is why images of a type on a ladder have no fingerprint by a key.
func (k Key) refused(t grid.Type, l grid.Ladder) error {
	if k.split == ascending || k.in.bilinear() && l.Len() <= k.split.most() && (k.split == ofLevels || t == grid.Uint8) {
		return nil
	}
	of := "bytes"
	if k.split == ofLevels {
		of = "voxels"
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
	for i := range b.factors {
		b.factors[i] = next()
		upper, lower, negative := b.form(i)
		for at := 0; at < len(upper); at += 8 {
			binary.LittleEndian.PutUint64(upper[at:], next())
		}
		for at := 0; at < len(lower); at += 8 {
			binary.LittleEndian.PutUint64(lower[at:], next()&0x7f7f7f7f7f7f7f7f)
		}
		for at, v := range lower {
			negative[at] = -v
		}
	}
	return b
}

// form is the numbers of a form.
func (b *bilinear) form(i int) (upper, lower, negative []byte) {
	of := b.numbers[128*i:][:128]
	return of[:64], of[64:96], of[96:]
}

// of is the weight of a level.
func (b *bilinear) of(v int64) (w uint64) {
	for i, factor := range b.factors {
		upper, lower, _ := b.form(i)
		w += factor * uint64(upper[v>>b.shift]) * uint64(lower[v%lowers])
	}
	return w
}

// isOf reports whether a table is of the weights of bytes.
func (b *bilinear) isOf(table []uint64) bool {
	for v, w := range table {
		if w != b.of(int64(v)) {
			return false
		}
	}
	return true
}

// alternate gives turns.alternate of bilinear weights, of bytes whose weights a table has.
func (b *bilinear) alternate(table []uint64, lookUp lookUps) func(list []byte) int64 {
	if lookUp.forms == nil || !b.isOf(table) {
		return func(list []byte) int64 { return alternately(table, list) }
	}
	return func(list []byte) int64 {
		sum := int64(0) // of what is less than W, which is 0
		inVectors(list, func(src *byte, n int) {
			sum -= lookUp.forms(&b.numbers, &b.factors, src, n)
		})
		return sum
	}
}

// turnsInGo finds the turning points of rows of bytes, of the least of them or of the greatest.
func turnsInGo(greatest bool) turnVectors {
	flip := byte(0)
	if greatest {
		flip = 255 // of which the least are the greatest
	}
	kinds := func(planes []*byte, stride, columns, rows int, to *byte, apart int, counts *[4]int64) {
		row := make([]byte, columns)
		for y := range rows {
			for kind := range 2 * len(planes) {
				for i := range row {
					row[i] = 255
				}
				least := func(plane *byte, next int) {
					for i, v := range unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(plane), (y+next)*stride)), columns) {
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
func turningPointsOf(row []byte, flip byte, list unsafe.Pointer, count *int64) {
	put := func(v byte) {
		*(*byte)(unsafe.Add(list, *count)) = v
		*count++
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
