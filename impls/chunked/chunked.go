// Package chunked streams an image through a device in slabs, so that neither host nor device needs
// memory for the whole image (Wang et al. 2022, section 4.4; kernels/ecc/ecc_fullsweep.cu). One
// stream copies the slabs. Another extends each slab by a slice on both sides and counts it, while
// the next slabs are copied.
//
// Slabs are read into pinned memory ahead of the copies; an image in memory is pinned at setup and
// copied from there. If a block's shared memory has no room for all levels, changes go directly to
// the table in global memory.
package chunked

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/counting"
)

// Slabs are long enough that copies reach their full rate. They are short enough that the first
// copy and the last count, which overlap with nothing, do not matter. The buffers are for the slab
// that is counted, its two neighbours, and the next slabs.
const (
	slabBytes = 32 << 20
	buffers   = 5
)

// Implementation is the chunked implementation for the devices of Open.
type Implementation struct {
	Open resident.Opener
	// PTX returns the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)

	slab int64 // replaces slabBytes in tests
}

func (i Implementation) slabBytes() int64 {
	if i.slab > 0 {
		return i.slab
	}
	return slabBytes
}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnDevice("chunked",
		"slabs with a collar streamed through the device, copies overlapped with kernels, a slab swept as by "+
			"fullsweep", "Wang et al. 2022, section 4.4", bench.E2E, bench.File)
}

// A plan divides an image into slabs.
type plan struct {
	n, h, w int64
	size    int64 // per slice
	slices  int64 // per slab
	slabs   int64
}

func newPlan(in grid.Source, bytes int64) plan {
	n, h, w := cells.Stack(in.Shape())
	p := plan{n: n, h: h, w: w, size: grid.SliceBytes(in)}
	p.slices = resident.PieceSlices(in, bytes)
	p.slabs = (n + p.slices - 1) / p.slices
	return p
}

// CanDo rejects an image whose slabs do not fit the device.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	if err := in.Ladder().CheckIndexed(); err != nil {
		return err
	}
	d, err := i.Open(c.Device)
	if err != nil {
		return err
	}
	if s := in.Shape(); s.W > math.MaxInt32/2 || s.H > math.MaxInt32/2 || s.D > math.MaxInt32/2 {
		return fmt.Errorf("%v: an axis exceeds the kernels' limit of %d", s, math.MaxInt32/2)
	}
	p := newPlan(in, i.slabBytes())
	return resident.Fits(d, buffers*(p.slices+2)*p.size+12*in.Ladder().Len(),
		fmt.Sprintf("%d slabs of %d slices", buffers, p.slices+2))
}

// Setup loads the kernel, allocates the slabs and pins the image.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := i.Open(c.Device)
	if err != nil {
		return nil, err
	}
	counter, err := counting.Open(d, counting.Kernel{
		Module: "ecc_fullsweep", Method: "fullsweep", PTX: i.PTX, Shape: in.Shape(), Type: in.Type(), Ladder: in.Ladder(),
		Timed: true, // for the timeline
	})
	if err != nil {
		return nil, err
	}
	j := &job{Counter: counter, plan: newPlan(in, i.slabBytes())}
	if err := j.allocate(d, in, i.slabBytes(), c.Threads); err != nil {
		j.Close() // the first error is the one to report
		return nil, err
	}
	return j, nil
}
