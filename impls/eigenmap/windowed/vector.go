package windowed

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

func dot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(b), Inc: 1, Data: b})
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

func scale(a []float64, by float64) {
	for i := range a {
		a[i] *= by
	}
}

func axpy(by float64, x, to []float64) {
	blas64.Axpy(by, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(to), Inc: 1, Data: to})
}
