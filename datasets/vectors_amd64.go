//go:build amd64 && !noasm

package datasets

import "eccbench/internal/isa"

// assembled says that this program has vector instructions.
const assembled = true

func vectorsOf(name string) vectors {
	switch name {
	case isa.AVX512:
		return vectors{turn: 128, bytes: noiseBytesavx512, pairs: noisePairsavx512, singles: noiseSinglesavx512, doubles: noiseDoublesavx512}
	case isa.AVX2:
		return vectors{turn: 32, bytes: noiseBytesavx2, pairs: noisePairsavx2, singles: noiseSinglesavx2, doubles: noiseDoublesavx2}
	}
	return vectors{}
}
