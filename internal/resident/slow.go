//go:build slow5 || slow20

package resident

import (
	"errors"
	"time"

	"eccbench/internal/device"
)

// A slowdown is planted for tests of the gate: after each launch the device
// writes to memory that nobody reads, for a share of the time that the launch
// takes. It is no launch, allocates nothing on the host, and lies between the events
// of the kernel scope. A launch of less than about 0.1 ms is too short for a share of
// it to be written in.
type slowdown struct {
	scratch        device.Buffer // nil before the first launch
	start, end     device.Event
	launched       time.Duration // the quickest launch seen
	little, filled time.Duration // the quickest write of a few bytes, and of all
}

const (
	slowLooks   = 8                     // launches that are timed, at most
	slowEnough  = 50 * time.Millisecond // that they take together
	slowScratch = 64 << 20              // bytes
	slowLittle  = 4 << 10
)

func (c *Counter) launch(s device.Stream, args ...any) error {
	d := &c.slowdown
	if d.scratch == nil {
		return c.look(s, args)
	}
	if err := s.Launch(c.function, c.shape, args...); err != nil {
		return err
	}
	if d.filled <= d.little {
		return nil // a clock that does not tell them apart
	}
	perByte := float64(d.filled-d.little) / (slowScratch - slowLittle)
	bytes := int64((float64(d.launched)*slowShare - float64(d.little)) / perByte)
	for bytes > 0 {
		n := min(bytes, slowScratch) &^ 3
		if n == 0 {
			break
		}
		if err := s.Fill32(d.scratch, 0, n/4, 0); err != nil {
			return err
		}
		bytes -= n
	}
	return nil
}

// look times the first launch again and again, and what a write takes: all of it in
// the first call, which is no sample unless it takes a second, so that every sample is
// slowed.
func (c *Counter) look(s device.Stream, args []any) (err error) {
	d := &c.slowdown
	if d.scratch, err = c.On.Alloc("slowdown", slowScratch); err != nil {
		return err
	}
	if d.start, err = c.On.NewEvent("slowdown begins"); err != nil {
		return err
	}
	if d.end, err = c.On.NewEvent("slowdown ends"); err != nil {
		return err
	}
	spent := time.Duration(0)
	for n := 0; n < slowLooks && spent < slowEnough; n++ {
		timed := func(quickest *time.Duration, work func() error) error {
			if err := errors.Join(s.Wait(), s.Record(d.start), work(), s.Record(d.end), s.Wait()); err != nil {
				return err
			}
			took, err := d.end.Since(d.start)
			if n == 0 || took < *quickest {
				*quickest = took
			}
			spent += took
			return err
		}
		// The launch before has added to the table.
		if n > 0 && c.total != nil {
			if err := s.Fill32(c.total, 0, c.total.Bytes()/4, 0); err != nil {
				return err
			}
		}
		err := errors.Join(
			timed(&d.launched, func() error { return s.Launch(c.function, c.shape, args...) }),
			timed(&d.little, func() error { return s.Fill32(d.scratch, 0, slowLittle/4, 0) }),
			timed(&d.filled, func() error { return s.Fill32(d.scratch, 0, slowScratch/4, 0) }),
		)
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
