package grid

import "math"

// Levels turns the values of a type into their levels on a ladder, a row at a
// time: a table look-up for 8 and 16-bit types, arithmetic with a check for
// float32 on an affine ladder, and a search narrowed by the value's upper bits
// for float32 on a table. It is safe for concurrent use.
type Levels[T Element] struct {
	ladder Ladder
	lut    []int32 // 8 and 16-bit types: level of each bit pattern
	of     buckets // float32 on a table
}

// buckets are intervals of the ordered bit patterns of float32, all as long as each
// other, from the first level's to the last one's.
type buckets struct {
	first uint32  // pattern
	shift uint    // binary logarithm of their length
	start []int32 // for each and the one after the last, the number of levels below it
}

// NewLevels prepares the look-up for a ladder.
func NewLevels[T Element](l Ladder) *Levels[T] {
	v := &Levels[T]{ladder: l}
	if t := TypeOf[T](); t != Float32 {
		v.lut = l.OfPatterns(t)
	} else if l.kind == table {
		v.of = newBuckets(l.table)
	}
	return v
}

// OfPatterns is the level of each bit pattern of an 8 or 16-bit type.
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
	for i := range n { // in ascending order of values: the level is mostly this or the next one
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

// Convert writes the level of each value of src to dst, which is at least as
// long. A value above the last level becomes Len.
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
	inverse, last := 1/l.step, float64(l.n-1)
	for i, x := range src {
		k := float64((float64(x)-l.lo)*inverse) + 0.5
		// The guess is right for a value that stands exactly on a level, which
		// is nearly all of them, or else the next one is; the comparisons below
		// also refuse a guess that an infinite inverse made NaN.
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
		if t[lo] < x { // without a branch; the first level beyond an empty bucket is not
			k = lo + 1
		}
		for lo+1 < hi && k < hi { // more than one level in the bucket
			if mid := int32(uint32(k+hi) >> 1); t[mid] < x {
				k = mid + 1
			} else {
				hi = mid
			}
		}
		dst[i] = k
	}
}

// How many buckets are made where the levels lie evenly: for few levels 256 KiB of them,
// sixteen for each of more, as long as a core's caches hold them, and one or two for each
// of many.
const fewBuckets, manyBuckets = 1 << 16, 1 << 20

// newBuckets divides the patterns from the first of a table's levels to the last.
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

// ordered maps a float32 to a uint32 in the same order; −0 comes with +0.
func ordered(x float32) uint32 {
	b := math.Float32bits(x + 0)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}
