package gpu

import (
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// Of an image of at most so many voxels, what a launch begins and ends with is a good
// part of it (kernels/ecc/extrema_small.h): at 256³ the kernels for small images took 36 µs
// where the others took 42, measured on an H200.
const smallVoxels = 1 << 24

// A smallShare is how a small image is shared out: a block for each multiprocessor.
type smallShare struct{ segment, blocks, warps int64 }

// smallWarps is how many warps of a block a multiprocessor has registers for.
const smallWarps = 12

// shareSmall gives each warp one part, as short as that allows.
func shareSmall(s grid.Shape, sms int64) (share smallShare, method string) {
	narrow := s.W <= columns
	method = "extrema_small"
	if narrow {
		method += "_narrow"
	}
	n, _, _ := ecc.Stack(s)
	most := sms * smallWarps
	for segment := int64(2); ; segment++ {
		parts := parts(s, segment, 2, narrow)
		if parts > most && segment < n {
			continue
		}
		blocks := min(sms, parts)
		return smallShare{segment, blocks, min(smallWarps, (parts+blocks-1)/blocks)}, method
	}
}
