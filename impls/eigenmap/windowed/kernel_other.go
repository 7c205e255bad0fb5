//go:build !amd64 || noasm

package windowed

func vectors() bool { return false }

func unlikeVector([]int32, []int16, []int16) int { return 0 }
