package chunked

import (
	"errors"
	"fmt"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/ecc"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

var _ bench.DeviceJob = (*job)(nil)

type job struct {
	*resident.Counter
	plan
	in      grid.Source
	copying device.Stream // Counter.Stream counts
	whole   device.Pinned // the image, when it is pinned where it is
	staged  []*stage      // else what is read ahead of the copies
	slots   []*slot
	marks   []mark // of the Do that is traced
	traced  bool
}

// A slot holds a slab on the device, with room for a slice before and after.
type slot struct {
	slab   device.Buffer
	copied device.Event // the slab is there
	free   device.Event // nothing needs it any more
}

// A stage holds a slab in pinned memory.
type stage struct {
	slab device.Pinned
	sent device.Event // it was copied, and may be overwritten
}

func (j *job) allocate(d device.Device) (err error) {
	if j.copying, err = d.NewStream("copying"); err != nil {
		return err
	}
	for k := range min(buffers, j.slabs) {
		s := &slot{}
		j.slots = append(j.slots, s)
		if s.slab, err = d.Alloc(fmt.Sprintf("slab %d", k), (j.slices+2)*j.size); err != nil {
			return err
		}
		if s.copied, err = d.NewEvent(fmt.Sprintf("slab %d copied", k)); err != nil {
			return err
		}
		if s.free, err = d.NewEvent(fmt.Sprintf("slab %d free", k)); err != nil {
			return err
		}
	}
	if j.ahead == 0 {
		j.whole, err = d.Register("image", j.in.(*grid.Field).Data())
		return err
	}
	for k := range j.ahead {
		s := &stage{}
		j.staged = append(j.staged, s)
		if s.slab, err = d.AllocPinned(fmt.Sprintf("slab %d on the host", k), j.slices*j.size); err != nil {
			return err
		}
		if s.sent, err = d.NewEvent(fmt.Sprintf("slab %d sent", k)); err != nil {
			return err
		}
	}
	return nil
}

// span is the slices of slab k.
func (j *job) span(k int64) (lo, hi int64) { return k * j.slices, min((k+1)*j.slices, j.n) }

func (j *job) Do(trace *bench.Trace) (err error) {
	if j.traced = trace != nil; j.traced {
		defer func() { err = errors.Join(err, j.timeline(trace, err == nil)) }()
	}
	if err := j.Begin(); err != nil {
		return err
	}
	if j.whole != nil {
		defer trace.Span("copy and count")()
		// All of it is added at once, from the device's own thread.
		err := j.On.Do(func() error {
			for k := range j.slabs {
				lo, hi := j.span(k)
				if err := j.add(k, j.whole, lo*j.size, (hi-lo)*j.size); err != nil {
					return err
				}
			}
			return j.count(j.slabs - 1)
		})
		if err != nil {
			return err
		}
		return j.End()
	}
	if err := j.stream(trace); err != nil {
		return err
	}
	return j.End()
}

// stream reads the slabs ahead, several at a time, and adds them in order.
func (j *job) stream(trace *bench.Trace) error {
	read := make([]chan error, len(j.staged)) // for each stage, when its next slab is there
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := make(chan struct{})
	defer close(stop)
	again := make([]chan struct{}, len(j.staged)) // for each stage, when it was sent
	for i, s := range j.staged {
		read[i], again[i] = make(chan error, 1), make(chan struct{}, 1)
		wg.Go(func() {
			for k := int64(i); k < j.slabs; k += int64(len(j.staged)) {
				end := trace.Span("read into pinned memory")
				lo, hi := j.span(k)
				err := j.in.ReadSlab(s.slab.Data()[:(hi-lo)*j.size], lo, hi)
				end()
				read[i] <- err
				select {
				case <-again[i]:
				case <-stop:
					return
				}
				if err := s.sent.Wait(); err != nil {
					read[i] <- err
					return
				}
			}
		})
	}
	for k := range j.slabs {
		i := int(k) % len(j.staged)
		if err := <-read[i]; err != nil {
			return err
		}
		lo, hi := j.span(k)
		s := j.staged[i]
		err := j.On.Do(func() error {
			return errors.Join(j.add(k, s.slab, 0, (hi-lo)*j.size), j.copying.Record(s.sent))
		})
		if err != nil {
			return err
		}
		again[i] <- struct{}{}
	}
	return j.On.Do(func() error { return j.count(j.slabs - 1) })
}

// add copies slab k to its slot as soon as that is free, and counts the slab
// before it, which needs the first slice of this one.
func (j *job) add(k int64, from device.Memory, off, bytes int64) error {
	s := j.slot(k)
	if k >= int64(len(j.slots)) {
		if err := j.copying.WaitFor(s.free); err != nil {
			return err
		}
	}
	err := j.marked("copy", j.copying, func() error {
		return j.copying.Copy(s.slab, j.before(k)*j.size, from, off, bytes)
	})
	if err != nil {
		return err
	}
	if err := j.copying.Record(s.copied); err != nil {
		return err
	}
	if k == 0 {
		return nil
	}
	return j.count(k - 1)
}

func (j *job) slot(k int64) *slot { return j.slots[k%int64(len(j.slots))] }

// before is the number of slices before those of slab k in its slot.
func (j *job) before(k int64) int64 { return min(k, 1) }

// count gives slab k its collar and counts it. The slab before it is not needed
// any more then.
func (j *job) count(k int64) error {
	s := j.slot(k)
	lo, hi := j.span(k)
	first := j.before(k)
	last := first + hi - lo
	slices := last
	if err := j.Stream.WaitFor(s.copied); err != nil {
		return err
	}
	if k > 0 {
		earlier := j.slot(k - 1)
		lo, hi := j.span(k - 1)
		if err := j.Stream.Copy(s.slab, 0, earlier.slab, (j.before(k-1)+hi-lo-1)*j.size, j.size); err != nil {
			return err
		}
		if err := j.Stream.Record(earlier.free); err != nil {
			return err
		}
	}
	if k+1 < j.slabs {
		later := j.slot(k + 1)
		if err := j.Stream.WaitFor(later.copied); err != nil {
			return err
		}
		if err := j.Stream.Copy(s.slab, last*j.size, later.slab, j.before(k+1)*j.size, j.size); err != nil {
			return err
		}
		slices++
	}
	return j.marked("count", j.Stream, func() error {
		return j.Count(j.Stream, s.slab, int32(j.w), int32(j.h), int32(slices), int32(first), int32(last))
	})
}

func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.Changes()), nil }

func (j *job) Close() error {
	var errs []error
	if j.copying != nil {
		errs = append(errs, j.copying.Wait())
	}
	errs = append(errs, j.Stream.Wait())
	for _, s := range j.slots {
		errs = append(errs, resident.CloseAll(s.slab, s.copied, s.free))
	}
	for _, s := range j.staged {
		errs = append(errs, resident.CloseAll(s.slab, s.sent))
	}
	return errors.Join(append(errs, resident.CloseAll(j.whole, j.copying), j.Counter.Close())...)
}
