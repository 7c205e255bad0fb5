package chunked

import (
	"errors"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// A mark is a pair of events around a part of the work.
type mark struct {
	name     string
	from, to device.Event
}

// marked enqueues work on a stream. If the Do is traced, it enqueues events before and after it.
func (j *job) marked(name string, s device.Stream, add func() error) (err error) {
	if !j.traced {
		return add()
	}
	m := mark{name: name}
	for _, e := range []*device.Event{&m.from, &m.to} {
		if *e, err = j.On.NewEvent(name); err != nil {
			return errors.Join(err, m.close())
		}
	}
	j.marks = append(j.marks, m)
	return errors.Join(s.Record(m.from), add(), s.Record(m.to))
}

func (m mark) close() error { return resident.CloseAll(m.from, m.to) }

// timeline adds the marks to the trace if the Do succeeded, and frees them.
func (j *job) timeline(trace *bench.Trace, done bool) (err error) {
	for _, m := range j.marks {
		if done {
			from, first := j.At(m.from)
			to, second := j.At(m.to)
			trace.Interval(m.name, from, to)
			err = errors.Join(err, first, second)
		}
		err = errors.Join(err, m.close())
	}
	j.marks = nil
	return err
}
