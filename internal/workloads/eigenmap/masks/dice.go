package masks

import (
	"cmp"
	"slices"
)

// Dice returns twice the size of the intersection of two sets divided by the sum of their sizes, or
// 1 for two empty sets.
func Dice(a, b []bool) float64 {
	both, sizes := 0, 0
	for i, in := range a {
		if in {
			sizes++
		}
		if b[i] {
			sizes++
		}
		if in && b[i] {
			both++
		}
	}
	if sizes == 0 {
		return 1
	}
	return 2 * float64(both) / float64(sizes)
}

// BestThreshold returns the greatest Dice of a truth and a set above or below a threshold. It
// bounds plain thresholding, because it uses the truth.
func BestThreshold[T float32 | float64](values []T, truth []bool) (dice float64, threshold T, above bool) {
	order := make([]int, len(values))
	size := 0
	for i := range order {
		order[i] = i
		if truth[i] {
			size++
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	below := 0 // voxels of the truth below the threshold
	for k, i := range order {
		// The set from here on.
		if k == 0 || values[i] != values[order[k-1]] {
			if d := 2 * float64(size-below) / float64(size+len(order)-k); d > dice {
				dice, threshold, above = d, values[i], true
			}
		}
		if truth[i] {
			below++
		}
		// The set up to here.
		if k == len(order)-1 || values[i] != values[order[k+1]] {
			if d := 2 * float64(below) / float64(size+k+1); d > dice {
				dice, threshold, above = d, values[i], false
			}
		}
	}
	return dice, threshold, above
}
