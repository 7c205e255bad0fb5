// Package cells counts the cells of one sublevel set of an image, by the definition of the Euler characteristic.
// It knows no implementation and no curve.
package cells

import "eccbench/internal/grid"

// Stack returns the shape that every count here uses: the slices of a source as planes of h × w
// voxels. A 2D image becomes a stack of rows (h = 1). That is the same complex times an interval,
// so its Euler characteristics are the same.
func Stack(s grid.Shape) (n, h, w int64) {
	if s.D == 1 {
		return s.H, 1, s.W
	}
	return s.D, s.H, s.W
}

// CharacteristicOfLevels computes Characteristic for an image of h × w planes of level indices,
// cell by cell in one goroutine.
func CharacteristicOfLevels(levels []int32, h, w, level int64) int64 {
	c := newCounter(h, w)
	n := int64(len(levels)) / (h * w)
	var chi int64
	for z := int64(0); z <= n; z++ {
		if z < n {
			c.mark(levels[z*h*w:(z+1)*h*w], level)
		} else {
			clear(c.above)
		}
		chi += c.layer()
		c.above, c.below = c.below, c.above
	}
	return chi
}

// A counter counts the cells between two planes of voxels. The planes have a border of outside
// voxels.
type counter struct {
	h, w         int64
	below, above []uint8 // 1 where the voxel is in the sublevel set
}

func newCounter(h, w int64) *counter {
	return &counter{h: h, w: w, below: make([]uint8, (h+2)*(w+2)), above: make([]uint8, (h+2)*(w+2))}
}

// mark sets the upper plane to the voxels at or below the level.
func (c *counter) mark(levels []int32, level int64) {
	limit := int32(min(level, grid.MaxLevels))
	for y := range c.h {
		in := levels[y*c.w : (y+1)*c.w]
		out := c.above[(y+1)*(c.w+2)+1:][:len(in)]
		for x, k := range in {
			var inside uint8
			if k <= limit {
				inside = 1
			}
			out[x] = inside
		}
	}
}

// layer counts the cells that start in one vertex layer. At each vertex these are the vertex
// itself, and the three edges, three squares and one cube towards greater coordinates. A cell is in
// the complex if any voxel that contains it is in the set.
func (c *counter) layer() int64 {
	var chi int64
	stride := c.w + 2
	for y := range c.h + 1 {
		b0, b1 := c.below[y*stride:][:stride], c.below[(y+1)*stride:][:stride]
		a0, a1 := c.above[y*stride:][:stride], c.above[(y+1)*stride:][:stride]
		for x := range c.w + 1 {
			vertex := b0[x] | b0[x+1] | b1[x] | b1[x+1] | a0[x] | a0[x+1] | a1[x] | a1[x+1]
			edgeX := b0[x+1] | b1[x+1] | a0[x+1] | a1[x+1]
			edgeY := b1[x] | b1[x+1] | a1[x] | a1[x+1]
			edgeZ := a0[x] | a0[x+1] | a1[x] | a1[x+1]
			squareXY := b1[x+1] | a1[x+1]
			squareXZ := a0[x+1] | a1[x+1]
			squareYZ := a1[x] | a1[x+1]
			cube := a1[x+1]
			chi += int64(vertex) - int64(edgeX) - int64(edgeY) - int64(edgeZ) +
				int64(squareXY) + int64(squareXZ) + int64(squareYZ) - int64(cube)
		}
	}
	return chi
}
