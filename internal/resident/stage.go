package resident

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// What Stage copies at a time, and how much at the same time. Smaller images are
// uploaded in one go: pinning memory takes longer than they do.
const (
	stageBytes  = 16 << 20
	mostStages  = 8
	leastStaged = 256 << 20
)

// Stage copies an image to a place in a buffer of the device, as Upload does, but
// through pinned memory and several pieces at a time: for large images that are put
// there once. It returns when the image is there.
func Stage(d device.Device, s device.Stream, to device.Buffer, at int64, in grid.Source) error {
	if grid.TotalBytes(in) < leastStaged {
		return Upload(s, to, at, in)
	}
	return inPieces(d, to, at, in, stageBytes)
}

// inPieces is Stage with pieces of about so many bytes.
func inPieces(d device.Device, to device.Buffer, at int64, in grid.Source, bytes int64) error {
	size, n := grid.SliceBytes(in), in.Shape().Slices()
	piece := max(1, bytes/size) // slices
	pieces := (n + piece - 1) / piece
	stages := int(min(mostStages, int64(runtime.GOMAXPROCS(0)), pieces))
	var next atomic.Int64
	errs := make([]error, stages)
	var wg sync.WaitGroup
	for i := range stages {
		wg.Go(func() {
			errs[i] = stage(d, piece*size, func(p device.Pinned, s device.Stream) (more bool, err error) {
				lo := (next.Add(1) - 1) * piece
				if lo >= n {
					return false, nil
				}
				hi := min(lo+piece, n)
				if err := in.ReadSlab(p.Data()[:(hi-lo)*size], lo, hi); err != nil {
					return false, err
				}
				return true, errors.Join(s.Copy(to, at+lo*size, p, 0, (hi-lo)*size), s.Wait())
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// stage calls fill with pinned memory and a stream until there is no more.
func stage(d device.Device, bytes int64, fill func(device.Pinned, device.Stream) (more bool, err error)) (err error) {
	p, err := d.AllocPinned("stage", bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	s, err := d.NewStream("staging")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for more := true; more && err == nil; {
		more, err = fill(p, s)
	}
	return err
}
