// Package cpu implements the streaming algorithm on all cores: in one pass over the image, each
// voxel adds the cells that it introduces (Wang et al. 2022, algorithm 1; Heiss and Wagner 2017).
// Voxels are ordered by value and then by row-major position, and a voxel introduces the cells
// whose first voxel it is. Each core needs memory for a few slices only.
package cpu

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

// nsPerVoxel is the estimated time per voxel and core: twice that of a server core of 2025.
const nsPerVoxel = 25

// slabBytes is the size of the slabs that each core reads from a streamed source.
const slabBytes = 32 << 20

// sharedLevels is the number of levels above which all cores share one table of changes.
const sharedLevels = 1 << 20

// Implementation is the multicore implementation. Its zero value is ready to use.
type Implementation struct{ fault Fault }

// About describes the method.
func (i Implementation) About() bench.About {
	return bench.OnHost("cpu", "one streaming pass, each voxel adds the cells it introduces, all cores",
		"Wang et al. 2022, algorithm 1; Heiss and Wagner 2017").WithFault(string(i.fault))
}

// CanDo rejects an input that needs more memory or time than the conditions allow.
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
	return c.AllowMemory(p.memory(), "%d cores × %d slices of %d voxels, %d levels", p.threads, p.slab+3, p.h*p.w,
		p.levels)
}

// Setup allocates the slices and the tables of changes of each core.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	return newJob(in, newPlan(in, c.Threads), i.fault), nil
}

// A plan divides an image among the cores.
type plan struct {
	n, h, w  int64 // slices, and rows and columns of each
	flat     bool  // a 2D image: its slices are rows
	threads  int
	chunk    int64 // slices that a core processes per turn
	slab     int64 // slices that it reads together; 0 if the image is in memory
	levels   int64
	shared   bool // one table of changes for all cores
	size     int64
	resident []byte // the image, if it is in memory
}

func newPlan(in grid.Source, threads int) plan {
	n, h, w := cells.Stack(in.Shape())
	p := plan{n: n, h: h, w: w, flat: in.Shape().D == 1, levels: in.Ladder().Len(), size: in.Type().Size()}
	p.shared = p.levels > sharedLevels
	p.threads = int(max(1, min(int64(threads), n)))
	// Four chunks per core balance their speeds. A chunk converts two extra slices, so a chunk of
	// rows must not be too short.
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

// memory returns the number of bytes that a job of the plan allocates.
func (p plan) memory() int64 {
	core := 3*4*p.rows()*(p.w+2) + p.slab*p.h*p.w*p.size
	if !p.shared {
		core += 8 * p.levels
	}
	return int64(p.threads)*core + 8*p.levels
}
