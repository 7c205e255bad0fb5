// Package resident has the shared parts of device implementations: images in device memory,
// uploaded in pieces, and result tables.
package resident

import (
	"errors"
	"fmt"
	"sync"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// An Opener opens a device by the user's name for it, "" for the first. Without a device the error
// gives the reason in one line.
type Opener func(which string) (device.Device, error)

// OpenOnce opens the devices of a driver, each once. Nothing is loaded before the first
// call.
func OpenOnce(load func() (device.Driver, error)) Opener {
	var mu sync.Mutex
	var driver device.Driver // of all devices: memory pinned by one driver is foreign to another
	opened := map[int]device.Device{}
	return func(which string) (device.Device, error) {
		mu.Lock()
		defer mu.Unlock()
		if driver == nil {
			loaded, err := load()
			if err != nil {
				return nil, err
			}
			driver = loaded
		}
		list, err := driver.Devices()
		if err != nil {
			return nil, err
		}
		info, err := device.Choose(list, which)
		if err != nil {
			return nil, err
		}
		if d, ok := opened[info.Index]; ok {
			return d, nil
		}
		d, err := driver.Open(info.Index)
		if err != nil {
			return nil, err
		}
		opened[info.Index] = d
		return d, nil
	}
}

// Fits returns an error naming what if need bytes exceed the free memory of a device.
func Fits(d device.Device, need int64, what string) error {
	free, _, err := d.Memory()
	if err != nil {
		return err
	}
	if need > free {
		return fmt.Errorf("%s needs %s of device memory, %s are free", what, quantity.Bytes(need), quantity.Bytes(free))
	}
	return nil
}

// newImage allocates memory for an image. Kernels load bytes as words of four, so the last word is
// whole, and 0 at first.
func newImage(d device.Device, s device.Stream, in grid.Source) (device.Buffer, error) {
	n := grid.TotalBytes(in)
	b, err := d.Alloc("image", (n+3)&^3)
	if err == nil && n&3 > 0 {
		if err = s.Fill(b, n&^3, 4, 0); err != nil {
			err = errors.Join(err, b.Close())
		}
	}
	return b, err
}

// Put copies an image to memory of the device, row-major and packed.
func Put(d device.Device, s device.Stream, in grid.Source) (device.Buffer, error) {
	b, err := newImage(d, s, in)
	if err != nil {
		return nil, err
	}
	if err := Stage(d, s, b, 0, in); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// NewImage allocates memory for an image. It also copies the image there or, if each call does so, returns the feed for
// it on a number of threads.
func NewImage(o *Objects, s device.Stream, in grid.Source, upload bool, threads int) (image device.Buffer, feed *Feed) {
	if !upload {
		return Own(o, func() (device.Buffer, error) { return Put(o.On, s, in) }), nil
	}
	return Own(o, func() (device.Buffer, error) { return newImage(o.On, s, in) }), o.NewFeed(in, 0, threads)
}
