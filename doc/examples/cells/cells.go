// Package cells counts the cells of an image one by one. A cell has the least value of the
// voxels that contain it, and changes the curve at that level by (−1)^dimension.
package cells

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

// nsPerVoxel is the cost of a voxel, for the estimate that a rejection reports.
const nsPerVoxel = 200

// Implementation needs no fields. An implementation on a device has its opener as a field.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("cells", "counts every cell separately, one core", "the definition")
}

// CanDo rejects ladders without a table of levels, and images that need more time or memory than
// the conditions allow.
func (Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	if err := in.Ladder().CheckIndexed(); err != nil {
		return err
	}
	n := in.Shape().Voxels()
	if err := c.Allow(quantity.Seconds(float64(n)*nsPerVoxel*1e-9), "%d voxels × %d ns", n, nsPerVoxel); err != nil {
		return err
	}
	need := 4*n + 8*in.Ladder().Len() + grid.SliceBytes(in)
	return c.AllowMemory(need, "4 bytes for each of %d voxels, 8 for each level", n)
}

// Setup allocates the memory of Do.
func (Implementation) Setup(in grid.Source, _ bench.Conditions) (bench.Job[ecc.VCEC], error) {
	return &job{
		in:      in,
		convert: grid.NewConverter(in.Type(), in.Ladder()),
		slice:   grid.NewBuffer(grid.SliceBytes(in)),
		levels:  make([]int32, in.Shape().Voxels()),
		changes: make([]int64, in.Ladder().Len()),
	}, nil
}

type job struct {
	in      grid.Source
	convert grid.Converter
	slice   []byte
	levels  []int32 // of each voxel
	changes []int64 // at each level
}

// Do counts the image again. It reads sources in memory and streamed sources in the same way.
func (j *job) Do(trace *bench.Trace) error {
	n, h, w := cells.Stack(j.in.Shape()) // slices, rows and columns; a 2D image has slices of one row
	end := trace.Span("read")
	for z := range n {
		if err := j.in.ReadSlab(j.slice, z, z+1); err != nil {
			return err
		}
		j.convert.Convert(j.levels[z*h*w:], j.slice)
	}
	end()
	defer trace.Span("count")()
	clear(j.changes)
	// Coordinates are doubled: odd ones are inside a voxel, even ones between two voxels.
	for z := range 2*n + 1 {
		for y := range 2*h + 1 {
			for x := range 2*w + 1 {
				level, change := int32(-1), int64(1)
				for _, odd := range []int64{z, y, x} {
					if odd%2 == 1 {
						change = -change
					}
				}
				for k := max(0, (z-1)/2); k <= min(n-1, z/2); k++ {
					for i := max(0, (y-1)/2); i <= min(h-1, y/2); i++ {
						for c := max(0, (x-1)/2); c <= min(w-1, x/2); c++ {
							if l := j.levels[(k*h+i)*w+c]; level < 0 || l < level {
								level = l
							}
						}
					}
				}
				j.changes[level] += change
			}
		}
	}
	return nil
}

// Poison overwrites the changes, so that a Do without effect is detected.
func (j *job) Poison() {
	bench.PoisonEach(j.changes)
}

// Out returns the nonzero changes in order.
func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.changes), nil }

// Close does nothing: all memory is garbage collected.
func (j *job) Close() error { return nil }
