package grid

import (
	"encoding/binary"
	"errors"
	"math"
)

// Range returns the least and greatest value in a span, which must not be empty. Values that are
// not finite give a *NotFiniteError with their count.
func Range(s Source, of Span) (least, greatest float32, err error) {
	least, greatest = float32(math.Inf(1)), float32(math.Inf(-1))
	var bad *NotFiniteError
	err = eachSlab(s, of, max(1, slabBytes/SliceBytes(s)), 0, visitAll(func(slab []byte, lo, _ int64) error {
		var a, b float32
		switch s.Type() {
		case Uint8:
			a, b = rangeOfLanes[uint8](slab, 0)
		case Uint16:
			a, b = rangeOfLanes[uint16](slab, 0)
		case Int16:
			a, b = rangeOfLanes[int16](slab, -1<<15)
		case Float32:
			err := Normalise(Values[float32](slab), lo*s.Shape().SliceVoxels(), s.Shape())
			if one := (*NotFiniteError)(nil); errors.As(err, &one) {
				if bad == nil {
					bad = one
				} else {
					bad.Count += one.Count
				}
				return nil
			}
			a, b = rangeOf(Values[float32](slab))
		}
		least, greatest = min(least, a), max(greatest, b)
		return nil
	}))
	if err == nil && bad != nil {
		err = bad
	}
	return least, greatest, err
}

// rangeOf returns the least and the greatest value.
func rangeOf[T Element](values []T) (least, greatest float32) {
	a, b := values[0], values[0]
	for _, v := range values {
		if v < a || v > b { // rarely, so that the branch is predicted
			a, b = min(a, v), max(b, v)
		}
	}
	return float32(a), float32(b)
}

// rangeOfLanes is rangeOf for integers, of 8 bytes at a time: all of a word are compared with the
// range so far, in lanes of twice their width. Adding bias makes their order that of unsigned integers.
func rangeOfLanes[T uint8 | uint16 | int16](slab []byte, bias T) (least, greatest float32) {
	values := Values[T](slab)
	a, b := values[0], values[0]
	width := 8 * len(slab) / len(values)
	ones := ^uint64(0) / (1<<(2*width) - 1)
	lanes, high := ones*(1<<width-1), ones<<(2*width-1)
	flip := uint64(bias) & (1<<width - 1) * (ones | ones<<width)
	spread := func(v T) uint64 { return uint64(v^bias) & (1<<width - 1) * ones }
	low, top := spread(a), spread(b)|high
	n := len(slab) &^ 7
	for i := 0; i < n; i += 8 {
		w := binary.LittleEndian.Uint64(slab[i:]) ^ flip
		even, odd := w&lanes, w>>width&lanes
		if (even|high-low)&(odd|high-low)&(top-even)&(top-odd)&high == high {
			continue
		}
		for _, v := range Values[T](slab[i : i+8]) {
			a, b = min(a, v), max(b, v)
		}
		if low, top = spread(a), spread(b)|high; low == 0 && top == lanes|high { // no value is beyond
			return float32(a), float32(b)
		}
	}
	for _, v := range Values[T](slab[n:]) {
		a, b = min(a, v), max(b, v)
	}
	return float32(a), float32(b)
}
