package ecc

import "eccbench/internal/grid"

// Enumerate computes the curve from the definition, cell by cell: each cell of the cubical complex
// counts at the lowest level of the voxels that contain it. It is slow and meant for small images.
//
// Cells are the points of a grid of (2D+1) × (2H+1) × (2W+1). The dimension of a cell is its number
// of odd coordinates; a voxel has three. A cell is a face of the voxels at distance at most one
// along its even coordinates. Enumerate shares no code with any implementation, not even the
// conversion to levels.
func Enumerate(f *grid.Field) VCEC {
	d, h, w := int(f.Shape().D), int(f.Shape().H), int(f.Shape().W)
	levels := make([]int64, 0, f.Shape().Voxels())
	for _, v := range f.Floats() {
		levels = append(levels, f.Ladder().Level(v))
	}
	changes := make([]int64, f.Ladder().Len())
	deep := 2 * d
	if d == 1 {
		deep = 0 // a 2D image has no third coordinate
	}
	for z := range deep + 1 {
		for y := range 2*h + 1 {
			for x := range 2*w + 1 {
				lowest := f.Ladder().Len()
				for vz := max(0, (z-1)/2); vz <= min(d-1, z/2); vz++ {
					for vy := max(0, (y-1)/2); vy <= min(h-1, y/2); vy++ {
						for vx := max(0, (x-1)/2); vx <= min(w-1, x/2); vx++ {
							lowest = min(lowest, levels[(vz*h+vy)*w+vx])
						}
					}
				}
				changes[lowest] += int64(1 - 2*((z+y+x)&1))
			}
		}
	}
	return FromDense(changes)
}
