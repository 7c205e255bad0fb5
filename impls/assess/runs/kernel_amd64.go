//go:build amd64 && !noasm

package runs

import (
	"eccbench/internal/isa"
	"eccbench/internal/workloads/assess"
)

// assembled reports whether this program has vector instructions.
const assembled = true

func counterOf(name string) counter {
	if name != isa.AVX512 || !isa.Counts() {
		return addEuler
	}
	return func(n *[assess.Constructions]int64, below, plane []uint64, stride int) {
		const word = 8               // bytes
		words := len(plane) - stride // all rows as one: their last words are empty
		n[assess.T] += anyavx512(&below[0], &plane[0], word*stride, 1, words)
		n[assess.V] += allavx512(&below[0], &plane[0], word*stride, 1, words)
	}
}
