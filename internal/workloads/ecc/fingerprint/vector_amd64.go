//go:build amd64 && !noasm

package fingerprint

import (
	"unsafe"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// assembled reports that this program has vector instructions.
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

// countVectorsOf returns the vector functions that count in lanes of the given number of bytes, and
// the bytes of a vector. ok is false if there are none for this order; AVX2 has one order.
func countVectorsOf(name string, bytes int, o order) (v countVectors, vector int64, ok bool) {
	switch {
	case name == isa.Portable:
		return v, 0, false
	case name == isa.AVX2 && bytes == 4:
		return countVectors{volume: doublesvolumeavx2, area: doublesareaavx2}, 32, true
	case bytes == 4:
		return countVectors{volume: doublesvolumesignedleastavx512, area: doublesareasignedleastavx512}, 64, true
	case name == isa.AVX2 && bytes == 1:
		return inTurns(bytesvolumeavx2, bytesareaavx2, bytessumavx2, 2), 32, true
	case name == isa.AVX2:
		return inTurns(wordsvolumeavx2, wordsareaavx2, wordssumavx2, 4), 32, true
	case bytes == 1:
		v = map[order]countVectors{
			{}:               {volume: bytesvolumeleastavx512, area: bytesarealeastavx512},
			{reversed: true}: {volume: bytesvolumegreatestavx512, area: bytesareagreatestavx512},
		}[o]
		v.weigh = byDigits
	default:
		v = map[order]countVectors{
			{}:                             {volume: wordsvolumeleastavx512, area: wordsarealeastavx512},
			{reversed: true}:               {volume: wordsvolumegreatestavx512, area: wordsareagreatestavx512},
			{signed: true}:                 {volume: wordsvolumesignedleastavx512, area: wordsareasignedleastavx512},
			{signed: true, reversed: true}: {volume: wordsvolumesignedgreatestavx512, area: wordsareasignedgreatestavx512},
		}[o]
		v.weigh = ofWords
	}
	return v, 64, true
}

// keysOf returns the function that converts rows of float32 values to integers of the same order,
// and the least number of values per call. The function is nil without vector instructions.
func keysOf(name string) (group int64, keys func(dst, src *byte, n, rows, stride, apart int, before, after uint64) int) {
	switch name {
	case isa.AVX512:
		return 16, keysavx512
	case isa.AVX2:
		return 8, keysavx2
	}
	return 1, nil
}

// timesOf returns the function that sums count × (weight − outside) over 8n weights.
func timesOf(name string) func(weights *uint64, counts *int32, n int, outside uint64) uint64 {
	if name == isa.AVX512 {
		return timesavx512
	}
	return timesavx2
}

// ordered reports whether an instruction set has every order of lanes.
func ordered(name string) bool { return name == isa.AVX512 }

// inTurns returns count vectors whose list alternates between voxels and counts, with the given
// number of bytes per pair. Other count vectors write two lists.
func inTurns(
	volume func(below, above *byte, stride, rows int, inside, own, beside, handed, to *byte, next uintptr, apart int) int,
	area func(plane *byte, stride, rows int, inside, own, beside, to *byte, next uintptr, apart int) int,
	sum func(table *uint64, list *byte, n int) uint64, bytes int,
) countVectors {
	return countVectors{
		volume: func(below, above *byte, stride, rows int, inside, own, beside, handed, to *byte, _ int, next uintptr, apart int) int {
			return volume(below, above, stride, rows, inside, own, beside, handed, to, next, apart)
		},
		area: func(plane *byte, stride, rows int, inside, own, beside, to *byte, _ int, next uintptr, apart int) int {
			return area(plane, stride, rows, inside, own, beside, to, next, apart)
		},
		weigh: func(table []uint64) weigher {
			return func(list []byte, n int, _ *room) uint64 {
				group := listGroup * bytes
				clear(list[n : n+group])
				return sum(&table[0], &list[0], (n+group-1)/group)
			}
		},
	}
}

// byDigits returns the function that sums count × weight over a list of bytes, whose counts are in
// the second half of the list's memory. It computes with single bytes of the weights if they have
// few bytes, as with at most 256 levels.
func byDigits(table []uint64) weigher {
	bytes := digitsOf(table)
	if bytes == nil || !isa.Bytes() {
		return func(list []byte, n int, _ *room) (sum uint64) {
			for i, v := range list[:n] {
				sum += table[v] * uint64(int8(list[len(list)/2+i]))
			}
			return sum
		}
	}
	return func(list []byte, n int, _ *room) uint64 {
		counts, groups := inGroups(list, n, 64)
		return -uint64(bytesdigitsavx512(bytes, &list[0], counts, groups))
	}
}

// ofWords is byDigits for words, with whole weights.
func ofWords(table []uint64) weigher {
	return func(list []byte, n int, _ *room) uint64 {
		counts, groups := inGroups(list, n, 2*listGroup)
		return wordssumavx512(&table[0], &list[0], counts, groups)
	}
}

type (
	singleFunc func(dst, table *uint64, src *byte, n, ahead int, lo, inverse, step float32, last uint64) int
	doubleFunc func(dst, table *uint64, src *byte, n, ahead int, lo, inverse, step float64, last uint64) int
)

func vectorised(l grid.Ladder, name string) vectors {
	switch name {
	case isa.AVX512:
		return vectors{bytesavx512, pairsavx512, onLadder(l, singleavx512, doubleavx512, 0), onLadder(l, singleavx512, doubleavx512, exactly)}
	case isa.AVX2:
		return vectors{bytesavx2, pairsavx2, onLadder(l, singleavx2, doubleavx2, 0), onLadder(l, singleavx2, doubleavx2, exactly)}
	}
	return vectors{}
}

// multiplying returns the function that looks up the weights of float32 values on the ladder of all
// float32 values. It is nil without vector instructions.
func multiplying(name string) func(dst, table *uint64, src *byte, n, ahead int) int {
	switch {
	case name == isa.Portable:
		return nil
	case name == isa.AVX512 && isa.Bytes():
		return everyOfBytes
	}
	return everyavx2
}

// everyOfBytes looks up whole groups of values. The last group ends with the last value, so it may
// overlap the group before.
func everyOfBytes(dst, table *uint64, src *byte, n, ahead int) int {
	const group = 64
	if n < group {
		return everyavx2(dst, table, src, n, ahead)
	}
	if done := everybytesavx512(dst, table, src, n, ahead); done < n {
		at := n - group
		everybytesavx512((*uint64)(unsafe.Add(unsafe.Pointer(dst), 8*at)), table, (*byte)(unsafe.Add(unsafe.Pointer(src), 4*at)), group, ahead)
	}
	return n
}

// exactly is a flag in the word of the last level: the look-up stops at a value between levels.
const exactly = 1 << 32

// onLadder returns the function that looks up the weights of float32 values on an affine ladder, or
// nil for other ladders. It computes in float32 if this gives every level exactly. wish is exactly or 0.
func onLadder(l grid.Ladder, single singleFunc, double doubleFunc, wish uint64) func(dst, table *uint64, src *byte, n, ahead int) int {
	lo, step, affine := l.Affinity()
	if !affine {
		return nil
	}
	last := uint64(l.Len()-1) | wish
	if l.InFloat32() {
		return func(dst, table *uint64, src *byte, n, ahead int) int {
			return single(dst, table, src, n, ahead, float32(lo), float32(1/step), float32(step), last)
		}
	}
	return func(dst, table *uint64, src *byte, n, ahead int) int {
		return double(dst, table, src, n, ahead, lo, 1/step, step, last)
	}
}

// laneVectorsOf returns the functions that convert values to lanes, with the bits of flip inverted,
// and the number of values that they convert at a time. For float32 the ladder must be affine,
// with all its levels below top. whole stops at a value between levels.
func laneVectorsOf(name string, t grid.Type, l grid.Ladder, flip uint16, top int64) (group int64, fast, whole func(dst, src *byte, n, rows, stride, apart int) int) {
	wide := name == isa.AVX512
	if t != grid.Float32 {
		copies, group, words := turnedwordsavx2, int64(16), uint64(flip)*0x0001_0001_0001_0001
		switch {
		case t == grid.Uint8 && wide:
			copies, group = turnedbytesavx512, 64
		case t == grid.Uint8:
			copies, group = turnedbytesavx2, 32
		case wide:
			copies, group = turnedwordsavx512, 32
		}
		if t == grid.Uint8 {
			words = uint64(uint8(flip)) * 0x0101_0101_0101_0101
		}
		return group, func(dst, src *byte, n, rows, stride, apart int) int {
			return copies(dst, src, n, rows, stride, apart, words)
		}, nil
	}
	lo, step, affine := l.Affinity()
	if !affine || top < l.Len() {
		return 1, nil, nil
	}
	last, words := uint64(l.Len()-1), uint64(flip)*0x0001_0001
	var of func(wish uint64) func(dst, src *byte, n, rows, stride, apart int) int
	switch {
	case wide && fusedInFloat32(l, float32(lo), float32(step)):
		group, of = 32, func(wish uint64) func(dst, src *byte, n, rows, stride, apart int) int {
			return func(dst, src *byte, n, rows, stride, apart int) int {
				return levelssingleavx512(dst, src, n, rows, stride, apart, float32(lo), float32(1/step), float32(step), float32(-lo/step), last|wish, words)
			}
		}
	case !wide && l.InFloat32():
		group, of = 16, func(wish uint64) func(dst, src *byte, n, rows, stride, apart int) int {
			return func(dst, src *byte, n, rows, stride, apart int) int {
				return levelssingleavx2(dst, src, n, rows, stride, apart, float32(lo), float32(1/step), float32(step), last|wish, words)
			}
		}
	default:
		double := levelsdoubleavx2
		group = 8
		if wide {
			double, group = levelsdoubleavx512, 16
		}
		of = func(wish uint64) func(dst, src *byte, n, rows, stride, apart int) int {
			return func(dst, src *byte, n, rows, stride, apart int) int {
				return double(dst, src, n, rows, stride, apart, lo, 1/step, step, last|wish, words)
			}
		}
	}
	return group, of(0), of(exactly)
}

// fusedInFloat32 reports whether one fused operation gives each level of an affine ladder: its
// number times step plus lo, rounded once.
func fusedInFloat32(l grid.Ladder, lo, step float32) bool {
	a := float64(lo)
	for k := range l.Len() {
		product := float64(step) * float64(k) // exactly, as the number has few bits
		sum := product + a
		if part := sum - product; (sum-part)-product != 0 || a-part != 0 || float32(sum) != l.Value(k) {
			return false
		}
	}
	return true
}
