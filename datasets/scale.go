package datasets

import (
	"math/bits"

	"eccbench/internal/grid"
)

// A scale converts the levels of a generator to values of a type. The value is the level itself
// for unsigned types, and the level minus half the number of levels for int16. For float32 it is a
// step of an affine ladder.
type scale struct {
	typ    grid.Type
	ladder grid.Ladder
	shift  int64     // int16: the value of level 0
	table  []float32 // float32 with few enough levels: the ladder's values
}

// newScale returns the scale of n levels; lo and step are for float32 only.
func newScale(t grid.Type, n int64, lo, step float64) (scale, error) {
	s := scale{typ: t}
	var err error
	switch {
	case t != grid.Float32 && n == maxLevels(t):
		s.ladder = grid.Identity(t)
	case t == grid.Float32:
		s.ladder, err = grid.Affine(lo, step, n)
	case t == grid.Int16:
		s.ladder, err = grid.Affine(float64(-(n / 2)), 1, n)
	default:
		s.ladder, err = grid.Affine(0, 1, n)
	}
	if t == grid.Int16 {
		s.shift = -(n / 2)
	}
	return s, err
}

// scale reads the levels, type, lo and step of a generator of noise, and returns their scale.
func (r *reading) scale() (n int64, s scale) {
	t := r.elementType()
	n = r.levels(t)
	lo, step := 0.0, 1.0
	if t == grid.Float32 {
		lo = r.real("lo", 0, false)
		step = r.real("step", evenStep(n), false)
	} else {
		for _, key := range []string{"lo", "step"} {
			if v, ok := r.take(key); ok {
				r.refuse(key, v, "goes with type=float32; levels of %v are whole numbers", t)
			}
		}
	}
	if r.err != nil {
		return n, scale{}
	}
	s, err := newScale(t, n, lo, step)
	if err != nil {
		r.reject("%w", err)
	}
	return n, s
}

// evenStep is the default step of float32 levels: the largest power of two that keeps n of them
// within 0 ≤ value < 1, all exact.
func evenStep(n int64) float64 {
	return 1 / float64(uint64(1)<<bits.Len64(uint64(n-1)))
}

// prepare computes the table of float32 values. It is separate because names are checked far more
// often than images are made.
func (s *scale) prepare() {
	const most = 1 << 16
	if s.typ != grid.Float32 || s.ladder.Len() > most {
		return
	}
	s.table = make([]float32, s.ladder.Len())
	for k := range s.table {
		s.table[k] = s.value(int64(k))
	}
}

// value returns the float32 of a level; the sum with 0 changes −0 to +0.
func (s *scale) value(level int64) float32 { return s.ladder.Value(level) + 0 }

// put writes the values of levels to dst, which has exactly their size.
func (s *scale) put(dst []byte, levels []uint32) {
	switch s.typ {
	case grid.Uint8:
		whole(grid.Values[uint8](dst), levels, 0)
	case grid.Uint16:
		whole(grid.Values[uint16](dst), levels, 0)
	case grid.Int16:
		whole(grid.Values[int16](dst), levels, s.shift)
	case grid.Float32:
		values := grid.Values[float32](dst)
		levels = levels[:len(values)]
		if s.table != nil {
			table := s.table
			for i, k := range levels {
				values[i] = table[k]
			}
			return
		}
		for i, k := range levels {
			values[i] = s.value(int64(k))
		}
	}
}

func whole[T uint8 | uint16 | int16](dst []T, levels []uint32, shift int64) {
	levels = levels[:len(dst)]
	for i, k := range levels {
		dst[i] = T(int64(k) + shift)
	}
}
