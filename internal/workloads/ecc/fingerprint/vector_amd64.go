//go:build amd64 && !noasm

package fingerprint

import (
	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// assembled says that this program has vector instructions.
const assembled = true

func kernelOf(name string) kernel {
	switch name {
	case isa.AVX512:
		return assembly(volumeavx512, areaavx512)
	case isa.AVX2:
		return assembly(volumeavx2, areaavx2)
	}
	return portable()
}

func assembly(volume func(below, above *uint64, stride, rows, columns int) uint64, area func(plane *uint64, stride, rows, columns int) uint64) kernel {
	return kernel{
		volume: func(below, above []uint64, stride, rows, columns int) uint64 {
			return volume(&below[0], &above[0], 8*stride, rows, columns)
		},
		area: func(plane []uint64, stride, rows, columns int) uint64 {
			return area(&plane[0], 8*stride, rows, columns)
		},
	}
}

// turnsOf are the vector instructions for bytes, of the least values or of the greatest.
func turnsOf(name string, greatest bool) (turns, bool) {
	switch {
	case name != isa.AVX512 || !isa.Bytes():
		return turns{}, false
	case greatest:
		return turns{turnsvolumegreatestavx512, turnsareagreatestavx512, alternateavx512}, true
	}
	return turns{turnsvolumeleastavx512, turnsarealeastavx512, alternateavx512}, true
}

type (
	singleFunc func(dst, table *uint64, src *byte, n, ahead int, lo, inverse, step float32, last uint64) int
	doubleFunc func(dst, table *uint64, src *byte, n, ahead int, lo, inverse, step float64, last uint64) int
)

func vectorised(l grid.Ladder, name string) vectors {
	switch name {
	case isa.AVX512:
		return vectors{bytesavx512, pairsavx512, onLadder(l, singleavx512, doubleavx512)}
	case isa.AVX2:
		return vectors{bytesavx2, pairsavx2, onLadder(l, singleavx2, doubleavx2)}
	}
	return vectors{}
}

// encrypting gives the weights of float32 values on the ladder of every float32; nil where
// the processor has no instructions for AES.
func encrypting(name string) func(dst, table *uint64, src *byte, n, ahead int) int {
	if name == isa.Portable || !isa.AES() {
		return nil
	}
	return everyavx2
}

// onLadder looks up the weights of float32 values on an affine ladder, in float32 where
// that gives every level exactly; nil for other ladders.
func onLadder(l grid.Ladder, single singleFunc, double doubleFunc) func(dst, table *uint64, src *byte, n, ahead int) int {
	lo, step, affine := l.Affinity()
	if !affine {
		return nil
	}
	last := uint64(l.Len() - 1)
	if l.InFloat32() {
		return func(dst, table *uint64, src *byte, n, ahead int) int {
			return single(dst, table, src, n, ahead, float32(lo), float32(1/step), float32(step), last)
		}
	}
	return func(dst, table *uint64, src *byte, n, ahead int) int {
		return double(dst, table, src, n, ahead, lo, 1/step, step, last)
	}
}
