package ecctest

import (
	"math/bits"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// EnumerateIn is the changes of an image in a convention by its definition: cell by cell,
// each with the voxels that it is of. It takes 8 steps a voxel and more.
func EnumerateIn(f *grid.Field, c ecc.Convention) ecc.VCEC {
	n, h, w := f.Shape().D, f.Shape().H, f.Shape().W
	axes := []int{0, 1, 2}
	if f.Shape().Dim() == 2 {
		axes = []int{1, 2}
	}
	values := f.Floats()
	changes := make([]int64, f.Ladder().Len())
	// Along a periodic axis the first voxels repeat after the last ones, and none come before.
	begin := map[bool]int64{false: -1, true: 0}
	for z := begin[c.Periodic.Z]; z < n; z++ {
		for y := begin[c.Periodic.Y]; y < h; y++ {
			for x := begin[c.Periodic.X]; x < w; x++ {
				for set := range 1 << len(axes) { // of the axes that the cell of the point is thin along
					inside, best := 0, int64(0)
					for part := range 1 << len(axes) {
						if part&^set != 0 {
							continue
						}
						p := [3]int64{z, y, x}
						for i, axis := range axes {
							p[axis] += int64(part >> i & 1)
						}
						for axis, ring := range []bool{c.Periodic.Z, c.Periodic.Y, c.Periodic.X} {
							if ring {
								p[axis] %= []int64{n, h, w}[axis]
							}
						}
						if p[0] < 0 || p[0] >= n || p[1] < 0 || p[1] >= h || p[2] < 0 || p[2] >= w {
							continue
						}
						level := f.Ladder().Level(values[(p[0]*h+p[1])*w+p[2]])
						if level == f.Ladder().Len() { // no part of the image
							continue
						}
						greatest := c.Vertices != c.Superlevel
						if inside == 0 || greatest && level > best || !greatest && level < best {
							best = level
						}
						inside++
					}
					dim := len(axes) - bits.OnesCount(uint(set))
					if c.Vertices {
						dim = bits.OnesCount(uint(set))
						if inside < 1<<dim {
							continue
						}
					}
					if inside > 0 && best < int64(len(changes)) {
						changes[best] += 1 - 2*int64(dim%2)
					}
				}
			}
		}
	}
	return ecc.FromDense(changes)
}

// Conventions are all there are of images whose axes end.
func Conventions() (list []ecc.Convention) {
	for i := range 4 {
		list = append(list, ecc.Convention{Vertices: i&1 > 0, Superlevel: i&2 > 0})
	}
	return list
}

// Periodic are the conventions of images of a shape with rings along some axes.
func Periodic(s grid.Shape) (list []ecc.Convention) {
	for _, c := range Conventions() {
		for i := 1; i < 8; i++ {
			c.Periodic = grid.Axes{X: i&1 > 0, Y: i&2 > 0, Z: i&4 > 0}
			if c.Periodic.Check(s) == nil {
				list = append(list, c)
			}
		}
	}
	return list
}
