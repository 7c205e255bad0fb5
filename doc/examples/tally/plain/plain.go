// Package plain counts the voxels of each level one after the other: the definition.
package plain

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// nsPerVoxel is what one voxel costs, for the estimate in a refusal.
const nsPerVoxel = 5

// Implementation is ready to use.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name:   "plain",
		Where:  "cpu",
		Method: "one voxel after the other, one core",
		Source: "the definition",
		Scopes: []bench.Scope{bench.E2E, bench.File},
	}
}

// CanDo refuses ladders without a table of levels, and what takes more time or memory than the conditions allow.
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

// Setup allocates all that Do needs.
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

// Do does all the work again.
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

// Poison overwrites what Out reads, so that a Do that does nothing is seen.
func (j *job) Poison() {
	for i := range j.counts {
		j.counts[i] = bench.Poison
	}
}

// Out returns the counts.
func (j *job) Out() ([]int64, error) { return j.counts, nil }

// Close frees what is not garbage collected: nothing.
func (j *job) Close() error { return nil }
