// Package cells adds up the cells of an image, one by one: a cell has the least value
// of the voxels that contain it, and changes the curve there by (−1)^dimension.
package cells

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

// nsPerVoxel is what one voxel costs, for the estimate in a refusal.
const nsPerVoxel = 200

// Implementation is ready to use; what a device or a test needs would be its fields.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name:   "cells",
		Where:  "cpu",
		Method: "every cell looked at by itself, one core",
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
	need := 4*n + 8*in.Ladder().Len() + grid.SliceBytes(in)
	return c.AllowMemory(need, "4 bytes for each of %d voxels, 8 for each level", n)
}

// Setup allocates all that Do needs.
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

// Do does all the work again: a source in memory and one that streams are read alike.
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
	// Twice the coordinates: odd ones are within a voxel, even ones between two.
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

// Poison overwrites what Out reads, so that a Do that does nothing is seen.
func (j *job) Poison() {
	for i := range j.changes {
		j.changes[i] = bench.Poison
	}
}

// Out gives the changes that are not 0, in order.
func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.changes), nil }

// Close frees what is not garbage collected: nothing.
func (j *job) Close() error { return nil }
