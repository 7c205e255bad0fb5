// Package plain counts voxels one by one. It is the definition.
package plain

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// nsPerVoxel is the cost of a voxel, for the estimate that a rejection reports.
const nsPerVoxel = 5

// Implementation needs no fields.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("plain", "one voxel after the other, one core", "the definition")
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
	need := 4*in.Shape().SliceVoxels() + 8*in.Ladder().Len() + grid.SliceBytes(in)
	return c.AllowMemory(need, "a slice and %d levels", in.Ladder().Len())
}

// Setup allocates the memory of Do.
func (Implementation) Setup(in grid.Source, _ bench.Conditions) (bench.Job[[]int64], error) {
	return &job{
		in:      in,
		convert: grid.NewConverter(in.Type(), in.Ladder()),
		slice:   grid.NewBuffer(grid.SliceBytes(in)),
		levels:  make([]int32, in.Shape().SliceVoxels()),
		counts:  make([]int64, in.Ladder().Len()+1),
	}, nil
}

type job struct {
	in      grid.Source
	convert grid.Converter
	slice   []byte
	levels  []int32 // of the voxels of a slice
	counts  []int64 // of the voxels of each level, and of those above all
}

// Do counts the image again.
func (j *job) Do(*bench.Trace) error {
	clear(j.counts)
	for z := range j.in.Shape().Slices() {
		if err := j.in.ReadSlab(j.slice, z, z+1); err != nil {
			return err
		}
		j.convert.Convert(j.levels, j.slice)
		for _, l := range j.levels {
			j.counts[l]++
		}
	}
	return nil
}

// Poison overwrites the counts, so that a Do without effect is detected.
func (j *job) Poison() {
	bench.PoisonEach(j.counts)
}

// Out returns the counts.
func (j *job) Out() ([]int64, error) { return j.counts, nil }

// Close does nothing: all memory is garbage collected.
func (j *job) Close() error { return nil }
