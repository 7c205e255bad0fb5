package gvf

// An Axis is the cells of a multigrid solver's level along one axis, side by side.
type Axis struct {
	Width, Pos []float64 // the width of each cell, in voxels, and the position of its middle
	Link       []float64 // μ / distance between the middles of cells i−1 and i; 0 at both ends
}

// FinestAxis returns the axis of n voxels. If the neighbour beyond the border is the voxel before
// it, cells of half width at the border make the operator symmetric.
func FinestAxis(n int64, mu float64, boundary Boundary) Axis {
	a := newAxis(n)
	for i := range a.Width {
		a.Width[i], a.Pos[i] = 1, float64(i)
		if i > 0 {
			a.Link[i] = mu
		}
	}
	if boundary == Third && n > 1 {
		a.Width[0], a.Width[n-1] = 0.5, 0.5
	}
	return a
}

func newAxis(n int64) Axis {
	return Axis{make([]float64, n), make([]float64, n), make([]float64, n+1)}
}

// Coarser returns the axis whose cells are pairs of cells; an odd last cell is a pair alone. A cell
// is interpolated from the pair that contains it, with weight near, and from the neighbouring pair
// on its side, with weight far.
func (a Axis) Coarser(mu float64) (c Axis, near, far []float64) {
	n := len(a.Width)
	c = newAxis(int64(n+1) / 2)
	for i, w := range a.Width {
		c.Width[i/2] += w
		c.Pos[i/2] += w * a.Pos[i]
	}
	for i, w := range c.Width {
		if c.Pos[i] /= w; i > 0 {
			c.Link[i] = mu / (c.Pos[i] - c.Pos[i-1])
		}
	}
	near, far = make([]float64, n), make([]float64, n)
	for i, at := range a.Pos {
		if other := i/2 - 1 + i%2*2; other >= 0 && other < len(c.Width) {
			far[i] = (at - c.Pos[i/2]) / (c.Pos[other] - c.Pos[i/2])
		}
		near[i] = 1 - far[i]
	}
	return c, near, far
}
