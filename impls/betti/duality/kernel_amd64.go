//go:build amd64 && !noasm

package duality

import (
	"math"

	"eccbench/internal/isa"
)

// assembled reports whether this program has vector instructions.
const assembled = true

func kernelOf(name string) kernel {
	k := portable()
	const word, voxels = 8, 64 // bytes and voxels of a word
	switch name {
	case isa.AVX512:
		k.pack = func(to []uint64, from []byte, w, stride, rows int64, limit uint8) {
			packavx512(&to[0], &from[0], int(word*stride), int(w/voxels), int(w%voxels), int(rows), limit)
		}
		k.faces = func(w *window, y, n int64, up bool) {
			at, sign := w.way(y, n, up)
			facesavx512(&w.main[at], &w.left[at], -int(word*sign*w.stride), -int(word*sign*w.plane), 0, int(word*sign*w.plane), int(n), int(w.words))
		}
		k.corners = func(w *window, y, n int64, up bool) {
			at, sign := w.way(y, n, up)
			cornersavx512(&w.main[at], &w.left[at], -int(word*sign*w.stride), -int(word*sign*w.plane), int(word*w.stride), int(word*sign*w.plane), int(n), int(w.words))
		}
		k.down = func(w *window, y, n int64) {
			at := w.rowStart(1, y)
			downavx512(&w.main[at], &w.left[at], int(w.words), int(word*w.plane), int(n))
		}
		if isa.Counts() {
			type sift func(left, main *uint64, stride, plane, words, rows int, kept uint64, some, touching *byte) int64
			alone := func(by sift) func(*window, int64, bool) int64 {
				return func(w *window, z int64, keep bool) int64 {
					kept := uint64(0)
					if keep {
						kept = math.MaxUint64
					}
					at, marks := w.rowStart(z, 0), w.marksAt(z, 0)
					return by(&w.left[at], &w.main[at], int(word*w.stride), int(word*w.plane), int(w.words), int(w.rows-2), kept, &w.some[marks], &w.touching[marks])
				}
			}
			k.aloneFaces, k.aloneCorners = alone(facessiftavx512), alone(cornerssiftavx512)
			k.characteristic = func(l layout, before, plane []uint64, rows int64) int64 {
				first := l.row(-1)
				return characteristicavx512(&before[first], &plane[first], int(word*l.stride), int(rows+1), int(l.words))
			}
		}
	case isa.AVX2:
		k.pack = func(to []uint64, from []byte, w, stride, rows int64, limit uint8) {
			whole, tail := w/voxels, w%voxels
			if whole > 0 {
				packavx2(&to[0], &from[0], int(word*stride), int(whole), int(tail), int(rows), limit)
			}
			for y := range rows {
				if tail > 0 {
					packTail(to[y*stride+whole:], from[y*w+w-tail:][:tail], limit)
				}
			}
		}
	}
	return k
}
