// Package algebra has the linear algebra of proofs about eigenpairs: vectors, band matrices with LDLᵀ, and
// a hierarchy of coarse graphs that preconditions the Laplacian of a graph.
package algebra

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"eccbench/internal/crew"
)

// FastDot returns the dot product by vector instructions; the order of additions is unspecified.
func FastDot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(b), Inc: 1, Data: b})
}

// AddTimes adds by times a to b by vector instructions.
func AddTimes(by float64, a, b []float64) {
	blas64.Axpy(by, blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(b), Inc: 1, Data: b})
}

// Sum adds in pairs, so that rounding grows with the logarithm of the length.
func Sum(list []float64) float64 {
	if len(list) <= 32 {
		s := 0.0
		for _, v := range list {
			s += v
		}
		return s
	}
	return Sum(list[:len(list)/2]) + Sum(list[len(list)/2:])
}

// Dot returns the dot product, added in pairs as Sum adds.
func Dot(a, b []float64) float64 {
	if len(a) <= 256 {
		s := 0.0
		for i, v := range a {
			s += v * b[i]
		}
		return s
	}
	h := len(a) / 2
	return Dot(a[:h], b[:h]) + Dot(a[h:], b[h:])
}

// Norm returns the length of a vector.
func Norm(a []float64) float64 { return math.Sqrt(Dot(a, a)) }

// Project makes x orthogonal to orthonormal vectors, twice.
func Project(x []float64, off [][]float64) {
	for range 2 {
		for _, y := range off {
			c := Dot(x, y)
			for i, v := range y {
				x[i] -= c * v
			}
		}
	}
}

// Tile is the number of elements of each vector that one step processes at a time, so that it reads
// memory once.
const Tile = 1 << 10

// Tiles calls f with the begin and end of each tile.
func Tiles(n int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += Tile {
		f(lo, min(lo+Tile, n))
	}
}

// PartSums returns n sums over all nodes, to which f adds the part of each tile, on all cores. The order of the
// additions does not depend on the number of cores.
func PartSums(nodes, n int, f func(lo, hi int, sums []float64)) []float64 {
	const parts, tile = 16, Tile / Systems
	var all [parts][]float64
	crew.Each(parts, func(k int) {
		all[k] = make([]float64, n)
		for lo, end := nodes*k/parts, nodes*(k+1)/parts; lo < end; lo += tile {
			f(lo, min(lo+tile, end), all[k])
		}
	})
	for _, own := range all[1:] {
		AddTimes(1, own, all[0])
	}
	return all[0]
}
