//go:build amd64 && !noasm

package windowed

import "eccbench/internal/isa"

// vectors reports whether there are vector instructions for the kernels.
func vectors() bool { return isa.Available(true)[0] != isa.Portable }

// unlikeVector sets as many distances of 16 features as are fours, and gives how many.
func unlikeVector(to []int32, a, b []int16) int {
	n := len(to) / 4
	if n > 0 {
		unlike256(&to[0], &a[:16][0], &b[:64*n][0], n)
	}
	return 4 * n
}
