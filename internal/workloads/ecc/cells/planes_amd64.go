//go:build amd64 && !noasm

package cells

import "eccbench/internal/isa"

// Assembled reports that this program has vector instructions.
const Assembled = true

func planesOf(name string) planeKernel {
	k := portablePlanes()
	switch name {
	case isa.AVX512:
		k.fill = func(s *PlaneSet, plane []byte, limit uint8) {
			if len(plane) > 0 {
				fillavx512(&s.Row(0)[0], &plane[0], int(s.h), int(s.w/64), int(s.w%64), limit)
			}
		}
		if isa.Counts() {
			const word = 8 // bytes
			k.cells = func(below, above *PlaneSet) int64 {
				return cellsavx512(&below.rows[0], &above.rows[0], int(word*below.words), int(below.h+1), int(below.words))
			}
			k.dual = func(below, above *PlaneSet) int64 {
				return dualavx512(&below.rows[0], &above.rows[0], int(word*below.words), int(below.h+1), int(below.words))
			}
		}
	case isa.AVX2:
		k.fill = func(s *PlaneSet, plane []byte, limit uint8) {
			if s.w >= 64 {
				fillavx2(&s.Row(0)[0], &plane[0], int(s.h), int(s.w/64), int(s.w%64), limit)
			}
			fillTails(s, plane, limit)
		}
	}
	return k
}
