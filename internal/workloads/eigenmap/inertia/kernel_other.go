//go:build !amd64 || noasm

package inertia

// assembled reports whether this program has vector instructions.
const assembled = false

func lessVector([]float64, int, []float64, int, []float64, int, int, int, int) {}

func substituteVector([]float64, int, *[block * block]float64, *[block]float64) {}
