package labels

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting"
	"eccbench/internal/workloads/ecc/cells"
)

// OnDevice runs the method on an NVIDIA device (kernels/betti/betti_labels.cu).
func OnDevice(open resident.Opener) bench.Implementation[*betti.Image, betti.Numbers] {
	return counting.Method[*betti.Image, betti.Numbers]{
		Name: "labels-gpu", Open: open, Plan: plan, Read: betti.Read, Poisoned: betti.Poisoned,
		Method: "resident image; union-find of voxels by labels of 4 bytes; χ from the eight voxels around each vertex",
		Source: "Komura 2015, Playne and Hawick 2018",
	}
}

// plan rejects an image with more voxels than there are labels.
func plan(in *betti.Image) (counting.Plan, error) {
	s := in.Shape()
	n := s.Voxels()
	if n > math.MaxUint32-1 || max(s.D, s.H, s.W) >= math.MaxInt32 {
		return counting.Plan{}, fmt.Errorf("%v: %d voxels, and labels of 4 bytes distinguish at most %d; use duality-gpu",
			s, n, uint32(math.MaxUint32-1))
	}
	const block, mostBlocks = 256, 1 << 16
	d, h, w := cells.Stack(s)
	blocks := min((n+block-1)/block, mostBlocks)
	return counting.Plan{
		Module: "betti_labels", What: "the resident image with a label for each voxel", Counts: counting.SumCounts,
		Scratch: []counting.Scratch{{Name: "labels", Bytes: 4 * (n + 1)}},
		Launches: func(m counting.Memory) []counting.Launch {
			labels := m.Scratch[0]
			of := []any{m.Image, int32(w), int32(h), int32(d), counting.Limit(in.Type(), in.Threshold), labels}
			kernel := func(what string, args ...any) counting.Launch {
				return counting.Launch{Kernel: "betti_labels_" + what, Blocks: blocks, Threads: block, Args: args}
			}
			flatten := kernel("flatten", labels, n+1)
			return []counting.Launch{
				kernel(fmt.Sprintf("begin_%v", in.Type()), of...), flatten, kernel(fmt.Sprintf("link_%v", in.Type()), of...),
				flatten,
				kernel(fmt.Sprintf("count_%v", in.Type()), append(of, m.Counts)...),
			}
		},
	}, nil
}
