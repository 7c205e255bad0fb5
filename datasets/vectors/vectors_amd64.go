//go:build amd64 && !noasm

package vectors

import "eccbench/internal/isa"

// assembled reports that this program has vector instructions.
const assembled = true

// ForISA returns the vector functions of an instruction set, none for one without.
func ForISA(name string) Set {
	switch name {
	case isa.AVX512:
		return Set{Turn: 128, Bytes: noiseBytesavx512, Pairs: noisePairsavx512, Singles: noiseSinglesavx512,
			Doubles: noiseDoublesavx512, spread: spreadavx512, Filters: Filters{
				Bytes: 64, Turn: 64, Counts: countsavx512, CountBytes: countBytesavx512, Weigh: weighavx512, Add16: add16avx512, Add32: add32avx512,
				Widen16to32: widen16to32avx512, Widen16to64: widen16to64avx512, Widen32to64: widen32to64avx512,
				Push: pushavx512, PushPairs: pushPairsavx512, Quantise: quantiseavx512, QuantiseWide: quantiseWideavx512,
				PutBytes: putBytesavx512, PutPairs: putPairsavx512, PutSingles: putSinglesavx512, PutDoubles: putDoublesavx512,
			}}
	case isa.AVX2:
		return Set{Turn: 32, Bytes: noiseBytesavx2, Pairs: noisePairsavx2, Singles: noiseSinglesavx2,
			Doubles: noiseDoublesavx2, spread: spreadavx2, Filters: Filters{
				Bytes: 32, Turn: 32, Counts: countsavx2, CountBytes: countBytesavx2, Weigh: weighavx2, Add16: add16avx2, Add32: add32avx2,
				Widen16to32: widen16to32avx2, Widen16to64: widen16to64avx2, Widen32to64: widen32to64avx2,
				Push: pushavx2, PushPairs: pushPairsavx2, Quantise: quantiseavx2, QuantiseWide: quantiseWideavx2,
				PutBytes: putBytesavx2, PutPairs: putPairsavx2, PutSingles: putSinglesavx2, PutDoubles: putDoublesavx2,
			}}
	}
	return Set{}
}
