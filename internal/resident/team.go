package resident

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eccbench/internal/device"
)

// A Member is a part of a Team's work, on a stream of one device.
type Member interface {
	On() device.Device
	Stream() device.Stream
	// Enqueue adds the work to the stream, and waits for nothing.
	Enqueue() error
	// Bring adds the copy of the answer to the host to the stream.
	Bring() error
}

// A Team is work on several devices that starts together and is timed by one clock. A stream of the
// first member's device records the start, which all members wait for, and the end after waiting
// for all of them.
type Team struct {
	Watches    // for each device
	members    []Member
	teams      [][]int // the members of each device, the first member's device first
	clock      device.Stream
	start, end device.Event
	done       []device.Event // for each member
}

// NewTeam makes the events of a team. Its members stay the caller's.
func NewTeam[M Member](members []M) (t *Team, err error) {
	t = &Team{done: make([]device.Event, len(members))}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	for i, m := range members {
		t.members = append(t.members, m)
		k := slices.IndexFunc(t.teams, func(team []int) bool {
			return members[team[0]].On().Info().Index == m.On().Info().Index
		})
		if k < 0 {
			k = len(t.teams)
			t.teams, t.Watches = append(t.teams, nil), append(t.Watches, NewWatch(m.On()))
		}
		t.teams[k] = append(t.teams[k], i)
		if t.done[i], err = m.On().NewEvent("end of a part"); err != nil {
			return t, err
		}
	}
	first := members[0].On()
	if t.clock, err = first.NewStream("clock of all parts"); err != nil {
		return t, err
	}
	if t.start, err = first.NewEvent("start of all parts"); err != nil {
		return t, err
	}
	t.end, err = first.NewEvent("end of all parts")
	return t, err
}

// Do does the work of all members, and returns when their answers are on the host.
// All is enqueued before any of it is waited for, on all devices at the same time.
func (t *Team) Do() error {
	var s starting
	s.missing.Store(int32(len(t.teams)))
	err := Each(len(t.teams), func(k int) error {
		defer s.leave()
		return t.members[t.teams[k][0]].On().Do(func() error {
			if s.arrive(); k == 0 && s.all() {
				if err := t.clock.Record(t.start); err != nil {
					return err
				}
				s.begun.Store(true)
			}
			if !s.begins() {
				return nil // the error of another device is returned
			}
			return t.enqueue(t.teams[k])
		})
	})
	if err == nil {
		err = t.members[0].On().Do(func() error {
			for _, done := range t.done {
				if err := t.clock.WaitFor(done); err != nil {
					return err
				}
			}
			return t.clock.Record(t.end)
		})
	}
	for _, m := range t.members {
		err = errors.Join(err, m.Stream().Wait())
	}
	return errors.Join(err, t.clock.Wait())
}

// starting synchronises the threads of all devices, so that none has to be woken up after the clock
// has started. They wait for each other without sleeping.
type starting struct {
	missing      atomic.Int32
	begun, ended atomic.Bool
}

func (s *starting) arrive() { s.missing.Add(-1) }

// leave releases the other members, which would wait forever for one that failed.
func (s *starting) leave() { s.ended.Store(true) }

// all returns when all have arrived, and whether they have.
func (s *starting) all() bool { return s.waitUntil(func() bool { return s.missing.Load() == 0 }) }

// begins returns when the clock has started, and whether it has.
func (s *starting) begins() bool { return s.waitUntil(s.begun.Load) }

func (s *starting) waitUntil(what func() bool) bool {
	for n := 1; !what(); n++ {
		if s.ended.Load() {
			return what()
		}
		if n%1000 == 0 {
			runtime.Gosched() // there may be more threads than processors
		}
	}
	return true
}

// enqueue adds the work of members of one device, on its thread.
func (t *Team) enqueue(members []int) error {
	for _, i := range members {
		m := t.members[i]
		if err := m.Stream().WaitFor(t.start); err != nil {
			return err
		}
		if err := m.Enqueue(); err != nil {
			return err
		}
		if err := m.Stream().Record(t.done[i]); err != nil {
			return err
		}
		if err := m.Bring(); err != nil {
			return err
		}
	}
	return nil
}

// leads is a member of each device.
func (t *Team) leads() []Member {
	var list []Member
	for _, team := range t.teams {
		list = append(list, t.members[team[0]])
	}
	return list
}

// Cool empties the second-level cache of each device.
func (t *Team) Cool() error {
	var errs []error
	for _, m := range t.leads() {
		errs = append(errs, m.On().FlushL2(m.Stream()))
	}
	for _, m := range t.leads() {
		errs = append(errs, m.Stream().Wait())
	}
	return errors.Join(errs...)
}

// Elapsed is the time of the last Do by the first member's device.
func (t *Team) Elapsed() (time.Duration, error) { return t.end.Since(t.start) }

// Close frees the events of NewTeam.
func (t *Team) Close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.Watches.Close(), CloseEach(t.done), CloseAll(t.end, t.start, t.clock))
}

// Each calls f with 0 to n − 1 at the same time, and joins the errors.
func Each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
