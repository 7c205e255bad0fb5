package fingerprint

import (
	"crypto/aes"
	"encoding/binary"
	"unsafe"

	"eccbench/internal/grid"
)

// Bilinear weights are those of bytes that are levels: the weight of v is
//
//	w(v) = Σᵢ factorᵢ · upperᵢ[v>>2] · lowerᵢ[v&31]  modulo 2⁶⁴
//
// for five factors of 64 random bits, upper numbers of 8 and lower ones of 7. What is outside has 0.
// They do not ascend, so cells are to be found by their values. But of what values sum to in each
// form, every number is a byte, looked up in 64 bytes and not in 256.
type bilinear struct {
	factors [forms]uint64
	// numbers are, of each form, the 64 upper ones, the 32 lower ones, and those with the other sign,
	// for odd places in a list of turning points.
	numbers [forms * 128]byte
}

// forms make wrong curves pass with a probability of less than 2⁻³¹.
const forms = 5

// Bilinear is the key with bilinear weights, where an image of a type on a ladder has a fingerprint
// by them and this machine is quicker so. It is for whoever looks at all of the image.
func (k Key) Bilinear(t grid.Type, l grid.Ladder) Key {
	first, whole := consecutive(t, l)
	whole = whole && t == grid.Uint8 && first == 0 && l.Len() == 256
	_, _, quick := turnVectorsOf(fastest(), t, k.in.Superlevel)
	k.bilinear = whole && quick && k.in.bilinear()
	return k
}

// bilinear reports whether cells can be found by their values in a convention.
func (c Convention) bilinear() bool { return !c.Vertices && c.Periodic == grid.Axes{} }

// newBilinear draws the numbers of a function.
func newBilinear(w weights) *bilinear {
	b := new(bilinear)
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

// of is the weight of a byte.
func (b *bilinear) of(v int64) (w uint64) {
	for i, factor := range b.factors {
		upper, lower, _ := b.form(i)
		w += factor * uint64(upper[v>>2]) * uint64(lower[v&31])
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
