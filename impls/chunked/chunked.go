// Package chunked streams the image through the device in slabs: each of several
// lanes reads a slab with its collar of one slice into pinned memory, copies it
// to the device on a stream of its own, and counts it there, so that reading,
// copying and counting overlap (Wang et al. 2022, section 4.4;
// kernels/ecc_chunked.cu). Neither host nor device has to hold the image. Levels
// beyond the shared memory of a block go to the curve's table in global memory
// directly, change by change.
package chunked

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/ecc"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/kernels"
)

// The pipeline's size: enough lanes that some read while others copy and count,
// slabs long enough that copies run at their full rate and short enough that the
// first and the last, which overlap with nothing, do not count.
const (
	maxLanes  = 8
	slabBytes = 32 << 20
)

// Implementation is the chunked implementation on the devices that Open gives.
type Implementation struct{ Open resident.Opener }

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name:   "chunked",
		Where:  "gpu",
		Method: "slabs with a collar streamed through the device, copies overlapped with kernels",
		Source: "Wang et al. 2022, section 4.4",
		Scopes: []bench.Scope{bench.E2E, bench.File},
	}
}

// A plan says how an image is cut.
type plan struct {
	n, h, w int64
	lanes   int64
	slices  int64 // counted in a slab
	bytes   int64 // of a slab with its collar
}

func newPlan(in grid.Source, threads int) plan {
	n, h, w := ecc.Stack(in.Shape())
	size := grid.SliceBytes(in)
	p := plan{n: n, h: h, w: w, lanes: max(2, min(maxLanes, int64(threads)))}
	p.slices = max(1, min(slabBytes/size, (n+p.lanes-1)/p.lanes))
	p.bytes = (p.slices + 2) * size
	return p
}

// CanDo refuses what does not fit the device slab by slab.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	d, err := i.Open(c.Device)
	if err != nil {
		return err
	}
	if s := in.Shape(); s.W > math.MaxInt32/2 || s.H > math.MaxInt32/2 || s.D > math.MaxInt32/2 {
		return fmt.Errorf("%v: an axis is longer than the kernels count, %d", s, math.MaxInt32/2)
	}
	p := newPlan(in, c.Threads)
	return resident.Fits(d, p.lanes*p.bytes+12*in.Ladder().Len(), fmt.Sprintf("%d slabs of %d slices", p.lanes, p.slices+2))
}

// Setup loads the kernel and allocates the lanes' buffers.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := i.Open(c.Device)
	if err != nil {
		return nil, err
	}
	ptx, err := kernels.PTX("ecc_chunked")
	if err != nil {
		return nil, err
	}
	counter, err := resident.Open(d, resident.Kernel{
		Module: "ecc_chunked", Method: "chunked", PTX: ptx, Shape: in.Shape(), Type: in.Type(), Ladder: in.Ladder(),
	})
	if err != nil {
		return nil, err
	}
	j := &job{Counter: counter, plan: newPlan(in, c.Threads), in: in}
	for k := range j.lanes {
		l, err := j.newLane(d, k)
		j.open = append(j.open, l)
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	return j, nil
}

type job struct {
	*resident.Counter
	plan
	in   grid.Source
	open []*lane
}

// A lane is one slab on its way.
type lane struct {
	stream device.Stream
	host   device.Pinned
	slab   device.Buffer
}

func (j *job) newLane(d device.Device, k int64) (l *lane, err error) {
	l = &lane{}
	if l.stream, err = d.NewStream(fmt.Sprintf("lane %d", k)); err != nil {
		return l, err
	}
	if l.host, err = d.AllocPinned(fmt.Sprintf("slab of lane %d on the host", k), j.bytes); err != nil {
		return l, err
	}
	l.slab, err = d.Alloc(fmt.Sprintf("slab of lane %d", k), j.bytes)
	return l, err
}

func (l *lane) close() error {
	var errs []error
	if l.stream != nil {
		errs = append(errs, l.stream.Wait())
	}
	if l.slab != nil {
		errs = append(errs, l.slab.Close())
	}
	if l.host != nil {
		errs = append(errs, l.host.Close())
	}
	if l.stream != nil {
		errs = append(errs, l.stream.Close())
	}
	return errors.Join(errs...)
}

func (j *job) Do(trace *bench.Trace) error {
	if err := j.Begin(); err != nil {
		return err
	}
	// The table is clear before any lane adds to it.
	if err := j.Stream.Wait(); err != nil {
		return err
	}
	var next atomic.Int64
	errs := make([]error, len(j.open))
	var wg sync.WaitGroup
	for k, l := range j.open {
		wg.Go(func() {
			for errs[k] == nil {
				lo := (next.Add(1) - 1) * j.slices
				if lo >= j.n {
					return
				}
				errs[k] = j.count(l, lo, min(lo+j.slices, j.n), trace)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return j.End()
}

// count reads, copies and counts slices lo ≤ z < hi.
func (j *job) count(l *lane, lo, hi int64, trace *bench.Trace) error {
	from, to := max(0, lo-1), min(j.n, hi+1)
	bytes := (to - from) * grid.SliceBytes(j.in)
	end := trace.Span("read into pinned memory")
	if err := j.in.ReadSlab(l.host.Data()[:bytes], from, to); err != nil {
		return err
	}
	end()
	defer trace.Span("copy and count")()
	if err := l.stream.Copy(l.slab, 0, l.host, 0, bytes); err != nil {
		return err
	}
	if err := j.Count(l.stream, l.slab, int32(j.w), int32(j.h), int32(to-from), int32(lo-from), int32(hi-from)); err != nil {
		return err
	}
	return l.stream.Wait()
}

func (j *job) Out() (ecc.VCEC, error) { return ecc.FromDense(j.Changes()), nil }

func (j *job) Close() error {
	var errs []error
	for _, l := range j.open {
		errs = append(errs, l.close())
	}
	return errors.Join(append(errs, j.Counter.Close())...)
}
