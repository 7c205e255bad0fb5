package extrema

import (
	"math"
	"slices"

	"eccbench/internal/grid"
)

// levels turns rows of values into levels of L.
type levels[L lane] struct {
	typ     grid.Type
	ladder  grid.Ladder
	lut     []L            // 8 and 16-bit types: level of each bit pattern
	convert grid.Converter // float32
	shift   *shift         // where the look-up table is this
	watcher grid.Watcher   // of values that need not stand on levels; nil for none
}

// A shift is a look-up table that arithmetic gives: the level of the bit pattern
// b is min(max(b^flip − lo, 0), top), without sign.
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

// searched reports whether the level of each value is searched for, among levels at uneven
// distances.
func searched(in grid.Source) bool {
	_, _, even := in.Ladder().Affinity()
	return in.Type() == grid.Float32 && !even && !tallied(in.Ladder())
}

// tallied reports whether a ladder is that of every float32, whose levels no table holds.
func tallied(l grid.Ladder) bool { return !l.Indexed() }

// shifted is the shift that gives a look-up table, or nil.
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

// watched shows the watcher rows of which a function does not find every value to stand on a level,
// and turns them by another. The first may be nil.
func (v *levels[L]) watched(exactly func(dst []L, src []byte, n, rows, stride int) bool, otherwise rowsFunc[L]) rowsFunc[L] {
	v.watcher.Watch()
	return func(dst []L, src []byte, n, rows, stride int, scratch []int32) {
		if exactly == nil || !exactly(dst, src, n, rows, stride) {
			v.watcher.Look(src[:n*rows*int(v.typ.Size())])
			otherwise(dst, src, n, rows, stride, scratch)
		}
	}
}

// rows is the portable way.
func (v *levels[L]) rows(dst []L, src []byte, n, rows, stride int, scratch []int32) {
	size := n * int(v.typ.Size())
	for r := range rows {
		v.row(dst[r*stride:][:n], src[r*size:][:size], scratch)
	}
}

// row turns the values of src into levels, with scratch for as many.
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
