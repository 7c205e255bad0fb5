// Package fullsweep counts an image that is resident in a device's memory with one launch (Saxena
// et al. 2025, section 3.1; kernels/ecc/ecc_fullsweep.cu). It uses coalesced loads of whole rows,
// and histograms in shared memory that each block adds to the curve's table once. If a block's
// shared memory has no room for all levels, changes go directly to the table in global memory.
package fullsweep

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/counting"
)

// Implementation is the full-sweep implementation for the devices of Open.
type Implementation struct {
	Open resident.Opener
	// PTX returns the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)
}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnDevice("fullsweep", "resident image, one launch, coalesced loads, histograms in shared memory",
		"Saxena et al. 2025, section 3.1")
}

// CanDo rejects an image that does not fit the device.
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
	return resident.Fits(d, grid.TotalBytes(in)+12*in.Ladder().Len(), "the resident image")
}

// Setup loads the kernel and allocates the image. It also copies the image, unless the scope
// includes the copy.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := i.Open(c.Device)
	if err != nil {
		return nil, err
	}
	counter, err := counting.Open(d, counting.Kernel{
		Module: "ecc_fullsweep", Method: "fullsweep", PTX: i.PTX, Shape: in.Shape(), Type: in.Type(), Ladder: in.Ladder(),
		Timed: c.Scope == bench.Kernel,
	})
	if err != nil {
		return nil, err
	}
	j := &job{Counter: counter, in: in}
	j.image, j.feed = resident.NewImage(&j.Objects, j.Stream, in, c.Scope == bench.E2E || c.Scope == bench.File, c.Threads)
	return bench.Ready(j, j.Err())
}

var _ bench.DeviceJob = (*job)(nil)

type job struct {
	*counting.Counter
	in    grid.Source
	image device.Buffer
	feed  *resident.Feed // nil unless each Do copies the image
}

func (j *job) Do(trace *bench.Trace) error {
	if j.feed != nil {
		if err := j.feed.Upload(j.Stream, j.image, 0, trace); err != nil {
			return err
		}
	}
	defer trace.Span("count")()
	return j.On.Do(func() error {
		if err := j.Begin(); err != nil {
			return err
		}
		n, h, w := cells.Stack(j.in.Shape())
		if err := j.Count(j.Stream, j.image, int32(w), int32(h), int32(n), int32(0), int32(n)); err != nil {
			return err
		}
		return j.End()
	})
}

func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.Changes()), nil }
