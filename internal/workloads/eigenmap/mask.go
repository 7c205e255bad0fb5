package eigenmap

import (
	"cmp"
	"math"
	"slices"
)

// Signed returns a vector with a fixed sign: its number of largest magnitude, the first of several,
// is positive. In a cut into a small and a large part, this number is in the small part.
func Signed(x []float64) []float64 {
	top := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(top) {
			top = v
		}
	}
	out := slices.Clone(x)
	if top < 0 {
		scale(out, -1)
	}
	return out
}

// Nodewise returns the segmentation: the nodes where the second vector is positive, with its sign
// fixed. Without a second vector it is empty.
func (p *Problem) Nodewise(m Map) []bool {
	in := make([]bool, p.Nodes().Voxels())
	if p.K > 1 {
		for i, v := range Signed(m.Vectors[1]) {
			in[i] = v > 0
		}
	}
	return in
}

// Voxelwise assigns the value of each node to its voxels, row-major. Voxels behind the last patch
// have its value.
func Voxelwise[T any](p *Problem, nodes []T) []T {
	if p.Kind == Grid {
		return nodes
	}
	s, n := p.Shape(), p.Nodes()
	out := make([]T, s.Voxels())
	deep := int64(1)
	if s.D > 1 {
		deep = p.Side
	}
	for i := range out {
		z, y, x := s.Coordinates(int64(i))
		z, y, x = min(z/deep, n.D-1), min(y/p.Side, n.H-1), min(x/p.Side, n.W-1)
		out[i] = nodes[(z*n.H+y)*n.W+x]
	}
	return out
}

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
