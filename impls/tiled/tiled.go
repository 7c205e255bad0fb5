// Package tiled keeps the image in a texture of the device: one thread for each
// voxel of a tile, its neighbours fetched through the texture cache, a block's
// histogram in shared memory (Wang et al. 2022, section 4.3 and algorithm 2;
// kernels/ecc/ecc_tiled.cu). Levels beyond the shared memory of a block go to the
// curve's table in global memory directly, change by change.
package tiled

import (
	"errors"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/counting"
)

// Implementation is the tiled implementation on the devices that Open gives.
type Implementation struct {
	Open resident.Opener
	// PTX gives the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)
}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnDevice("tiled",
		"resident image, one thread per voxel, neighbouring rows through a texture, neighbouring columns from the "+
			"warp, histograms in shared memory", "Wang et al. 2022, section 4.3 and algorithm 2")
}

// CanDo rejects an image that does not fit the device or its largest texture.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	if err := in.Ladder().CheckIndexed(); err != nil {
		return err
	}
	d, err := i.Open(c.Device)
	if err != nil {
		return err
	}
	s, info := in.Shape(), d.Info()
	if s.D == 1 && (s.W > info.Texture2D[0] || s.H > info.Texture2D[1]) {
		return fmt.Errorf("%v: the largest 2D texture of %s is %dx%d", s, info.Name, info.Texture2D[0], info.Texture2D[1])
	}
	if s.D > 1 && (s.W > info.Texture3D[0] || s.H > info.Texture3D[1] || s.D > info.Texture3D[2]) {
		return fmt.Errorf("%v: the largest 3D texture of %s is %dx%dx%d", s, info.Name, info.Texture3D[0], info.Texture3D[1],
			info.Texture3D[2])
	}
	return resident.Fits(d, grid.TotalBytes(in)+12*in.Ladder().Len(), "the texture")
}

// Setup loads the kernel and allocates the texture, and fills it unless the
// scope times that.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := i.Open(c.Device)
	if err != nil {
		return nil, err
	}
	counter, err := counting.Open(d, counting.Kernel{
		Module: "ecc_tiled", Method: "tiled", PTX: i.PTX, Shape: in.Shape(), Type: in.Type(), Ladder: in.Ladder(),
		Timed: c.Scope == bench.Kernel,
	})
	if err != nil {
		return nil, err
	}
	j := &job{Counter: counter, in: in, upload: c.Scope == bench.E2E || c.Scope == bench.File}
	return bench.Ready(j, j.allocate(d, c.Threads))
}

func (j *job) allocate(d device.Device, threads int) error {
	s := j.in.Shape()
	layout := device.ArrayLayout{Texel: device.Texel(j.in.Type().String()), Width: s.W, Height: s.H}
	if s.D > 1 {
		layout.Depth = s.D
	}
	j.array = resident.Own(&j.Objects, func() (device.Array, error) { return d.AllocArray("image", layout) })
	j.texture = resident.Own(&j.Objects,
		func() (device.Texture, error) { return j.array.NewTexture("image", device.Sampling{}) })
	if j.upload {
		j.feed = j.NewFeed(j.in, 0, threads)
	}
	if j.Err() != nil || j.upload {
		return j.Err()
	}
	feed, err := resident.NewStages(d, j.in, 0, threads)
	if err != nil {
		return err
	}
	return errors.Join(j.fill(feed, nil), feed.Close())
}

// fill copies the image to the array.
func (j *job) fill(feed *resident.Feed, trace *bench.Trace) error {
	return feed.Fill(j.Stream, trace, func(p resident.Piece) error {
		return j.Stream.CopySlices(j.array, p.Lo, p.Hi-p.Lo, p.From, p.Off)
	})
}

var _ bench.DeviceJob = (*job)(nil)

type job struct {
	*counting.Counter
	in      grid.Source
	array   device.Array
	texture device.Texture
	upload  bool
	feed    *resident.Feed // for each upload
}

func (j *job) Do(trace *bench.Trace) error {
	if j.upload {
		if err := j.fill(j.feed, trace); err != nil {
			return err
		}
	}
	defer trace.Span("count")()
	return j.On.Do(func() error {
		if err := j.Begin(); err != nil {
			return err
		}
		s := j.in.Shape()
		if err := j.Count(j.Stream, j.texture, int32(s.W), int32(s.H), int32(s.D)); err != nil {
			return err
		}
		return j.End()
	})
}

func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.Changes()), nil }
