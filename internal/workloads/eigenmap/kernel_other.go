//go:build !amd64 || noasm

package eigenmap

// assembled reports whether this program has vector instructions.
const assembled = false

func weighVector([]float64, []int32, int, []int32, []float64, float64, float64) {}

func flowVector([]float64, []float64, float64) (sum, energy float64) { return 0, 0 }

func productVector([]float64, []float32) float64 { return 0 }
