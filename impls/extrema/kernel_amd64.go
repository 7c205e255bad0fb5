//go:build amd64 && !noasm

package extrema

import (
	"unsafe"

	"eccbench/internal/grid"
)

// assembled says that this program has vector instructions.
const assembled = true

func kernels8(isa string) kernels[uint8, int8] {
	switch isa {
	case AVX2:
		k := assembly[uint8, int8](32, volume8avx2, area8avx2, scatter8avx2)
		k.rows = rows[uint8](map[int64]shiftFunc{1: shift8to8avx2}, singleto8avx2, doubleto8avx2)
		return k
	case AVX512:
		k := assembly[uint8, int8](64, volume8avx512, area8avx512, scatter8avx512)
		k.rows = rows[uint8](map[int64]shiftFunc{1: shift8to8avx512, 2: shift16to8avx512}, singleto8avx512, doubleto8avx512)
		return k
	}
	return portable[uint8, int8]()
}

func kernels16(isa string) kernels[uint16, int16] {
	switch isa {
	case AVX2:
		k := assembly[uint16, int16](32, volume16avx2, area16avx2, scatter16avx2)
		k.rows = rows[uint16](map[int64]shiftFunc{2: shift16to16avx2}, singleto16avx2, doubleto16avx2)
		return k
	case AVX512:
		k := assembly[uint16, int16](64, volume16avx512, area16avx512, scatter16avx512)
		k.rows = rows[uint16](map[int64]shiftFunc{2: shift16to16avx512}, singleto16avx512, doubleto16avx512)
		return k
	}
	return portable[uint16, int16]()
}

func kernels32(isa string) kernels[uint32, int32] {
	switch isa {
	case AVX2:
		k := assembly[uint32, int32](32, volume32avx2, area32avx2, scatter32avx2)
		k.rows = rows[uint32](nil, singleto32avx2, doubleto32avx2)
		return k
	case AVX512:
		k := assembly[uint32, int32](64, volume32avx512, area32avx512, scatter32avx512)
		k.rows = rows[uint32](nil, singleto32avx512, doubleto32avx512)
		return k
	}
	return portable[uint32, int32]()
}

type (
	volumeFunc  func(below, above, owed, values, changes, order *byte, stride, rows int, edge, keepY, keepZ uint64) int
	areaFunc    func(below, values, changes, order *byte, stride, rows int, edge, keepY uint64) int
	scatterFunc func(table *int32, bytes int, values, changes *byte, n int)
	shiftFunc   func(dst, src *byte, n int, flip, lo, top uint64) int
	singleFunc  func(dst, src *byte, n int, lo, inverse, step float32, last uint64) int
	doubleFunc  func(dst, src *byte, n int, lo, inverse, step float64, last uint64) int
)

// assembly are kernels that go down columns of vectors of so many bytes.
func assembly[L lane, C change](vector int, volume volumeFunc, area areaFunc, scatter scatterFunc) kernels[L, C] {
	var zero L
	size := int(unsafe.Sizeof(zero))
	order := packing(size)
	return kernels[L, C]{
		volume: func(t *tile[L, C], s *sink[L, C]) {
			t.columns(vector/size, func(x int, edge, keepY uint64) {
				keepZ := ^uint64(0)
				if t.outside {
					keepZ = 0
				}
				s.add(volume(pointer(t.below, x), pointer(t.above, x), pointer(t.owed, x), pointer(s.values, 0), pointer(s.changes, 0), pointer(order, 0),
					t.stride*size, t.rows, edge, keepY, keepZ))
			})
		},
		area: func(t *tile[L, C], s *sink[L, C]) {
			t.columns(vector/size, func(x int, edge, keepY uint64) {
				s.add(area(pointer(t.below, x), pointer(s.values, 0), pointer(s.changes, 0), pointer(order, 0), t.stride*size, t.rows, edge, keepY))
			})
		},
		scatter: func(tables []int32, entries int, values []L, changes []C) {
			apart := 0
			if len(tables) >= 4*entries {
				apart = 4 * entries
			}
			if len(values) > 0 {
				scatter(&tables[0], apart, pointer(values, 0), pointer(changes, 0), len(values))
			}
		},
	}
}

// columns calls f with the lane of the first row where each column of vectors
// begins, with the lanes before which the image ends, and with those whose
// minima over y may belong to the row before the strip.
func (t *tile[L, C]) columns(lanes int, f func(x int, edge, keepY uint64)) {
	if t.rows == 0 {
		return
	}
	var zero L
	first := lead / int(unsafe.Sizeof(zero))
	keepY := ^uint64(0)
	if t.first {
		keepY = 0
	}
	edge := uint64(1)
	for x := 0; x < t.width; x += lanes {
		f(first+x, edge, keepY)
		edge = 0
	}
}

// pointer is the address of an element, for assembly that stays in bounds: see
// tile.
func pointer[T any](s []T, i int) *byte { return (*byte)(unsafe.Pointer(&s[i])) }

// rows makes what turns rows into levels: a copy or a shift by the size of a
// value, the arithmetic of an affine ladder in float32 where that gives every
// level exactly, and in float64 where it does not. What none of them answers,
// the portable way does.
func rows[L lane](shifts map[int64]shiftFunc, single singleFunc, double doubleFunc) func(*levels[L]) func([]L, []byte) {
	return func(v *levels[L]) func([]L, []byte) {
		size := v.typ.Size()
		if v.typ == grid.Float32 {
			lo, step, affine := v.ladder.Affinity()
			if !affine {
				return nil
			}
			last := uint64(v.ladder.Len() - 1)
			if exact(v.ladder) {
				return v.piecewise(func(dst, src *byte, n int) int {
					return single(dst, src, n, float32(lo), float32(1/step), float32(step), last)
				})
			}
			return v.piecewise(func(dst, src *byte, n int) int { return double(dst, src, n, lo, 1/step, step, last) })
		}
		f := shifts[size]
		if f == nil || v.shift == nil {
			return nil
		}
		flip, lo, top := uint64(v.shift.flip), uint64(v.shift.lo), uint64(v.shift.top)
		return func(dst []L, src []byte) {
			n := f(pointer(dst, 0), &src[0], len(src)/int(size), flip, lo, top)
			v.rows(dst[n:], src[n*int(size):], nil)
		}
	}
}

// exact reports whether float32 arithmetic gives every level of an affine ladder.
func exact(l grid.Ladder) bool {
	lo, step, _ := l.Affinity()
	for k := range l.Len() {
		if float32(float32(float32(k)*float32(step))+float32(lo)) != l.Value(k) {
			return false
		}
	}
	return true
}

// piecewise turns float32 values into levels by a function that stops at a
// vector it has no answer for, which the portable way then gives.
func (v *levels[L]) piecewise(f func(dst, src *byte, n int) int) func([]L, []byte) {
	const vector = 16
	var scratch [vector]int32
	return func(dst []L, src []byte) {
		for len(src) > 0 {
			n := f(pointer(dst, 0), &src[0], len(src)/4)
			dst, src = dst[n:], src[4*n:]
			n = min(vector, len(src)/4)
			v.rows(dst[:n], src[:4*n], scratch[:])
			dst, src = dst[n:], src[4*n:]
		}
	}
}

// packing is, for each set of eight lanes, the shuffle that moves its lanes to
// the front in order: eight indices of bytes, or of pairs of bytes for lanes of
// two.
func packing(size int) []byte {
	width := 1
	if size == 2 {
		width = 2
	}
	order := make([]byte, 0, 256*8*width)
	for set := range 256 {
		var lanes []byte
		for lane := range 8 {
			if set>>lane&1 == 1 {
				for b := range width {
					lanes = append(lanes, byte(lane*width+b))
				}
			}
		}
		order = append(append(order, lanes...), make([]byte, 8*width-len(lanes))...)
	}
	return order
}
