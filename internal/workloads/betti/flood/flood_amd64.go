//go:build amd64 && !noasm

package flood

import "eccbench/internal/isa"

// assembled reports whether this program has vector instructions.
const assembled = true

func floodKernelOf(name string) floodKernel {
	k := portableFlood()
	if name != isa.AVX512 {
		return k
	}
	const word = 8 // bytes
	k.faces = func(main, left []uint64, at, words, row, plane, _, step, planes int64) {
		floodFacesAVX512(&main[at], &left[at], int(words), int(word*row), int(word*plane), 0, int(word*step), int(planes))
	}
	k.corners = func(main, left []uint64, at, words, row, plane, apart, step, planes int64) {
		floodCornersAVX512(&main[at], &left[at], int(words), int(word*row), int(word*plane), int(word*apart), int(word*step), int(planes))
	}
	if isa.Counts() {
		k.aloneFaces = func(main, left []uint64, at, words, row, plane int64) int64 {
			return int64(aloneFacesAVX512(&main[at], &left[at], int(words), int(word*row), int(word*plane)))
		}
		k.aloneCorners = func(main, left []uint64, at, words, row, plane int64) int64 {
			return int64(aloneCornersAVX512(&main[at], &left[at], int(words), int(word*row), int(word*plane)))
		}
	}
	return k
}
