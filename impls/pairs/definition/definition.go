// Package definition computes persistence pairs by their definition: the boundary matrix of the whole cell complex is
// reduced over the field of two elements, column by column. It is the reference for small images.
package definition

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// most is the largest number of voxels, because reductions fill matrices.
const most = 1 << 18

// estimate returns the time in nanoseconds and the memory in bytes per voxel of noise, which takes most.
func estimate(s grid.Shape) (ns, bytes int64) {
	if s.Dim() == 2 {
		return 10_000, 1500
	}
	return 300_000, 6500
}

// Implementation is ready to use as its zero value, for the default convention.
type Implementation struct{ Convention ecc.Convention }

// In returns the implementation for another convention.
func (Implementation) In(c ecc.Convention) pairs.Implementation { return Implementation{c} }

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("definition",
		"reduction of the boundary matrix of all cells over the field of 2 elements; small images; one core",
		"Edelsbrunner, Letscher, Zomorodian 2002, section 4")
}

// CanDo rejects an image with too many cells.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	n := in.Shape().Voxels()
	if n > most {
		return fmt.Errorf("%d voxels: matrices are for at most %d", n, most)
	}
	if err := pairs.Supported(in, i.Convention); err != nil {
		return err
	}
	ns, bytes := estimate(in.Shape())
	if err := c.Allow(time.Duration(n*ns), "%d voxels × %d µs", n, ns/1000); err != nil {
		return err
	}
	return c.AllowMemory(n*bytes, "%d bytes for each of %d voxels", bytes, n)
}

// Setup allocates nothing, because Do builds the matrices each time.
func (i Implementation) Setup(in grid.Source, _ bench.Conditions) (bench.Job[pairs.Answer], error) {
	return &job{in: in, convention: i.Convention, Output: bench.PoisonedBy(pairs.Poisoned())}, nil
}

type job struct {
	in         grid.Source
	convention ecc.Convention
	bench.Output[pairs.Answer]
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("read")
	times, err := pairs.ReadTimes(j.in, j.convention.Superlevel)
	if err != nil {
		return err
	}
	end()
	end = trace.Span("pairs")
	out := pairs.Answer{Pairs: newComplex(j.in.Shape(), times, j.convention.Vertices).pairs(times)}
	end()
	if j.in.Shape().Dim() == 3 {
		defer trace.Span("chains")()
		if out.Chains, err = newBox(j.in.Shape(), times, j.convention.Vertices).chains(); err != nil {
			return err
		}
	}
	j.Last = out
	return nil
}

// ranks returns the place of each voxel in the order of times, then of indices.
func ranks(times []uint32) []uint32 {
	order := make([]uint32, len(times))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(times[a], times[b]) })
	rank := make([]uint32, len(times))
	for at, v := range order {
		rank[v] = uint32(at)
	}
	return rank
}
