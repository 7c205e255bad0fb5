package cuda

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"eccbench/internal/device"
)

type stream struct {
	object
	last    atomic.Pointer[function] // launched
	program []uint64                 // in place of launches, if it is not nil
}

// String includes the last kernel, because later calls return its errors.
func (s *stream) String() string {
	if f := s.last.Load(); f != nil {
		return s.object.String() + " after " + f.String()
	}
	return s.object.String()
}

// nonBlocking streams and the default stream do not wait for each other.
const nonBlocking = 1

func (c *context) NewStream(name string) (device.Stream, error) {
	s := &stream{object: object{kind: "stream", name: name, free: cuStreamDestroy}}
	return added[device.Stream](c, s, &s.object, func() error {
		return c.call(cuStreamCreate, s, uintptr(unsafe.Pointer(&s.handle)), nonBlocking)
	})
}

// stream is the stream of ours behind an interface.
func (c *context) stream(s device.Stream) (*stream, error) {
	mine, _ := s.(*stream)
	if mine == nil {
		return nil, owned(c, "stream", nil)
	}
	return mine, owned(c, "stream", &mine.object)
}

// enter is begin, and an error for a stream that only writes a program.
func (s *stream) enter() (in visit, err error) {
	if s.program != nil {
		return in, fmt.Errorf("%s: only launches can be in a program", s)
	}
	return s.begin()
}

// begin is the context's enter, while the stream is open.
func (s *stream) begin() (in visit, err error) {
	if in, err = s.c.enter(); err != nil {
		return in, err
	}
	if err = s.usable(); err != nil {
		in.leave()
	}
	return in, err
}

func (s *stream) Wait() error {
	if err := s.usable(); err != nil {
		return err
	}
	return s.c.wait(cuStreamSynchronize, s, &s.object)
}

func (s *stream) Done() (bool, error) { return s.c.query(cuStreamQuery, &s.object) }

func (s *stream) Record(e device.Event) error {
	in, err := s.enter()
	if err != nil {
		return err
	}
	defer in.leave()
	ev, err := s.c.event(e)
	if err != nil {
		return err
	}
	return in.call(cuEventRecord, ev, ev.handle, s.handle)
}

func (s *stream) WaitFor(e device.Event) error {
	ev, _ := e.(*event)
	if ev == nil {
		return owned(s.c, "event", nil)
	}
	in, err := s.enter()
	if err != nil {
		return err
	}
	defer in.leave()
	// Events order the streams of all devices.
	if err := ev.usable(); err != nil {
		return err
	}
	return in.call(cuStreamWaitEvent, ev, s.handle, ev.handle, 0)
}

type event struct{ object }

func (c *context) NewEvent(name string) (device.Event, error) {
	e := &event{object{kind: "event", name: name, free: cuEventDestroy}}
	return added[device.Event](c, e, &e.object, func() error {
		return c.call(cuEventCreate, e, uintptr(unsafe.Pointer(&e.handle)), 0)
	})
}

// event is the event of ours behind an interface.
func (c *context) event(e device.Event) (*event, error) {
	mine, _ := e.(*event)
	if mine == nil {
		return nil, owned(c, "event", nil)
	}
	return mine, owned(c, "event", &mine.object)
}

func (e *event) Wait() error {
	if err := e.usable(); err != nil {
		return err
	}
	return e.c.wait(cuEventSynchronize, e, &e.object)
}

func (e *event) Done() (bool, error) { return e.c.query(cuEventQuery, &e.object) }

func (e *event) Since(start device.Event) (time.Duration, error) {
	in, err := e.c.enter()
	if err != nil {
		return 0, err
	}
	defer in.leave()
	if err := e.usable(); err != nil {
		return 0, err
	}
	from, err := e.c.event(start)
	if err != nil {
		return 0, err
	}
	ms := &e.c.args.elapsed
	if err := in.call(cuEventElapsedTime, e, uintptr(unsafe.Pointer(ms)), from.handle, e.handle); err != nil {
		return 0, err
	}
	return time.Duration(math.Round(float64(*ms) * 1e6)), nil
}
