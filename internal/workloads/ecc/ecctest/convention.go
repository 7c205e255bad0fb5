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
	for z := int64(-1); z < n; z++ {
		for y := int64(-1); y < h; y++ {
			for x := int64(-1); x < w; x++ {
				for set := range 1 << len(axes) { // of axes that the cell of the point is thin along
					inside, best := 0, int64(0)
					for part := range 1 << len(axes) {
						if part&^set != 0 {
							continue
						}
						p := [3]int64{z, y, x}
						for i, axis := range axes {
							p[axis] += int64(part >> i & 1)
						}
						if p[0] < 0 || p[0] >= n || p[1] < 0 || p[1] >= h || p[2] < 0 || p[2] >= w {
							continue
						}
						level := f.Ladder().Level(values[(p[0]*h+p[1])*w+p[2]])
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

// Conventions are all there are.
func Conventions() (list []ecc.Convention) {
	for i := range 4 {
		list = append(list, ecc.Convention{Vertices: i&1 > 0, Superlevel: i&2 > 0})
	}
	return list
}
