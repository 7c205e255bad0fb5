package grid

import "math"

// Levels turns the values of a type into their levels on a ladder, a row at a
// time: a table look-up for 8 and 16-bit types, arithmetic with a check for
// float32 on an affine ladder, and a search narrowed by the value's upper bits
// for float32 on a table. It is safe for concurrent use.
type Levels[T Element] struct {
	ladder Ladder
	lut    []int32 // 8 and 16-bit types: level of each bit pattern
	start  []int32 // float32 on a table: first level at or above each 16-bit prefix
}

// NewLevels prepares the look-up for a ladder.
func NewLevels[T Element](l Ladder) *Levels[T] {
	v := &Levels[T]{ladder: l}
	switch TypeOf[T]() {
	case Uint8:
		v.lut = make([]int32, 1<<8)
		for i := range v.lut {
			v.lut[i] = int32(l.Level(float32(i)))
		}
	case Uint16:
		v.lut = make([]int32, 1<<16)
		for i := range v.lut {
			v.lut[i] = int32(l.Level(float32(i)))
		}
	case Int16:
		v.lut = make([]int32, 1<<16)
		for i := range v.lut {
			v.lut[i] = int32(l.Level(float32(int16(uint16(i)))))
		}
	case Float32:
		if l.kind == table {
			v.start = prefixes(l.table)
		}
	}
	return v
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
		if v.start != nil {
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
	t := v.ladder.table
	for i, x := range src {
		p := ordered(x) >> 16
		lo, hi := v.start[p], v.start[p+1]
		for lo < hi {
			mid := int32(uint32(lo+hi) >> 1)
			if t[mid] < x {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		dst[i] = lo
	}
}

// prefixes gives, for each upper half p of an ordered bit pattern, the number
// of levels whose upper half is below p.
func prefixes(levels []float32) []int32 {
	start := make([]int32, 1<<16+1)
	k := 0
	for p := range start {
		for k < len(levels) && int(ordered(levels[k])>>16) < p {
			k++
		}
		start[p] = int32(k)
	}
	return start
}

// ordered maps a float32 to a uint32 in the same order; −0 comes with +0.
func ordered(x float32) uint32 {
	b := math.Float32bits(x + 0)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}
