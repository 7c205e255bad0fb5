package ecc

import (
	"runtime"
	"sync"

	"eccbench/internal/grid"
)

// Stack is the image that every count here looks at: the slices of a source as
// planes of H × W voxels. A 2D image is a stack of rows (H = 1), which is the
// same complex times an interval and has the same Euler characteristics.
func Stack(s grid.Shape) (n, h, w int64) {
	if s.D == 1 {
		return s.H, 1, s.W
	}
	return s.D, s.H, s.W
}

// Characteristic is the Euler characteristic of the sublevel set at a level by
// its definition: the cells of the cubical complex whose top cells are the
// voxels at or below the level, each counted once with the sign of its
// dimension (Wang et al. 2022, section 2.2, equation 1).
func Characteristic(s grid.Source, level int64) (int64, error) {
	n, h, w := Stack(s.Shape())
	convert := grid.NewConverter(s.Type(), s.Ladder())
	layers := n + 1 // of vertices: below, between and above the planes
	parts := min(layers, int64(runtime.GOMAXPROCS(0)))
	sums := make([]int64, parts)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() {
			c := newCounter(h, w)
			sums[p], errs[p] = c.layers(s, convert, level, n, layers*p/parts, layers*(p+1)/parts)
		})
	}
	wg.Wait()
	var chi int64
	for p := range parts {
		if errs[p] != nil {
			return 0, errs[p]
		}
		chi += sums[p]
	}
	return chi, nil
}

// CharacteristicOfLevels is Characteristic on an image of h × w planes whose
// voxels have been turned into levels, by one goroutine.
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

// A counter counts the cells between two planes of voxels. The planes have a
// border of voxels that are outside.
type counter struct {
	h, w         int64
	below, above []uint8 // 1 where the voxel is in the sublevel set
}

func newCounter(h, w int64) *counter {
	return &counter{h: h, w: w, below: make([]uint8, (h+2)*(w+2)), above: make([]uint8, (h+2)*(w+2))}
}

// layers counts the cells that start in vertex layers lo ≤ z < hi.
func (c *counter) layers(s grid.Source, convert grid.Converter, level, n, lo, hi int64) (int64, error) {
	slab := grid.NewBuffer(grid.SliceBytes(s))
	levels := make([]int32, c.h*c.w)
	read := func(z int64) error {
		if z < 0 || z >= n {
			clear(c.above)
			return nil
		}
		if err := s.ReadSlab(slab, z, z+1); err != nil {
			return err
		}
		convert.Convert(levels, slab)
		c.mark(levels, level)
		return nil
	}
	if err := read(lo - 1); err != nil {
		return 0, err
	}
	var chi int64
	for z := lo; z < hi; z++ {
		c.above, c.below = c.below, c.above
		if err := read(z); err != nil {
			return 0, err
		}
		chi += c.layer()
	}
	return chi, nil
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

// layer counts the cells that start in one vertex layer: at each vertex the
// vertex itself, the three edges, the three squares and the cube that leave it
// upwards. A cell is in the complex when any voxel that contains it is.
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
