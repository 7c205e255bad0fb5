package ondevice

import (
	"errors"
	"math"
	"time"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// Segment returns the number of planes of a warp's segment, its cost, and the least cost over all
// numbers of segments.
func Segment(s grid.Shape, rows, positions, warps int64) (length int64, cost, least float64) {
	of := func(length int64) float64 { return planesOf(marches(s, rows), length, positions, warps) }
	length, least = segment(s, rows, positions, warps), math.Inf(1)
	for l := int64(1); l <= min(positions, mostSegment); l++ {
		least = min(least, of(l))
	}
	return length, of(length), least
}

// Launches returns the device time of n consecutive fingerprints, by the events of its clock. The
// host waits for the end only.
func (o *Looker) Launches(image device.Buffer, n int) (took time.Duration, err error) {
	var events [2]device.Event
	defer func() {
		for _, e := range events {
			if e != nil {
				err = errors.Join(err, e.Close())
			}
		}
	}()
	for i := range events {
		if events[i], err = o.On.NewEvent("launches"); err != nil {
			return 0, err
		}
	}
	err = o.On.Do(func() error {
		errs := []error{o.begin(), o.stream.Record(events[0])}
		for range n {
			errs = append(errs, o.add(image, 1))
		}
		return errors.Join(append(errs, o.stream.Record(events[1]))...)
	})
	if err := errors.Join(err, o.stream.Wait()); err != nil {
		return 0, err
	}
	return events[1].Since(events[0])
}
