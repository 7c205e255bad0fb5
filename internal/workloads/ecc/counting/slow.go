//go:build slow5 || slow20

package counting

import (
	"errors"
	"time"

	"eccbench/internal/device"
	"eccbench/internal/stats"
)

// A slowdown makes kernels slower by a known share, to test the gate. After each launch the device
// writes to unused memory for a share of the launch's time with cold caches. The write is no
// launch, allocates nothing on the host, and is between the events of scope kernel. A kernel that
// hands over has signalled the host before the write. A write takes at least a few microseconds, so
// launches below about 0.1 ms are slowed by more than the share.
type slowdown struct {
	scratch    device.Buffer // nil before the first launch
	start, end device.Event
	bytes      int64            // size of the write after a launch
	writes     [2]time.Duration // fastest time of each write size
}

const (
	slowLooks = 8                      // number of timed writes of each size
	slowPairs = 24                     // maximum number of timed pairs (launch, launch with write) in each turn
	slowLong  = 100 * time.Millisecond // maximum time of a turn
	slowTurns = 3                      // number of times that the size of the write is adapted
	slowTold  = time.Microsecond       // least difference between the two writes that a usable clock shows
)

// slowWrites are the sizes of the timed writes, in bytes.
var slowWrites = [2]int64{4 << 10, 64 << 20}

func (d *slowdown) launch(c *Counter, s device.Stream, args ...any) error {
	if d.scratch == nil {
		return c.look(s, args)
	}
	if err := s.Launch(c.function, c.shape, args...); err != nil {
		return err
	}
	return d.write(s, d.bytes)
}

// write writes the given number of bytes.
func (d *slowdown) write(s device.Stream, bytes int64) error {
	for ; bytes > 0; bytes -= slowWrites[1] {
		if err := s.Fill32(d.scratch, 0, min(bytes, slowWrites[1])/4, 0); err != nil {
			return err
		}
	}
	return nil
}

// adapt changes the size of the write, a multiple of four bytes. It compares the time that the
// write added to launches with the wanted share, and divides the difference by the time per byte. A
// write may be too short to see within a launch, so the time per byte comes from writes alone.
func (d *slowdown) adapt(alone, with time.Duration) {
	more := d.writes[1] - d.writes[0]
	if more < slowTold {
		d.bytes = 0 // the clock cannot tell them apart
		return
	}
	lacking := float64(alone)*slowShare - float64(with-alone)
	bytes := float64(d.bytes) + lacking*float64(slowWrites[1]-slowWrites[0])/float64(more)
	d.bytes = max(slowWrites[0], int64(bytes)) &^ 3
}

// look calibrates the write in the first call: it times launches alone and launches with a write.
// The first call is no sample unless it takes a second, so every sample is slowed.
func (c *Counter) look(s device.Stream, args []any) error {
	d := &c.slowdown
	d.scratch = c.NewBuffer("slowdown", slowWrites[1])
	d.start, d.end = c.NewEvent("slowdown begins"), c.NewEvent("slowdown ends")
	if err := c.Err(); err != nil {
		return err
	}
	timed := func(work ...func() error) (took time.Duration, err error) {
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
		return d.end.Since(d.start)
	}
	for range slowLooks {
		for i := range slowWrites {
			took, err := timed(func() error { return d.write(s, slowWrites[i]) })
			if err != nil {
				return err
			}
			if d.writes[i] == 0 || took < d.writes[i] {
				d.writes[i] = took
			}
		}
	}
	d.bytes = slowWrites[0]
	empty := func() error { // the previous launch has added to the table
		if c.total == nil {
			return nil
		}
		return s.Fill32(c.total, 0, c.total.Bytes()/4, 0)
	}
	launch := func() error { return s.Launch(c.function, c.shape, args...) }
	write := func() error { return d.write(s, d.bytes) }
	for turn := 0; turn < slowTurns && d.bytes > 0; turn++ {
		var alone, with []float64 // nanoseconds
		for began := time.Now(); len(alone) < slowPairs && time.Since(began) < slowLong; {
			if err := empty(); err != nil {
				return err
			}
			slowed, err := timed(launch, write)
			if err := errors.Join(err, empty()); err != nil {
				return err
			}
			quick, err := timed(launch)
			if err != nil {
				return err
			}
			alone, with = append(alone, float64(quick)), append(with, float64(slowed))
		}
		d.adapt(time.Duration(stats.Median(alone)), time.Duration(stats.Median(with)))
	}
	return nil
}
