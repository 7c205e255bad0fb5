//go:build slow5 || slow20

package resident

import (
	"errors"
	"time"

	"eccbench/internal/device"
)

// A slowdown is planted for tests of the gate: after each launch the device
// writes to memory that nobody reads, for a share of the time that the launch
// takes with caches cold. It is no launch, allocates nothing on the host, and lies
// between the events of the kernel scope. A write takes a few microseconds however
// short it is: after a launch of less than about 0.1 ms, more than a share of it.
type slowdown struct {
	scratch    device.Buffer // nil before the first launch
	start, end device.Event
	alone      time.Duration // the quickest launch seen, and with a write of
	with       [2]time.Duration
}

const (
	slowLooks = 8                     // launches that are timed, at most
	slowLong  = 50 * time.Millisecond // that they take together
)

// slowWrites are the writes that are timed, in bytes.
var slowWrites = [2]int64{4 << 10, 64 << 20}

func (c *Counter) launch(s device.Stream, args ...any) error {
	d := &c.slowdown
	if d.scratch == nil {
		return c.look(s, args)
	}
	if err := s.Launch(c.function, c.shape, args...); err != nil {
		return err
	}
	for bytes := d.bytes(); bytes > 0; bytes -= slowWrites[1] {
		if err := s.Fill32(d.scratch, 0, min(bytes, slowWrites[1])/4, 0); err != nil {
			return err
		}
	}
	return nil
}

// bytes is how much is written after a launch, a multiple of four: as much as takes the
// share by the times of both writes.
func (d *slowdown) bytes() int64 {
	least, most := d.with[0]-d.alone, d.with[1]-d.alone
	if most <= least {
		return 0 // a clock that does not tell them apart
	}
	rest := float64(d.alone)*slowShare - float64(least)
	bytes := float64(slowWrites[0]) + rest*float64(slowWrites[1]-slowWrites[0])/float64(most-least)
	return max(slowWrites[0], int64(bytes)) &^ 3
}

// look times the first launch again and again, alone and with each write: all of it in
// the first call, which is no sample unless it takes a second, so that every sample is
// slowed.
func (c *Counter) look(s device.Stream, args []any) (err error) {
	d := &c.slowdown
	if d.scratch, err = c.On.Alloc("slowdown", slowWrites[1]); err != nil {
		return err
	}
	if d.start, err = c.On.NewEvent("slowdown begins"); err != nil {
		return err
	}
	if d.end, err = c.On.NewEvent("slowdown ends"); err != nil {
		return err
	}
	spent, launched := time.Duration(0), false
	timed := func(quickest *time.Duration, write int64) error {
		// The launch before has added to the table.
		if launched && c.total != nil {
			if err := s.Fill32(c.total, 0, c.total.Bytes()/4, 0); err != nil {
				return err
			}
		}
		launched = true
		if err := errors.Join(c.Cool(), s.Record(d.start), s.Launch(c.function, c.shape, args...)); err != nil {
			return err
		}
		if write > 0 {
			if err := s.Fill32(d.scratch, 0, write/4, 0); err != nil {
				return err
			}
		}
		if err := errors.Join(s.Record(d.end), s.Wait()); err != nil {
			return err
		}
		took, err := d.end.Since(d.start)
		if *quickest == 0 || took < *quickest {
			*quickest = took
		}
		spent += took
		return err
	}
	for n := 0; n < slowLooks && spent < slowLong; n++ {
		err := errors.Join(timed(&d.with[1], slowWrites[1]), timed(&d.with[0], slowWrites[0]), timed(&d.alone, 0))
		if err != nil {
			return err
		}
	}
	return nil
}

func (d slowdown) close() error {
	var errs []error
	if d.scratch != nil {
		errs = append(errs, d.scratch.Close())
	}
	for _, e := range []device.Event{d.start, d.end} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}
