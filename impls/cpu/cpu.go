// Package cpu is the streaming algorithm on all cores: one pass over the image
// in which each voxel adds the cells that it introduces (Wang et al. 2022,
// algorithm 1; Heiss and Wagner 2017). Voxels are in a total order, by value and
// then by row-major position, and a voxel introduces the cells of which it is
// the first voxel. Memory is bounded by a few slices for each core.
package cpu

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
)

// nsPerVoxel is what one voxel costs one core, for the estimate in a refusal:
// twice what a server core of 2025 takes.
const nsPerVoxel = 25

// slabBytes is the size of the slabs that each core asks a streamed source for.
const slabBytes = 32 << 20

// sharedLevels is the number of levels from which the cores add to one table of
// changes instead of each to its own.
const sharedLevels = 1 << 20

// Implementation is the multicore implementation. Its zero value is ready.
type Implementation struct{ fault Fault }

// About describes the method.
func (i Implementation) About() bench.About {
	a := bench.About{
		Name:   "cpu",
		Where:  "cpu",
		Method: "one streaming pass, each voxel adds the cells it introduces, all cores",
		Source: "Wang et al. 2022, algorithm 1; Heiss and Wagner 2017",
		Scopes: []bench.Scope{bench.E2E, bench.File},
	}
	if i.fault != "" {
		a.Method += "; planted fault: " + string(i.fault)
	}
	return a
}

// CanDo refuses what would need more memory or time than the conditions allow.
func (Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	if err := in.Ladder().CheckIndexed(); err != nil {
		return err
	}
	threads := int64(max(1, c.Threads))
	n := in.Shape().Voxels()
	estimate := quantity.Seconds(float64(n) * nsPerVoxel * 1e-9 / float64(threads))
	if err := c.Allow(estimate, "%d voxels × %d ns on %d cores", n, nsPerVoxel, threads); err != nil {
		return err
	}
	p := newPlan(in, c.Threads)
	return c.AllowMemory(p.memory(), "%d cores × %d slices of %d voxels, %d levels", p.threads, p.slab+3, p.h*p.w, p.levels)
}

// Setup allocates the slices and the tables of changes of each core.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	return newJob(in, newPlan(in, c.Threads), i.fault), nil
}

// A plan says how an image is shared out among the cores.
type plan struct {
	n, h, w  int64 // slices, and rows and columns of each
	flat     bool  // a 2D image: its slices are rows
	threads  int
	chunk    int64 // slices that a core takes at a time
	slab     int64 // slices that it reads at a time; 0 when the image is in memory
	levels   int64
	shared   bool // one table of changes for all cores
	size     int64
	resident []byte // the whole image when it is in memory
}

func newPlan(in grid.Source, threads int) plan {
	n, h, w := ecc.Stack(in.Shape())
	p := plan{n: n, h: h, w: w, flat: in.Shape().D == 1, levels: in.Ladder().Len(), size: in.Type().Size()}
	p.shared = p.levels > sharedLevels
	p.threads = int(max(1, min(int64(threads), n)))
	// Four chunks a core even out their speeds; a chunk converts two slices
	// more than it has, so a chunk of rows must not be too short.
	p.chunk = (n + int64(p.threads)*4 - 1) / (int64(p.threads) * 4)
	if p.flat {
		p.chunk = max(p.chunk, min(64, (n+int64(p.threads)-1)/int64(p.threads)))
	}
	if f, ok := in.(*grid.Field); ok {
		p.resident = f.Data()
	} else {
		p.slab = max(1, min(p.chunk+2, slabBytes/(h*w*p.size)))
	}
	return p
}

// memory is the number of bytes that a job of the plan allocates.
func (p plan) memory() int64 {
	core := 3*4*p.rows()*(p.w+2) + p.slab*p.h*p.w*p.size
	if !p.shared {
		core += 8 * p.levels
	}
	return int64(p.threads)*core + 8*p.levels
}
