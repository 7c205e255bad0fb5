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
// between the events of the kernel scope; a kernel that hands its table over has told
// the host before. A write takes a few microseconds however short it is: after a launch
// of less than about 0.1 ms, more than a share of it.
type slowdown struct {
	scratch     device.Buffer // nil before the first launch
	start, end  device.Event
	alone, with time.Duration    // the quickest launch seen, and with the least write behind it
	writes      [2]time.Duration // the quickest writes
}

const (
	slowLooks = 8                     // launches that are timed, at most
	slowLong  = 50 * time.Millisecond // that they take together
	slowTold  = time.Microsecond      // by which a write of all takes longer, if the clock is any good
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

// bytes is how much is written after a launch, a multiple of four: the least write takes
// what it adds to a launch, and each byte more what it adds to a write, which is short
// beside many a launch and so is timed without.
func (d *slowdown) bytes() int64 {
	more := d.writes[1] - d.writes[0]
	if more < slowTold {
		return 0 // a clock that does not tell them apart
	}
	rest := float64(d.alone)*slowShare - float64(max(0, d.with-d.alone))
	bytes := float64(slowWrites[0]) + rest*float64(slowWrites[1]-slowWrites[0])/float64(more)
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
	timed := func(quickest *time.Duration, work ...func() error) (took time.Duration, err error) {
		if err := errors.Join(c.Cool(), s.Record(d.start)); err != nil {
			return 0, err
		}
		for _, w := range work {
			if err := w(); err != nil {
				return 0, err
			}
		}
		if err := errors.Join(s.Record(d.end), s.Wait()); err != nil {
			return 0, err
		}
		if took, err = d.end.Since(d.start); *quickest == 0 || took < *quickest {
			*quickest = took
		}
		return took, err
	}
	launch := func() error { return s.Launch(c.function, c.shape, args...) }
	write := func(i int) func() error {
		return func() error { return s.Fill32(d.scratch, 0, slowWrites[i]/4, 0) }
	}
	// The launch before has added to the table.
	empty := func() error {
		if c.total == nil {
			return nil
		}
		return s.Fill32(c.total, 0, c.total.Bytes()/4, 0)
	}
	for range slowLooks {
		for i := range slowWrites {
			if _, err := timed(&d.writes[i], write(i)); err != nil {
				return err
			}
		}
	}
	spent := time.Duration(0)
	for n := 0; n < slowLooks && spent < slowLong; n++ {
		if n > 0 {
			if err := empty(); err != nil {
				return err
			}
		}
		took, err := timed(&d.with, launch, write(0))
		if err := errors.Join(err, empty()); err != nil {
			return err
		}
		spent += took
		if _, err := timed(&d.alone, launch); err != nil {
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
