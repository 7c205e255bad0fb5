package chunked

import (
	"errors"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/counting"
)

var _ bench.DeviceJob = (*job)(nil)

type job struct {
	*counting.Counter
	plan
	copying device.Stream // Counter.Stream is the stream that counts
	feed    *resident.Feed
	slots   []*slot
	marks   []mark // of the current Do, if it is traced
	traced  bool
}

// A slot is device memory for a slab and one slice on either side.
type slot struct {
	slab   device.Buffer
	copied device.Event // after the copy of the slab
	free   device.Event // after the last use of the slab
}

func (j *job) allocate(d device.Device, in grid.Source, bytes int64, threads int) error {
	j.copying = j.NewStream("copying")
	for k := range min(buffers, j.slabs) {
		j.slots = append(j.slots, &slot{slab: j.NewBuffer(fmt.Sprintf("slab %d", k), (j.slices+2)*j.size),
			copied: j.NewEvent(fmt.Sprintf("slab %d copied", k)), free: j.NewEvent(fmt.Sprintf("slab %d free", k))})
	}
	j.feed = j.NewFeed(in, bytes, threads)
	return j.Err()
}

// span returns the slices of slab k.
func (j *job) span(k int64) (lo, hi int64) { return k * j.slices, min((k+1)*j.slices, j.n) }

func (j *job) Do(trace *bench.Trace) (err error) {
	if j.traced = trace != nil; j.traced {
		defer func() { err = errors.Join(err, j.timeline(trace, err == nil)) }()
	}
	if err := j.Begin(); err != nil {
		return err
	}
	if j.feed.Whole() {
		defer trace.Span("copy and count")()
	}
	err = j.feed.Each(j.copying, trace, func(p resident.Piece) error {
		if err := j.add(p); err != nil || p.Index < j.slabs-1 {
			return err
		}
		return j.count(p.Index)
	})
	if err != nil {
		return err
	}
	return j.End()
}

// add copies a slab to its slot once the slot is free. It then counts the previous slab, which
// needs the first slice of this one.
func (j *job) add(p resident.Piece) error {
	k := p.Index
	s := j.slot(k)
	if k >= int64(len(j.slots)) {
		if err := j.copying.WaitFor(s.free); err != nil {
			return err
		}
	}
	err := j.marked("copy", j.copying, func() error {
		return j.copying.Copy(s.slab, j.leadingSlices(k)*j.size, p.From, p.Off, p.Bytes)
	})
	if err != nil {
		return err
	}
	if err := j.copying.Record(s.copied); err != nil || k == 0 {
		return err
	}
	return j.count(k - 1)
}

func (j *job) slot(k int64) *slot { return j.slots[k%int64(len(j.slots))] }

// leadingSlices returns the number of slices before slab k in its slot.
func (j *job) leadingSlices(k int64) int64 { return min(k, 1) }

// count extends slab k by its neighbours' slices and counts it. That was the last use of the
// previous slab.
func (j *job) count(k int64) error {
	s := j.slot(k)
	lo, hi := j.span(k)
	first := j.leadingSlices(k)
	last := first + hi - lo
	slices := last
	if err := j.Stream.WaitFor(s.copied); err != nil {
		return err
	}
	if k > 0 {
		earlier := j.slot(k - 1)
		lo, hi := j.span(k - 1)
		if err := j.Stream.Copy(s.slab, 0, earlier.slab, (j.leadingSlices(k-1)+hi-lo-1)*j.size, j.size); err != nil {
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
		if err := j.Stream.Copy(s.slab, last*j.size, later.slab, j.leadingSlices(k+1)*j.size, j.size); err != nil {
			return err
		}
		slices++
	}
	return j.marked("count", j.Stream, func() error {
		return j.Count(j.Stream, s.slab, int32(j.w), int32(j.h), int32(slices), int32(first), int32(last))
	})
}

func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.Changes()), nil }
