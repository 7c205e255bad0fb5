package labels

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting"
	"eccbench/internal/workloads/ecc"
)

// OnDevice runs the method on an NVIDIA device (kernels/betti/betti_labels.cu).
func OnDevice(open resident.Opener) bench.Implementation[*betti.Image, betti.Numbers] {
	return counting.Method[*betti.Image, betti.Numbers]{
		Name: "labels-gpu", Open: open, Plan: plan, Read: betti.Read, Poisoned: betti.Poisoned,
		Method: "resident image; a label of 4 bytes for every voxel, set to a neighbour's, flattened and joined at the roots, counted with χ by the eight voxels around each vertex",
		Source: "Komura 2015, Playne and Hawick 2018",
	}
}

// OpenBatch loads the kernels for images of other programs, at some thresholds.
func OpenBatch(d device.Guest, s grid.Shape, t grid.Type, thresholds []float32, above bool) (*counting.Batch, error) {
	p, err := planOf(s, t, counting.Limits(t, thresholds...))
	if err != nil {
		return nil, err
	}
	return counting.OpenBatch(d, p, s.Voxels()*t.Size(), int64(len(thresholds)), above)
}

func plan(in *betti.Image) (counting.Plan, error) {
	return planOf(in.Shape(), in.Type(), counting.Limits(in.Type(), in.Threshold))
}

// planOf rejects images with more voxels than there are labels.
func planOf(s grid.Shape, t grid.Type, limits counting.Table) (counting.Plan, error) {
	n := s.Voxels()
	if n > math.MaxUint32-1 || max(s.D, s.H, s.W) >= math.MaxInt32 {
		return counting.Plan{}, fmt.Errorf("%v: %d voxels, of which labels of 4 bytes tell %d apart; take duality-gpu", s, n, uint32(math.MaxUint32-1))
	}
	const block, mostBlocks = 256, 1 << 16
	d, h, w := ecc.Stack(s)
	blocks := min((n+block-1)/block, mostBlocks)
	return counting.Plan{
		Module: "betti_labels", What: "the resident image with a label for each voxel", Counts: counting.SumCounts,
		Tables: []counting.Table{limits}, Scratch: []counting.Scratch{{Name: "labels", Bytes: 4 * (n + 1)}},
		Launches: func(m counting.Memory) []counting.Launch {
			labels := m.Scratch[0]
			of := append(m.Arguments(w, h, d), labels)
			kernel := func(what string, args ...any) counting.Launch {
				return counting.Launch{Kernel: "betti_labels_" + what, Blocks: blocks, Threads: block, Args: args}
			}
			flatten := kernel("flatten", labels, n+1)
			return []counting.Launch{
				kernel(fmt.Sprintf("begin_%v", t), of...), flatten, kernel(fmt.Sprintf("link_%v", t), of...), flatten,
				kernel(fmt.Sprintf("count_%v", t), append(of, m.Counts)...),
			}
		},
	}, nil
}
