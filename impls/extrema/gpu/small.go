package gpu

import (
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

// smallVoxels is the size of images for which the fixed cost of a launch matters. The kernels for
// small images (kernels/ecc/extrema_small.h) took 36 µs at 256³ on an H200, the others 42 µs.
const smallVoxels = 1 << 24

// A smallShare is the division of a small image: one block per multiprocessor.
type smallShare struct{ segment, blocks, warps int64 }

// smallWarps is the number of warps per block for which a multiprocessor has registers.
const smallWarps = 12

// smallInfix returns the part of a kernel's name for small images of a shape.
func smallInfix(s grid.Shape) string {
	if s.W <= columns {
		return "_small_narrow"
	}
	return "_small"
}

// shareSmall gives each warp one part, with the shortest possible segment.
func shareSmall(s grid.Shape, sms int64) smallShare {
	n, _, _ := cells.Stack(s)
	most := sms * smallWarps
	for segment := int64(2); ; segment++ {
		parts := parts(s, segment, 2, s.W <= columns)
		if parts > most && segment < n {
			continue
		}
		blocks := min(sms, parts)
		return smallShare{segment, blocks, min(smallWarps, (parts+blocks-1)/blocks)}
	}
}
