package devicetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"eccbench/internal/device"
)

// A stream is a queue of pending work, and a clock.
type stream struct {
	on      *standin
	name    string
	handle  uint64
	work    []func(*stream) error
	done    int64 // work done since the beginning
	clock   time.Duration
	failure error
}

func (s *standin) NewStream(name string) (device.Stream, error) {
	st := &stream{on: s, name: name, handle: s.driver.streams.Add(1)}
	return st, s.keep(st, name)
}

// Handle returns the handle by which LentStream finds a stream.
func Handle(s device.Stream) uint64 { return s.(*stream).handle }

// LentStream is a stream that was made here, and panics where none was.
func (s *standin) LentStream(name string, handle uint64) device.Stream {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	for o := range s.live {
		if st, ok := o.(*stream); ok && st.handle == handle {
			return st
		}
	}
	panic(fmt.Sprintf("%s: stream %d: nobody made it", name, handle))
}

// ownStream returns the stream if it belongs to this device, or else one that fails.
func (s *standin) ownStream(st device.Stream) *stream {
	if mine, ok := st.(*stream); ok && mine.on == s {
		return mine
	}
	return &stream{on: s, failure: errors.New("a stream of another device")}
}

// add adds work.
func (s *stream) add(work func(*stream) error) error {
	s.on.driver.mu.Lock()
	defer s.on.driver.mu.Unlock()
	if s.failure == nil && !s.on.owns(s) {
		return fmt.Errorf("stream %q: used after it was closed", s.name)
	}
	s.work = append(s.work, work)
	if s.on.driver.hurried == s.name {
		return s.runUntil(s.end())
	}
	return s.failure
}

// runUntil does the work up to a place, counted from the beginning.
func (s *stream) runUntil(place int64) error {
	for s.failure == nil && s.done < place && len(s.work) > 0 {
		work := s.work[0]
		s.work = s.work[1:]
		s.clock += otherTime
		s.failure = work(s)
		s.done++
	}
	return s.failure
}

func (s *stream) end() int64 { return s.done + int64(len(s.work)) }

func (s *stream) Name() string { return s.name }

func (s *stream) Wait() error {
	s.on.driver.mu.Lock()
	defer s.on.driver.mu.Unlock()
	return s.runUntil(s.end())
}

func (s *stream) Done() (bool, error) { return true, s.Wait() }

func (s *stream) Close() error {
	err := s.Wait()
	s.on.drop(s)
	return err
}

func (s *stream) Launch(f device.Function, shape device.Launch, args ...any) error {
	k, ok := f.(*function)
	if !ok || k.m.on != s.on {
		return fmt.Errorf("stream %q: a kernel of another device", s.name)
	}
	for i, a := range args { // drivers reject them, too
		switch a.(type) {
		case int32, uint32, float32, int64, uint64, float64, device.Memory, device.Texture:
		default:
			return fmt.Errorf("kernel %q: argument %d: a %T cannot be passed", k.name, i, a)
		}
	}
	return s.add(func(s *stream) error {
		s.clock += time.Duration(shape.Grid.Count()) * launchTime
		for _, a := range args {
			if m, ok := a.(device.Memory); ok {
				if _, err := s.on.part(m, 0, 0); err != nil {
					return fmt.Errorf("kernel %q: %w", k.name, err)
				}
			}
		}
		return k.run(shape, s.on.memoryAt, args)
	})
}

func (s *stream) Copy(to device.Memory, at int64, from device.Memory, off, n int64) error {
	return s.add(func(s *stream) error {
		dst, err := s.on.part(to, at, n)
		if err != nil {
			return err
		}
		src, err := s.on.part(from, off, n)
		copy(dst, src)
		return err
	})
}

func (s *stream) Upload(to device.Buffer, at int64, from []byte) error {
	err := s.add(func(s *stream) error {
		dst, err := s.on.part(to, at, int64(len(from)))
		copy(dst, from)
		return err
	})
	return errors.Join(err, s.Wait())
}

func (s *stream) Download(to []byte, from device.Buffer, off int64) error {
	err := s.add(func(s *stream) error {
		src, err := s.on.part(from, off, int64(len(to)))
		copy(to, src)
		return err
	})
	return errors.Join(err, s.Wait())
}

func (s *stream) Fill(to device.Buffer, at, n int64, value byte) error {
	return s.add(func(s *stream) error {
		dst, err := s.on.part(to, at, n)
		for i := range dst {
			dst[i] = value
		}
		return err
	})
}

func (s *stream) Fill32(to device.Buffer, at, n int64, value uint32) error {
	return s.add(func(s *stream) error {
		dst, err := s.on.part(to, at, 4*n)
		if len(dst) > 0 {
			binary.LittleEndian.PutUint32(dst, value)
		}
		for done := 4; done < len(dst); done *= 2 {
			copy(dst[done:], dst[:done])
		}
		return err
	})
}

func (s *stream) CopySlices(to device.Array, first, slices int64, from device.Memory, off int64) error {
	a, ok := to.(*array)
	if !ok {
		return fmt.Errorf("stream %q: an array of another device", s.name)
	}
	return s.Copy(a.memory, first*a.slice(), from, off, slices*a.slice())
}

func (s *stream) Record(e device.Event) error {
	ev, ok := e.(*event)
	if !ok || ev.on != s.on {
		return fmt.Errorf("stream %q: an event of another device", s.name)
	}
	err := s.add(func(s *stream) error {
		ev.time, ev.reached = s.clock, true
		return nil
	})
	s.on.driver.mu.Lock()
	defer s.on.driver.mu.Unlock()
	ev.stream, ev.place, ev.reached = s, s.end(), false
	return err
}

func (s *stream) WaitFor(e device.Event) error {
	ev, ok := e.(*event)
	if !ok || ev.on.driver != s.on.driver {
		return fmt.Errorf("stream %q: an event of another driver", s.name)
	}
	s.on.driver.mu.Lock()
	of, place := ev.stream, ev.place
	s.on.driver.mu.Unlock()
	if of == nil {
		return nil // as of an event that was never recorded
	}
	return s.add(func(s *stream) error {
		err := of.runUntil(place)
		s.clock = max(s.clock, ev.time)
		return err
	})
}

// An event is a place in a stream's work. The streams' clocks start together.
type event struct {
	on      *standin
	name    string
	stream  *stream // of the last Record
	place   int64
	reached bool
	time    time.Duration
}

func (s *standin) NewEvent(name string) (device.Event, error) {
	e := &event{on: s, name: name}
	return e, s.keep(e, name)
}

func (e *event) Name() string { return e.name }

func (e *event) Wait() error {
	e.on.driver.mu.Lock()
	defer e.on.driver.mu.Unlock()
	if e.stream == nil {
		return nil
	}
	return e.stream.runUntil(e.place)
}

func (e *event) Done() (bool, error) { return true, e.Wait() }

func (e *event) Since(start device.Event) (time.Duration, error) {
	from, ok := start.(*event)
	if !ok || from.on != e.on {
		return 0, fmt.Errorf("event %q: since one of another device", e.name)
	}
	if !e.reached || !from.reached {
		return 0, fmt.Errorf("event %q: not reached", e.name)
	}
	return e.time - from.time, nil
}

func (e *event) Close() error {
	e.on.drop(e)
	return nil
}
