package extrema

import (
	"math"
	"slices"

	"eccbench/internal/grid"
)

// levels converts rows of values to levels of type L.
type levels[L lane] struct {
	typ     grid.Type
	ladder  grid.Ladder
	lut     []L            // 8 and 16-bit types: level of each bit pattern
	convert grid.Converter // float32
	shift   *shift         // arithmetic that replaces the look-up table, or nil
	watcher grid.Watcher   // for values that may be on no level, or nil
}

// A shift replaces a look-up table by arithmetic: the level of the bit pattern b is min(max(b^flip
// − lo, 0), top), unsigned.
type shift struct{ flip, lo, top uint16 }

func newLevels[L lane](t grid.Type, ladder grid.Ladder) *levels[L] {
	v := &levels[L]{typ: t, ladder: ladder}
	if t != grid.Float32 {
		of := ladder.OfPatterns(t)
		v.lut = make([]L, len(of))
		for b, k := range of {
			v.lut[b] = L(k)
		}
	} else if !tallied(ladder) {
		v.convert = grid.NewConverter(t, ladder)
	}
	v.shift = shifted(t, v.lut)
	return v
}

// searched reports whether levels are found by search, because they are not evenly spaced.
func searched(in grid.Source) bool {
	_, _, even := in.Ladder().Affinity()
	return in.Type() == grid.Float32 && !even && !tallied(in.Ladder())
}

// tallied reports whether the ladder is that of every float32, which is too large for a table.
func tallied(l grid.Ladder) bool { return !l.Indexed() }

// shifted returns the shift that equals a look-up table, or nil.
func shifted[L lane](t grid.Type, lut []L) *shift {
	if lut == nil {
		return nil
	}
	top := int(slices.Max(lut))
	if top > math.MaxUint16 {
		return nil
	}
	s := shift{top: uint16(top)}
	if t == grid.Int16 {
		s.flip = 1 << 15
	}
	for b := range len(lut) { // in ascending order of values
		if lut[b^int(s.flip)] > 0 {
			s.lo = uint16(b - 1)
			break
		}
	}
	for b, k := range lut {
		if min(max(b^int(s.flip)-int(s.lo), 0), top) != int(k) {
			return nil
		}
	}
	return &s
}

// watched converts rows by the function exactly, which may be nil. If exactly finds a value that is
// on no level, it passes the rows to the watcher and converts them by the other function.
func (v *levels[L]) watched(exactly func(dst []L, src []byte, n, rows, stride int) bool,
	otherwise rowsFunc[L]) rowsFunc[L] {
	v.watcher.Watch()
	return func(dst []L, src []byte, n, rows, stride int, scratch []int32) {
		if exactly == nil || !exactly(dst, src, n, rows, stride) {
			v.watcher.Look(src[:n*rows*int(v.typ.Size())])
			otherwise(dst, src, n, rows, stride, scratch)
		}
	}
}

// rows is the portable conversion.
func (v *levels[L]) rows(dst []L, src []byte, n, rows, stride int, scratch []int32) {
	size := n * int(v.typ.Size())
	for r := range rows {
		v.row(dst[r*stride:][:n], src[r*size:][:size], scratch)
	}
}

// row converts the values of src to levels. scratch has room for as many levels.
func (v *levels[L]) row(dst []L, src []byte, scratch []int32) {
	switch v.typ {
	case grid.Uint8:
		lut := v.lut[:1<<8]
		for i, x := range src {
			dst[i] = lut[x]
		}
	case grid.Int16, grid.Uint16:
		lut := v.lut[:1<<16]
		values := grid.Values[uint16](src)
		dst = dst[:len(values)]
		for i, x := range values {
			dst[i] = lut[x]
		}
	case grid.Float32:
		if tallied(v.ladder) {
			values := grid.Values[float32](src)
			dst = dst[:len(values)]
			for i, x := range values {
				dst[i] = L(grid.EveryLevel(x))
			}
			return
		}
		v.convert.Convert(scratch, src)
		dst = dst[:len(src)/4]
		for i, k := range scratch[:len(dst)] {
			dst[i] = L(k)
		}
	}
}
