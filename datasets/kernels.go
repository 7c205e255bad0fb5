package datasets

import (
	"eccbench/internal/grid"
	"eccbench/internal/isa"
	"math"
	"slices"
)

// filters are the functions of an instruction set that compute Gaussian random fields. Their n is
// the number of vectors that they write. A nil push means that the set has none of them.
type filters struct {
	bytes        int64 // of a vector
	turn         int64 // voxels of counts
	counts       func(dst *uint16, s *uint32, first uint32, turns int)
	countBytes   func(dst *uint8, s *uint32, first uint32, turns int)
	weigh        func(dst *uint16, src, weights *uint8, n int)
	add16        func(dst, a, b *uint16, n int)
	add32        func(dst, a, b *uint32, n int)
	widen16to32  func(dst *uint32, src *uint16, n int)
	widen16to64  func(dst *uint64, src *uint16, n int)
	widen32to64  func(dst *uint64, src *uint32, n int)
	push         func(to, line, old0, sum0, old1, sum1, old2, sum2 *uint64, n int)
	pushPairs    func(to *uint32, line, old0, sum0, old1, sum1, old2 *uint16, sum2 *uint32, n int)
	quantise     func(dst, sums *uint32, n int, base, most, factor, top uint32, zero, down, up uint64, near uint32) uint32
	quantiseWide func(dst *uint32, sums *uint64, n int, base, most, factor, zero, drop, down, up uint64, top, near uint32) uint32
	putBytes     func(dst *uint8, levels *uint32, n int)
	putPairs     func(dst *uint16, levels *uint32, n int, shift uint32)
	putSingles   func(dst *float32, levels *uint32, n int, lo, step float32)
	putDoubles   func(dst *float32, levels *uint32, n int, lo, step float64)
}

// vectors returns the number of vectors for n numbers of a size in bytes.
func (f *filters) vectors(n, size int64) int { return int(grid.CeilDiv(n*size, f.bytes)) }

// available lists the instruction sets of this program on this machine, the fastest first.
func available() []string { return isa.Available(assembled) }

func fastest() string { return available()[0] }

// vectors are the functions of an instruction set. Each makes voxels of a row in turns of a fixed
// size, from the block with counter first on, and writes every turn completely.
type vectors struct {
	turn    int64
	filters filters
	bytes   func(dst *uint8, s *uint32, first uint32, turns int, levels uint32)
	pairs   func(dst *uint16, s *uint32, first uint32, turns int, levels, shift uint32)
	singles func(dst *float32, s *uint32, first uint32, turns int, levels uint32, lo, step float32)
	doubles func(dst *float32, s *uint32, first uint32, turns int, levels uint32, lo, step float64)
	spread  func(to, values *float32, n int)
}

// maxTurn is the largest turn of all instruction sets.
const maxTurn = 128

// extremes returns the least and the greatest of one or more values, and whether all are finite.
func (v *vectors) extremes(values []float32) (lo, hi float32, finite bool) {
	const infinity = 0x7f800000
	lo, hi, finite = values[0], values[0], true
	if lanes := int(v.filters.bytes) / 4; lanes > 0 && len(values) >= lanes {
		of := make([]float32, 3*lanes)
		copy(of, values[:lanes])
		copy(of[lanes:2*lanes], values)
		whole := len(values) / lanes
		v.spread(&of[0], &values[0], whole)
		lo, hi = slices.Min(of[:lanes]), slices.Max(of[lanes:2*lanes])
		for _, far := range of[2*lanes:] {
			finite = finite && math.Float32bits(far) < infinity
		}
		values = values[whole*lanes:]
	}
	for _, v := range values {
		if math.Float32bits(v)&infinity == infinity {
			finite = false
		}
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi, finite
}
