package eigenmap

import (
	"math"
	"slices"
)

// Signed is a vector whose sign is fixed: its number that is farthest from 0, the first of several,
// is above 0. Of a cut into a small part and a large one that number is in the small one.
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

// Nodewise is the segmentation: the nodes where the second vector, with its sign fixed, is above 0;
// none where there is no second one.
func (p *Problem) Nodewise(m Map) []bool {
	in := make([]bool, p.Nodes().Voxels())
	if p.K > 1 {
		for i, v := range Signed(m.Vectors[1]) {
			in[i] = v > 0
		}
	}
	return in
}

// Voxelwise spreads what nodes have over the image's voxels, row-major: a patch's over its own, and
// what lies behind the last patch has what that one has.
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

// Dice is twice what two sets have in common over the sum of their sizes; 1 of two empty ones.
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

// BestThreshold is the greatest Dice that a set of all values from a threshold on, or of all up to
// one, has with a truth: what plain thresholding could do if it knew it.
func BestThreshold(values []float64, truth []bool) (dice, threshold float64, above bool) {
	order := make([]int, len(values))
	size := 0
	for i := range order {
		order[i] = i
		if truth[i] {
			size++
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	below := 0 // of the truth
	for k, i := range order {
		// All from here on.
		if k == 0 || values[i] != values[order[k-1]] {
			if d := 2 * float64(size-below) / float64(size+len(order)-k); d > dice {
				dice, threshold, above = d, values[i], true
			}
		}
		if truth[i] {
			below++
		}
		// All up to here.
		if k == len(order)-1 || values[i] != values[order[k+1]] {
			if d := 2 * float64(below) / float64(size+k+1); d > dice {
				dice, threshold, above = d, values[i], false
			}
		}
	}
	return dice, threshold, above
}
