// Package definition computes Betti numbers by their definition: from the ranks of the boundary
// matrices of the cell complex, over two fields. It is the reference for small images.
package definition

import (
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
)

// voxelNS and voxelBytes are the estimated time and memory per voxel.
const (
	voxelNS    = 100_000
	voxelBytes = 4000
)

// most is the largest number of voxels, because elimination fills matrices.
const most = 1 << 15

// fields returns the orders of the fields. Torsion of order 2 would make the ranks differ.
func fields() [2]int64 { return [2]int64{2, 1<<31 - 1} }

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("definition",
		"ranks of boundary matrices over the fields of 2 and 2³¹ − 1 elements; small images; one core",
		"the definition")
}

// CanDo rejects an image with too many cells.
func (Implementation) CanDo(in *betti.Image, c bench.Conditions) error {
	n := in.Shape().Voxels()
	if n > most {
		return fmt.Errorf("%d voxels: matrices are for at most %d", n, most)
	}
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9), "%d voxels × %d µs", n, voxelNS/1000); err != nil {
		return err
	}
	return c.AllowMemory(n*voxelBytes, "%d bytes for each of %d voxels", voxelBytes, n)
}

// Setup allocates nothing, because Do builds the matrices each time.
func (Implementation) Setup(in *betti.Image, _ bench.Conditions) (bench.Job[betti.Numbers], error) {
	return &job{in: in, Output: bench.PoisonedBy(betti.Poisoned)}, nil
}

type job struct {
	in *betti.Image
	bench.Output[betti.Numbers]
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("read")
	data := grid.NewBuffer(j.in.Shape().Voxels())
	if err := j.in.Binary().ReadSlab(data, 0, j.in.Shape().Slices()); err != nil {
		return err
	}
	end()
	defer trace.Span("ranks")()
	s := j.in.Shape()
	c := newComplex(s.D, s.H, s.W, func(z, y, x int64) bool { return data[(z*s.H+y)*s.W+x] == 0 })
	n, err := c.numbers()
	if err != nil {
		return err
	}
	j.Last = n
	return nil
}
