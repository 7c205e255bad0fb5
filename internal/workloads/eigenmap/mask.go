package eigenmap

import (
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
