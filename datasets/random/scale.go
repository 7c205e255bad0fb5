package random

import (
	"eccbench/internal/grid"
)

// A Scale converts the levels of a generator to values of a type. The value is the level itself
// for unsigned types, and the level minus half the number of levels for int16. For float32 it is a
// step of an affine ladder.
type Scale struct {
	Typ    grid.Type
	Ladder grid.Ladder
	shift  int64     // int16: the value of level 0
	table  []float32 // float32 with few enough levels: the ladder's values
}

// NewScale returns the scale of n levels; lo and step are for float32 only.
func NewScale(t grid.Type, n int64, lo, step float64) (Scale, error) {
	s := Scale{Typ: t}
	var err error
	switch {
	case t != grid.Float32 && n == MaxLevels(t):
		s.Ladder = grid.Identity(t)
	case t == grid.Float32:
		s.Ladder, err = grid.Affine(lo, step, n)
	case t == grid.Int16:
		s.Ladder, err = grid.Affine(float64(-(n / 2)), 1, n)
	default:
		s.Ladder, err = grid.Affine(0, 1, n)
	}
	if t == grid.Int16 {
		s.shift = -(n / 2)
	}
	return s, err
}

// Prepare computes the table of float32 values. It is separate because names are checked far more
// often than images are made.
func (s *Scale) Prepare() {
	const most = 1 << 16
	if s.Typ != grid.Float32 || s.Ladder.Len() > most {
		return
	}
	s.table = make([]float32, s.Ladder.Len())
	for k := range s.table {
		s.table[k] = s.value(int64(k))
	}
}

// value returns the float32 of a level; the sum with 0 changes −0 to +0.
func (s *Scale) value(level int64) float32 { return s.Ladder.Value(level) + 0 }

// Put writes the values of levels to dst, which has exactly their size.
func (s *Scale) Put(dst []byte, levels []uint32) {
	switch s.Typ {
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

// MaxLevels returns the largest number of levels of a generator: all values of an 8 or 16-bit type,
// or the number of integers that float32 represents exactly.
func MaxLevels(t grid.Type) int64 {
	switch t {
	case grid.Uint8:
		return 1 << 8
	case grid.Int16, grid.Uint16:
		return 1 << 16
	}
	return 1 << 24
}
