package resident

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// A Team is work on several devices that starts together and is timed by one
// clock. The first member's device notes the time before any of it; the others
// wait for that, and it notes the time again when it has waited for all of them.
type Team struct {
	members    []Member
	teams      [][]int // the members of each device, the first member's device first
	start, end device.Event
	done       []device.Event // for each member; the first has none
	watches    []*Watch       // for each device
}

// NewTeam makes the events of a team. Its members stay the caller's.
func NewTeam(members []Member) (t *Team, err error) {
	t = &Team{members: members, done: make([]device.Event, len(members))}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	for i, m := range members {
		k := slices.IndexFunc(t.teams, func(team []int) bool {
			return members[team[0]].On().Info().Index == m.On().Info().Index
		})
		if k < 0 {
			k = len(t.teams)
			t.teams, t.watches = append(t.teams, nil), append(t.watches, NewWatch(m.On()))
		}
		t.teams[k] = append(t.teams[k], i)
		if i == 0 {
			continue
		}
		if t.done[i], err = m.On().NewEvent("end of a part"); err != nil {
			return t, err
		}
	}
	if t.start, err = members[0].On().NewEvent("start of all parts"); err != nil {
		return t, err
	}
	t.end, err = members[0].On().NewEvent("end of all parts")
	return t, err
}

// Do does the work of all members, and returns when their answers are on the host.
// All is enqueued before any of it is waited for, by one goroutine for each device.
func (t *Team) Do() error {
	lead := t.members[0]
	began, ready := false, make(chan struct{})
	release := sync.OnceFunc(func() { close(ready) })
	errs := make([]error, len(t.teams))
	var wg sync.WaitGroup
	for k, team := range t.teams[1:] {
		wg.Go(func() {
			<-ready
			if began {
				errs[k+1] = t.members[team[0]].On().Do(func() error { return t.enqueue(team) })
			}
		})
	}
	errs[0] = lead.On().Do(func() error {
		if err := lead.Stream().Record(t.start); err != nil {
			return err
		}
		began = true
		release()
		return t.enqueue(t.teams[0])
	})
	release()
	wg.Wait()
	err := errors.Join(errs...)
	if err == nil {
		err = lead.On().Do(func() error {
			for _, done := range t.done[1:] {
				if err := lead.Stream().WaitFor(done); err != nil {
					return err
				}
			}
			if err := lead.Stream().Record(t.end); err != nil {
				return err
			}
			return lead.Bring()
		})
	}
	for _, m := range t.members {
		err = errors.Join(err, m.Stream().Wait())
	}
	return err
}

// enqueue adds the work of members of one device, on its thread.
func (t *Team) enqueue(members []int) error {
	for _, i := range members {
		m := t.members[i]
		if i == 0 {
			if err := m.Enqueue(); err != nil {
				return err
			}
			continue
		}
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

// Elapsed is the time of the last Do on the first member's device.
func (t *Team) Elapsed() (time.Duration, error) { return t.end.Since(t.start) }

// Device describes the devices in one line: equal ones once, with their number.
func (t *Team) Device() string {
	var kinds []string
	count := map[string]int{}
	for _, m := range t.leads() {
		kind := Describe(m.On())
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", count[kind], kind)
	}
	return strings.Join(kinds, "; ")
}

// UUIDs are those of the devices.
func (t *Team) UUIDs() []string {
	var list []string
	for _, m := range t.leads() {
		list = append(list, m.On().Info().UUID)
	}
	return list
}

// Flags are how many devices there are, and what the sensors of each say.
func (t *Team) Flags() []string {
	flags := []string{fmt.Sprintf("devices=%d", len(t.teams))}
	for k, m := range t.leads() {
		for _, f := range t.watches[k].Flags() {
			flags = append(flags, fmt.Sprintf("device %d: %s", m.On().Info().Index, f))
		}
	}
	return flags
}

// Close frees what NewTeam made.
func (t *Team) Close() error {
	var errs []error
	for _, w := range t.watches {
		errs = append(errs, w.Close())
	}
	for _, e := range append(t.done, t.start, t.end) {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
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
