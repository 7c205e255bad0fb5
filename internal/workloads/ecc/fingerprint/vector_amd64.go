//go:build amd64 && !noasm

package fingerprint

import (
	"math"
	"unsafe"

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

// turnVectorsOf are the vector instructions for turning points of a type, of the least values
// or of the greatest, and what looks up those of bytes.
func turnVectorsOf(name string, t grid.Type, greatest bool) (v turnVectors, lookUp lookUps, ok bool) {
	var all map[grid.Type][2]turnVectors
	switch {
	case name == isa.AVX512 && isa.Bytes():
		lookUp = lookUps{alternateavx512, alternatelineavx512, alternateformsavx512, alternatepairsavx512}
		all = map[grid.Type][2]turnVectors{
			grid.Uint8:  {{bytesvolumeleastavx512, bytesarealeastavx512}, {bytesvolumegreatestavx512, bytesareagreatestavx512}},
			grid.Uint16: {{pairsvolumeleastavx512, pairsarealeastavx512}, {pairsvolumegreatestavx512, pairsareagreatestavx512}},
			grid.Int16:  {{signedvolumeleastavx512, signedarealeastavx512}, {signedvolumegreatestavx512, signedareagreatestavx512}},
		}
	case name == isa.AVX2:
		lookUp = lookUps{forms: alternateformsavx2}
		all = map[grid.Type][2]turnVectors{
			grid.Uint8:  {{bytesvolumeleastavx2, bytesarealeastavx2}, {bytesvolumegreatestavx2, bytesareagreatestavx2}},
			grid.Uint16: {{pairsvolumeleastavx2, pairsarealeastavx2}, {pairsvolumegreatestavx2, pairsareagreatestavx2}},
			grid.Int16:  {{signedvolumeleastavx2, signedarealeastavx2}, {signedvolumegreatestavx2, signedareagreatestavx2}},
		}
	default:
		return v, lookUp, false
	}
	v = all[t][0]
	if greatest {
		v = all[t][1]
	}
	if name == isa.AVX2 {
		v = ofLongRows(v, turnsInGo(t, greatest), int(32/t.Size()))
	}
	return v, lookUp, true
}

// ofLongRows has short take rows of so many columns and fewer.
func ofLongRows(long, short turnVectors, columns int) turnVectors {
	of := func(n int) turnVectors {
		if n <= columns {
			return short
		}
		return long
	}
	return turnVectors{
		volume: func(below, above *byte, stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int {
			return of(columns).volume(below, above, stride, columns, rows, to, apart, full, counts)
		},
		area: func(below *byte, stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int {
			return of(columns).area(below, stride, columns, rows, to, apart, full, counts)
		},
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

// multiplying gives the weights of float32 values on the ladder of every float32.
func multiplying(name string) func(dst, table *uint64, src *byte, n, ahead int) int {
	switch {
	case name == isa.Portable:
		return nil
	case name == isa.AVX512 && isa.Bytes():
		return everyOfBytes
	}
	return everyavx2
}

// everyOfBytes looks up whole groups, of which the last one begins where it ends with the last value.
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

// exactly is the wish for values that are levels' own, beside the last level.
const exactly = 1 << 32

// onLadder looks up the weights of float32 values on an affine ladder, in float32 where
// that gives every level exactly, with a wish; nil for other ladders.
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

// levelVectorsOf are the vector instructions for tiles of levels.
func levelVectorsOf(name string) levelVectors {
	if name != isa.AVX512 || !isa.Bytes() {
		return levelVectors{}
	}
	return levelVectors{levelsvolumeavx512, levelsareaavx512, sumlevelsavx512}
}

// levelRowsOf turns values into levels with the bits of reverse turned: float32 on an affine ladder, 16 bits of which a
// ladder has consecutive ones. Both are nil for others.
func levelRowsOf(name string, t grid.Type, l grid.Ladder, reverse uint16) (fast, whole levelRows) {
	if name != isa.AVX512 || !isa.Bytes() {
		return nil, nil
	}
	lo, step, affine := l.Affinity()
	last, turned := uint64(l.Len()-1), uint64(reverse)
	switch {
	case t == grid.Float32 && affine:
		fused := fusedInFloat32(l, float32(lo), float32(step))
		of := func(wish uint64) levelRows {
			if fused {
				return func(dst *uint16, src *byte, n, rows, stride, apart int) int {
					return levelssingleavx512(dst, src, n, rows, stride, apart, float32(lo), float32(1/step), float32(step), float32(-lo/step), last|wish, turned)
				}
			}
			return func(dst *uint16, src *byte, n, rows, stride, apart int) int {
				return levelsdoubleavx512(dst, src, n, rows, stride, apart, lo, 1/step, step, last|wish, turned)
			}
		}
		return of(0), of(exactly)
	case t == grid.Int16 || t == grid.Uint16:
		first, consecutive := consecutive(t, l)
		if first -= least(t); !consecutive || first < 0 || first > math.MaxUint16 {
			return nil, nil
		}
		fast = func(dst *uint16, src *byte, n, rows, stride, apart int) int {
			return levelspairsavx512(dst, src, n, rows, stride, apart, uint64(-least(t)), uint64(first), last, turned)
		}
		return fast, nil // which no watcher is for
	}
	return nil, nil
}

// fusedInFloat32 reports whether one fused operation gives each level of an affine ladder: step times its number and lo,
// rounded once.
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
