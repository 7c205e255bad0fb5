//go:build amd64 && !noasm

package extrema

import (
	"sync"
	"unsafe"

	"eccbench/internal/grid"
)

// assembled reports whether this program has vector instructions.
const assembled = true

func kernels8(isa string) kernels[uint8, int8] {
	switch isa {
	case AVX2:
		k := assembly[uint8, int8](32, [2]volumeFunc{volume8avx2, volume8avx2}, [2]areaFunc{area8avx2, area8avx2}, scatter8avx2)
		k.rows = rows[uint8](32, map[int64]shiftFunc{1: shift8to8avx2}, singleto8avx2, doubleto8avx2)
		return k
	case AVX512:
		k := assembly[uint8, int8](64, [2]volumeFunc{volume8avx512, volumeEdge8avx512}, [2]areaFunc{area8avx512, areaEdge8avx512}, scatter8avx512)
		k.rows = rows[uint8](1, map[int64]shiftFunc{1: shift8to8avx512, 2: shift16to8avx512}, singleto8avx512, doubleto8avx512)
		return k
	}
	return portable[uint8, int8]()
}

func kernels16(isa string) kernels[uint16, int16] {
	switch isa {
	case AVX2:
		k := assembly[uint16, int16](32, [2]volumeFunc{volume16avx2, volume16avx2}, [2]areaFunc{area16avx2, area16avx2}, scatter16avx2)
		k.rows = rows[uint16](16, map[int64]shiftFunc{2: shift16to16avx2}, singleto16avx2, doubleto16avx2)
		return k
	case AVX512:
		k := assembly[uint16, int16](64, [2]volumeFunc{volume16avx512, volumeEdge16avx512}, [2]areaFunc{area16avx512, areaEdge16avx512}, scatter16avx512)
		k.rows = rows[uint16](1, map[int64]shiftFunc{2: shift16to16avx512}, singleto16avx512, doubleto16avx512)
		return k
	}
	return portable[uint16, int16]()
}

func kernels32(isa string) kernels[uint32, int32] {
	switch isa {
	case AVX2:
		k := assembly[uint32, int32](32, [2]volumeFunc{volume32avx2, volume32avx2}, [2]areaFunc{area32avx2, area32avx2}, scatter32avx2)
		k.rows = rows[uint32](8, nil, singleto32avx2, doubleto32avx2)
		return k
	case AVX512:
		k := assembly[uint32, int32](64, [2]volumeFunc{volume32avx512, volumeEdge32avx512}, [2]areaFunc{area32avx512, areaEdge32avx512}, scatter32avx512)
		k.rows = rows[uint32](1, nil, singleto32avx512, doubleto32avx512)
		return k
	}
	return portable[uint32, int32]()
}

type (
	volumeFunc  func(below, above, owed, values, changes, order, ahead *byte, step, stride, rows int, edge, keepY, keepZ uint64) int
	areaFunc    func(below, values, changes, order, ahead *byte, step, stride, rows int, edge, keepY uint64) int
	scatterFunc func(table *int32, bytes int, values, changes *byte, n int)
	shiftFunc   func(dst, src *byte, n, rows, stride int, flip, lo, top uint64) int
	singleFunc  func(dst, src *byte, n, rows, stride int, lo, inverse, step float32, last uint64) int
	doubleFunc  func(dst, src *byte, n, rows, stride int, lo, inverse, step float64, last uint64) int
)

// assembly returns kernels that process columns of vectors of a number of bytes. The second
// function of a pair processes the first column, before which the image ends.
func assembly[L lane, C change](vector int, volume [2]volumeFunc, area [2]areaFunc, scatter scatterFunc) kernels[L, C] {
	var zero L
	size := int(unsafe.Sizeof(zero))
	order := byBytes()
	if size == 2 {
		order = byPairs()
	}
	return kernels[L, C]{
		volume: func(t *tile[L, C], s *sink[L, C]) {
			t.columns(vector/size, func(x int, edge, keepY uint64, ahead *byte, step int) {
				keepZ := ^uint64(0)
				if t.outside {
					keepZ = 0
				}
				s.add(volume[edge](pointer(t.below, x), pointer(t.above, x), pointer(t.owed, x), pointer(s.values, 0), pointer(s.changes, 0), pointer(order, 0),
					ahead, step, t.stride*size, t.rows, edge, keepY, keepZ))
			})
		},
		area: func(t *tile[L, C], s *sink[L, C]) {
			t.columns(vector/size, func(x int, edge, keepY uint64, ahead *byte, step int) {
				s.add(area[edge](pointer(t.below, x), pointer(s.values, 0), pointer(s.changes, 0), pointer(order, 0),
					ahead, step, t.stride*size, t.rows, edge, keepY))
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

// columns calls f for each column of vectors, with its lane in the first row and its part of the
// memory to prefetch. edge has the lanes before which the image ends. keepY has the lanes whose
// minima over y may belong to the row before the strip.
func (t *tile[L, C]) columns(lanes int, f func(x int, edge, keepY uint64, ahead *byte, step int)) {
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
	share := len(t.ahead) / ((t.width + lanes - 1) / lanes) // per column
	for x := 0; x < t.width; x += lanes {
		ahead, step := pointer(t.below, 0), 0
		if share > 0 {
			ahead, step = &t.ahead[x/lanes*share], share/t.rows
		}
		f(first+x, edge, keepY, ahead, step)
		edge = 0
	}
}

// pointer returns the address of an element, for assembly that stays in bounds: see tile.
func pointer[T any](s []T, i int) *byte { return (*byte)(unsafe.Pointer(&s[i])) }

// rows returns the conversion of values to levels for rows of at least least values. It is a shift
// by the size of a value, or the arithmetic of an affine ladder. That arithmetic is in float32 if
// all levels are exact, otherwise in float64. In other cases it returns nil, and the portable code
// is used.
func rows[L lane](least int, shifts map[int64]shiftFunc, single singleFunc, double doubleFunc) func(*levels[L]) rowsFunc[L] {
	return func(v *levels[L]) rowsFunc[L] {
		var zero L
		bytes := int(unsafe.Sizeof(zero))
		lo, step, affine := v.ladder.Affinity()
		last := uint64(v.ladder.Len() - 1)
		switch f := shifts[v.typ.Size()]; {
		case v.shift != nil && f != nil:
			flip, lo, top := uint64(v.shift.flip), uint64(v.shift.lo), uint64(v.shift.top)
			return v.stepwise(least, func(dst, src *byte, n, rows, stride int) int {
				return f(dst, src, n, rows, stride*bytes, flip, lo, top)
			})
		case v.typ != grid.Float32 || !affine:
			return nil
		}
		turn := func(dst, src *byte, n, rows, stride int, last uint64) int {
			return double(dst, src, n, rows, stride*bytes, lo, 1/step, step, last)
		}
		if v.ladder.InFloat32() {
			turn = func(dst, src *byte, n, rows, stride int, last uint64) int {
				return single(dst, src, n, rows, stride*bytes, float32(lo), float32(1/step), float32(step), last)
			}
		}
		all := v.stepwise(least, func(dst, src *byte, n, rows, stride int) int { return turn(dst, src, n, rows, stride, last) })
		if v.watcher == nil {
			return all
		}
		return v.watched(func(dst []L, src []byte, n, rows, stride int) bool {
			return n >= least && turn(pointer(dst, 0), &src[0], n, rows, stride, last|exactly) == n*rows
		}, all)
	}
}

// exactly is added to the last level if a function must stop before a value on no level.
const exactly = 1 << 32

// stepwise converts values to levels with a function that may stop early. Then the portable code
// converts sixteen values. It also converts rows of fewer than least values.
func (v *levels[L]) stepwise(least int, f func(dst, src *byte, n, rows, stride int) int) rowsFunc[L] {
	const few = 16
	size := int(v.typ.Size())
	return func(dst []L, src []byte, n, rows, stride int, scratch []int32) {
		for rows > 0 {
			done := 0
			if n >= least {
				done = f(pointer(dst, 0), &src[0], n, rows, stride)
			}
			skip := min(done/n, rows-1) // whole rows; the next one is finished here
			dst, src, rows, done = dst[skip*stride:], src[skip*n*size:], rows-skip, done-skip*n
			for done < n {
				m := min(few, n-done)
				if n < least {
					m = n
				}
				v.row(dst[done:][:m], src[done*size:][:m*size], scratch)
				if done += m; n-done >= least {
					done += f(pointer(dst, done), &src[done*size], n-done, 1, stride)
				}
			}
			rows--
			if rows > 0 {
				dst, src = dst[stride:], src[n*size:]
			}
		}
	}
}

// byBytes and byPairs are the packing tables of all jobs.
var (
	byBytes = sync.OnceValue(func() []byte { return packing(1) })
	byPairs = sync.OnceValue(func() []byte { return packing(2) })
)

// packing returns, for each set of eight lanes, the shuffle that moves its lanes to the front in
// order. A shuffle is eight indices of bytes, or of pairs of bytes for lanes of two bytes.
func packing(width int) []byte {
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
