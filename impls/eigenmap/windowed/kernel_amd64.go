//go:build amd64 && !noasm

package windowed

// unlikeVector computes distances of 16 features, in whole groups of four, and returns their
// number.
func unlikeVector(to []int32, a, b []int16) int {
	n := len(to) / 4
	if n > 0 {
		unlike256(&to[0], &a[:16][0], &b[:64*n][0], n)
	}
	return 4 * n
}

// bothVector is both for the weights that fill whole vectors.
func bothVector(to, x []float64, weights []float32, own float64) float64 {
	n := len(weights)
	if n == 0 {
		return 0
	}
	return both256(&to[:n][0], &x[:n][0], &weights[0], own, n/lanes)
}
