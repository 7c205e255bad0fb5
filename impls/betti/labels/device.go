package labels

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting"
	"eccbench/internal/workloads/ecc"
)

// OnDevice does the same on an NVIDIA device (kernels/betti/betti_labels.cu).
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.About{
		Name: "labels-gpu", Where: "gpu",
		Method: "resident image; a label of 4 bytes for every voxel, set to a neighbour's, flattened and joined at the roots, counted with χ by the eight voxels around each vertex",
		Source: "Komura 2015, Playne and Hawick 2018",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E, bench.File},
	}
}

// CanDo refuses what has more voxels than labels have numbers, or does not fit the device.
func (o OnDevice) CanDo(in *betti.Image, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	s := in.Shape()
	if n := s.Voxels(); n > math.MaxUint32-1 || max(s.D, s.H, s.W) >= math.MaxInt32 {
		return fmt.Errorf("%v: %d voxels, of which labels of 4 bytes tell %d apart; take duality-gpu", s, n, uint32(math.MaxUint32-1))
	}
	return resident.Fits(d, counting.Bytes(in)+labelBytes(in), "the resident image with a label for each voxel")
}

func labelBytes(in *betti.Image) int64 { return 4 * (in.Shape().Voxels() + 1) }

// Setup loads the kernels and copies the image to the device.
func (o OnDevice) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	on, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	const block, mostBlocks = 256, 1 << 16
	d, h, w := ecc.Stack(in.Shape())
	blocks := min((in.Shape().Voxels()+block-1)/block, mostBlocks)
	j, err := counting.Open(on, in.Source, c, counting.Plan{
		Module:  "betti_labels",
		Scratch: []counting.Scratch{{Name: "labels", Bytes: labelBytes(in)}},
		Launches: func(image device.Buffer, scratch []device.Buffer, sums device.Buffer) []counting.Launch {
			labels := scratch[0]
			of := []any{image, int32(w), int32(h), int32(d), counting.Limit(in.Type(), in.Threshold), labels}
			kernel := func(what string, args ...any) counting.Launch {
				return counting.Launch{Kernel: "betti_labels_" + what, Blocks: blocks, Threads: block, Args: args}
			}
			flatten := kernel("flatten", labels, in.Shape().Voxels()+1)
			return []counting.Launch{
				kernel(fmt.Sprintf("begin_%v", in.Type()), of...), flatten, kernel(fmt.Sprintf("link_%v", in.Type()), of...), flatten,
				kernel(fmt.Sprintf("count_%v", in.Type()), append(of, sums)...),
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return deviceJob{j}, nil
}

type deviceJob struct{ *counting.Job }

var _ bench.DeviceJob = deviceJob{}

// Out is the numbers of the last sums.
func (j deviceJob) Out() (betti.Numbers, error) { return betti.Of(j.Sums()), nil }
