// Package vectors has the vector instructions that make generated images and survey values.
package vectors

import (
	"math"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// Filters are the functions of an instruction set that compute Gaussian random fields. Their n is
// the number of vectors that they write. A nil push means that the set has none of them.
type Filters struct {
	Bytes        int64 // of a vector
	Turn         int64 // voxels of counts
	Counts       func(dst *uint16, s *uint32, first uint32, turns int)
	CountBytes   func(dst *uint8, s *uint32, first uint32, turns int)
	Weigh        func(dst *uint16, src, weights *uint8, n int)
	Add16        func(dst, a, b *uint16, n int)
	Add32        func(dst, a, b *uint32, n int)
	Widen16to32  func(dst *uint32, src *uint16, n int)
	Widen16to64  func(dst *uint64, src *uint16, n int)
	Widen32to64  func(dst *uint64, src *uint32, n int)
	Push         func(to, line, old0, sum0, old1, sum1, old2, sum2 *uint64, n int)
	PushPairs    func(to *uint32, line, old0, sum0, old1, sum1, old2 *uint16, sum2 *uint32, n int)
	Quantise     func(dst, sums *uint32, n int, base, most, factor, top uint32, zero, down, up uint64, near uint32) uint32
	QuantiseWide func(dst *uint32, sums *uint64, n int, base, most, factor, zero, drop, down, up uint64, top,
		near uint32) uint32
	PutBytes   func(dst *uint8, levels *uint32, n int)
	PutPairs   func(dst *uint16, levels *uint32, n int, shift uint32)
	PutSingles func(dst *float32, levels *uint32, n int, lo, step float32)
	PutDoubles func(dst *float32, levels *uint32, n int, lo, step float64)
}

// Vectors returns the number of vectors for n numbers of a size in bytes.
func (f *Filters) Vectors(n, size int64) int { return int(grid.CeilDiv(n*size, f.Bytes)) }

// Available lists the instruction sets of this program on this machine, the fastest first.
func Available() []string { return isa.Available(assembled) }

// Fastest returns the first of Available.
func Fastest() string { return Available()[0] }

// Set are the functions of an instruction set. Each makes voxels of a row in turns of a fixed
// size, from the block with counter first on, and writes every turn completely.
type Set struct {
	Turn    int64
	Filters Filters
	Bytes   func(dst *uint8, s *uint32, first uint32, turns int, levels uint32)
	Pairs   func(dst *uint16, s *uint32, first uint32, turns int, levels, shift uint32)
	Singles func(dst *float32, s *uint32, first uint32, turns int, levels uint32, lo, step float32)
	Doubles func(dst *float32, s *uint32, first uint32, turns int, levels uint32, lo, step float64)
	spread  func(to, values *float32, n int)
}

// MaxTurn is the largest turn of all instruction sets.
const MaxTurn = 128

// Extremes returns the least and the greatest of one or more values, and whether all are finite.
func (v *Set) Extremes(values []float32) (lo, hi float32, finite bool) {
	const infinity = 0x7f800000
	lo, hi, finite = values[0], values[0], true
	if lanes := int(v.Filters.Bytes) / 4; lanes > 0 && len(values) >= lanes {
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
