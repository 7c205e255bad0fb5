package grid

import (
	"math"
	"slices"
	"sync"
	"unsafe"
	"weak"
)

// Levels converts values of a type into levels of a ladder, a row at a time. It is safe for
// concurrent use. The method depends on type and ladder:
//
//   - 8 and 16-bit types: a look-up table
//   - float32 on an affine ladder: arithmetic with a check
//   - float32 on a table: a search within the bucket of the value's upper bits
type Levels[T Element] struct {
	ladder Ladder
	lut    []int32 // 8 and 16-bit types: level of each bit pattern
	of     buckets // float32 on a table
}

// buckets divide the ordered bit patterns of float32, from the first level to the last, into
// intervals of equal length.
type buckets struct {
	first uint32  // pattern of the first level
	shift uint    // binary logarithm of the interval length
	start []int32 // number of levels below each bucket, and below the end of the last
}

// NewLevels prepares the conversion to a ladder.
func NewLevels[T Element](l Ladder) *Levels[T] {
	v := &Levels[T]{ladder: l}
	if t := TypeOf[T](); t != Float32 {
		v.lut = l.OfPatterns(t)
	} else if l.kind == table {
		v.of = newBuckets(l.table)
	}
	return v
}

// OfPatterns returns the level of each bit pattern of an 8 or 16-bit type.
func (l Ladder) OfPatterns(t Type) []int32 {
	least, n := 0, 1<<(8*t.Size())
	if t == Int16 {
		least = math.MinInt16
	}
	levels := make([]int32, n)
	if first, is := l.Consecutive(); is {
		for i := range n {
			levels[(least+i)&(n-1)] = int32(min(max(int64(least+i)-first, 0), l.n))
		}
		return levels
	}
	k := l.Level(float32(least))
	for i := range n { // ascending values: the next level is mostly this one or the next
		value := float32(least + i)
		if k < l.n && l.Value(k) < value {
			if k++; k < l.n && l.Value(k) < value {
				k = l.Level(value)
			}
		}
		levels[(least+i)&(n-1)] = int32(k)
	}
	return levels
}

// Convert writes the level of each value of src to dst, which must be at least as long. The level
// of a value above the last level is Len.
func (v *Levels[T]) Convert(dst []int32, src []T) {
	dst = dst[:len(src)]
	switch s := any(src).(type) {
	case []uint8:
		lut := (*[1 << 8]int32)(v.lut)
		for i, x := range s {
			dst[i] = lut[x]
		}
	case []uint16:
		lut := (*[1 << 16]int32)(v.lut)
		for i, x := range s {
			dst[i] = lut[x]
		}
	case []int16:
		lut := (*[1 << 16]int32)(v.lut)
		for i, x := range s {
			dst[i] = lut[uint16(x)]
		}
	case []float32:
		if v.of.start != nil {
			v.search(dst, s)
		} else {
			v.compute(dst, s)
		}
	}
}

func (v *Levels[T]) compute(dst []int32, src []float32) {
	l := v.ladder
	inverse, last, top := 1/l.step, float64(l.n-1), l.Value(l.n-1)
	for i, x := range src {
		if x > top { // in particular a masked voxel
			dst[i] = int32(l.n)
			continue
		}
		k := float64((float64(x)-l.lo)*inverse) + 0.5
		// The guess is right for a value that is equal to a level (nearly all values are);
		// otherwise the next level is mostly right. The comparisons also reject a guess that is
		// NaN, which an infinite inverse can produce.
		if k >= 0 && k <= last+0.5 {
			g := int32(k)
			value := affineValue(l.lo, l.step, float64(g))
			if value < x {
				g++
				if affineValue(l.lo, l.step, float64(g)) >= x && float64(g) <= last {
					dst[i] = g
					continue
				}
			} else if value == x || g == 0 || affineValue(l.lo, l.step, float64(g-1)) < x {
				dst[i] = g
				continue
			}
		}
		dst[i] = int32(l.Level(x))
	}
}

func (v *Levels[T]) search(dst []int32, src []float32) {
	t, first, shift, start := v.ladder.table, v.of.first, v.of.shift, v.of.start
	last := uint32(len(start) - 2)
	for i, x := range src {
		p := ordered(x)
		if p <= first {
			dst[i] = 0
			continue
		}
		b := (p - first) >> (shift & 31)
		if b > last {
			dst[i] = int32(len(t))
			continue
		}
		lo, hi := start[b], start[b+1]
		k := lo
		if t[lo] < x { // an empty bucket has one candidate only
			k = lo + 1
		}
		for lo+1 < hi && k < hi { // several levels in the bucket
			if mid := int32(uint32(k+hi) >> 1); t[mid] < x {
				k = mid + 1
			} else {
				hi = mid
			}
		}
		dst[i] = k
	}
}

// Target numbers of buckets for evenly spaced levels. Few levels get 65,536 (256 KiB). More levels
// get 16 buckets each, up to the size of a core's cache, and many levels get one or two each.
const fewBuckets, manyBuckets = 1 << 16, 1 << 20

// newBuckets divides the patterns from a table's first level to its last.
func newBuckets(levels []float32) buckets {
	b := buckets{first: ordered(levels[0])}
	span := ordered(levels[len(levels)-1]) - b.first
	for most := max(fewBuckets, 2*len(levels), min(16*len(levels), manyBuckets)); int(span>>b.shift) >= most; {
		b.shift++
	}
	b.start = make([]int32, span>>b.shift+2)
	k := 0
	for i := range b.start {
		for k < len(levels) && int((ordered(levels[k])-b.first)>>b.shift) < i {
			k++
		}
		b.start[i] = int32(k)
	}
	return b
}

// ordered maps a float32 to a uint32 in the same order. −0 equals +0.
func ordered(x float32) uint32 {
	b := math.Float32bits(x + 0)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

// A Converter turns slabs of one source into levels; it is safe for concurrent
// use.
type Converter struct {
	convert func(dst []int32, slab []byte)
}

// NewConverter prepares a converter for images of a type on a ladder.
func NewConverter(t Type, l Ladder) Converter {
	switch t {
	case Uint8:
		return Converter{converter[uint8](l)}
	case Int16:
		return Converter{converter[int16](l)}
	case Uint16:
		return Converter{converter[uint16](l)}
	case Float32:
		return Converter{converter[float32](l)}
	}
	panic("grid: converter of unknown element type")
}

func converter[T Element](l Ladder) func([]int32, []byte) {
	levels := NewLevels[T](l)
	return func(dst []int32, slab []byte) { levels.Convert(dst, Values[T](slab)) }
}

// Convert writes the level of each value of the slab to dst, which is at least
// as long as the slab has values.
func (c Converter) Convert(dst []int32, slab []byte) { c.convert(dst, slab) }

// ToLevels returns the conversion of values of an image to levels, also on the ladder of every float32. It is for one
// goroutine.
func ToLevels(s Source) func(to []uint32, from []byte) {
	if !s.Ladder().Indexed() {
		return func(to []uint32, from []byte) {
			for i, v := range Values[float32](from) {
				to[i] = EveryLevel(v)
			}
		}
	}
	convert := NewConverter(s.Type(), s.Ladder())
	var levels []int32
	return func(to []uint32, from []byte) {
		levels = slices.Grow(levels[:0], len(to))[:len(to)]
		convert.Convert(levels, from)
		for i, k := range levels {
			to[i] = uint32(k)
		}
	}
}

// used is a pool of buffers for the next image of a process. They are not zeroed, and the garbage
// collector may free them.
var used struct {
	sync.Mutex
	list []usedBuffer
}

type usedBuffer struct {
	first weak.Pointer[byte]
	n     int64
}

// takeBuffer returns a buffer of n bytes with arbitrary content, aligned as by NewBuffer.
func takeBuffer(n int64) []byte {
	used.Lock()
	defer used.Unlock()
	for i, u := range used.list {
		if u.n < n || u.n > 2*n {
			continue
		}
		if first := u.first.Value(); first != nil {
			used.list = slices.Delete(used.list, i, i+1)
			return unsafe.Slice(first, u.n)[:n]
		}
	}
	return NewBuffer(n)
}

// leaveBuffer returns a buffer to the pool.
func leaveBuffer(b []byte) {
	if cap(b) == 0 {
		return
	}
	b = b[:cap(b)]
	used.Lock()
	defer used.Unlock()
	used.list = slices.DeleteFunc(used.list, func(u usedBuffer) bool { return u.first.Value() == nil })
	used.list = append(used.list, usedBuffer{weak.Make(&b[0]), int64(len(b))})
}
