//go:build amd64 && !noasm

package eigenmap

// assembled reports whether this program has vector instructions.
const assembled = true

// weighVector computes weights, a multiple of eight, of patches. pairs has their features in rows
// of row patches.
func weighVector(to []float64, pairs []int32, row int, own []int32, apart []float64, beside, byFeature float64) {
	n := len(to)
	if n == 0 {
		return
	}
	_ = pairs[(len(own)-1)*row:][:n]
	weigh256(&to[0], &pairs[0], 4*row, &own[0], len(own), &apart[:n][0], beside, byFeature, n/lanes)
}

func flowVector(u, weights []float64, own float64) (sum, energy float64) {
	if n := len(weights); n > 0 {
		return flow256(&u[:n][0], &weights[0], own, n/lanes)
	}
	return 0, 0
}

func productVector(x []float64, weights []float32) float64 {
	if n := len(weights); n > 0 {
		return product256(&x[:n][0], &weights[0], n/lanes)
	}
	return 0
}
