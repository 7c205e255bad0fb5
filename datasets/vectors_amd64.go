//go:build amd64 && !noasm

package datasets

import "eccbench/internal/isa"

// assembled says that this program has vector instructions.
const assembled = true

func vectorsOf(name string) vectors {
	switch name {
	case isa.AVX512:
		return vectors{turn: 128, bytes: noiseBytesavx512, pairs: noisePairsavx512, singles: noiseSinglesavx512, doubles: noiseDoublesavx512, spread: spreadavx512, filters: filters{
			bytes: 64, turn: 64, counts: countsavx512, countBytes: countBytesavx512, weigh: weighavx512, add16: add16avx512, add32: add32avx512,
			widen16to32: widen16to32avx512, widen16to64: widen16to64avx512, widen32to64: widen32to64avx512,
			push: pushavx512, pushPairs: pushPairsavx512, quantise: quantiseavx512, quantiseWide: quantiseWideavx512,
			putBytes: putBytesavx512, putPairs: putPairsavx512, putSingles: putSinglesavx512, putDoubles: putDoublesavx512,
		}}
	case isa.AVX2:
		return vectors{turn: 32, bytes: noiseBytesavx2, pairs: noisePairsavx2, singles: noiseSinglesavx2, doubles: noiseDoublesavx2, spread: spreadavx2, filters: filters{
			bytes: 32, turn: 32, counts: countsavx2, countBytes: countBytesavx2, weigh: weighavx2, add16: add16avx2, add32: add32avx2,
			widen16to32: widen16to32avx2, widen16to64: widen16to64avx2, widen32to64: widen32to64avx2,
			push: pushavx2, pushPairs: pushPairsavx2, quantise: quantiseavx2, quantiseWide: quantiseWideavx2,
			putBytes: putBytesavx2, putPairs: putPairsavx2, putSingles: putSinglesavx2, putDoubles: putDoublesavx2,
		}}
	}
	return vectors{}
}
