//go:build !amd64 || noasm

package windowed

func unlikeVector([]int32, []int16, []int16) int { return 0 }

func bothVector([]float64, []float64, []float32, float64) float64 { return 0 }
