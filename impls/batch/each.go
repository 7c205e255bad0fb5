// Package batch implements internal/workloads/batch: image by image with any implementation of the
// curve, while others are read, or all images in one launch.
package batch

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/batch"
	"eccbench/internal/workloads/ecc"
)

const (
	// onDevice is the number of images that are copied and counted at the same time on a device: a
	// core copies one to pinned memory while another is counted. A small image is counted faster
	// than several threads take turns in the driver, so small images are counted one at a time.
	onDevice   = 4
	smallImage = 1 << 20 // bytes
	// aheadBytes bounds the memory of images that are read ahead.
	aheadBytes = 256 << 20
)

// Each answers each image by an implementation of the curve.
type Each struct {
	Of bench.Implementation[grid.Source, ecc.VCEC]
}

// About describes the method.
func (i Each) About() bench.About {
	a := i.Of.About()
	a.Scopes = []bench.Scope{bench.E2E, bench.File}
	if _, ok := i.Of.(Resident); ok {
		a.Scopes = append([]bench.Scope{bench.Kernel, bench.Device}, a.Scopes...)
	}
	return a
}

// Resident is an implementation on a device that counts the images of a batch in the device's
// memory.
type Resident interface {
	SetupEach(grid.Batch, bench.Conditions) (bench.Job[[]ecc.VCEC], error)
}

// resident reports whether the images are on a device before Do.
func resident(c bench.Conditions) bool { return c.Scope == bench.Kernel || c.Scope == bench.Device }

// Together answers all images of a batch at once.
type Together struct {
	Of bench.Implementation[grid.Batch, []ecc.VCEC]
}

// About describes the method.
func (t Together) About() bench.About { return t.Of.About() }

// CanDo calls CanDo of the implementation.
func (t Together) CanDo(b *batch.Batch, c bench.Conditions) error { return t.Of.CanDo(b.Whole(), c) }

// Setup binds the implementation to the images.
func (t Together) Setup(b *batch.Batch, c bench.Conditions) (bench.Job[[]ecc.VCEC], error) {
	return t.Of.Setup(b.Whole(), c)
}

// inner returns the conditions of each goroutine, and the number of goroutines.
func (i Each) inner(b *batch.Batch, c bench.Conditions) (bench.Conditions, int) {
	lanes := max(1, c.Threads)
	if i.About().Where != "cpu" {
		lanes = onDevice
		if grid.TotalBytes(b.First()) < smallImage {
			lanes = 1
		}
	}
	lanes = min(lanes, b.Len())
	c.Threads = max(1, c.Threads/lanes)
	c.Memory /= int64(lanes)
	return c, lanes
}

// CanDo rejects a batch if one of its images is rejected, or if all of them would take too long.
func (i Each) CanDo(b *batch.Batch, c bench.Conditions) error {
	if resident(c) {
		return i.Of.CanDo(b.Whole(), c)
	}
	inner, lanes := i.inner(b, c)
	inner.Time = c.Time * time.Duration(lanes) / time.Duration(b.Len())
	if err := i.Of.CanDo(&slot{like: b.First()}, inner); device.IsUnavailable(err) {
		return err
	} else if err != nil {
		return fmt.Errorf("one of %d images: %w", b.Len(), err)
	}
	return nil
}

// Setup binds the implementation to as many images as are in work at once.
func (i Each) Setup(b *batch.Batch, c bench.Conditions) (bench.Job[[]ecc.VCEC], error) {
	if r, ok := i.Of.(Resident); ok && resident(c) {
		return r.SetupEach(b.Whole(), c)
	}
	inner, lanes := i.inner(b, c)
	j := &job{batch: b, out: make([]ecc.VCEC, b.Len())}
	if _, ok := b.Whole().FieldAt(0); !ok {
		j.readers = ahead(b, c)
		for range lanes + j.readers {
			j.buffers = append(j.buffers, grid.NewBuffer(grid.TotalBytes(b.First())))
		}
	}
	for range lanes {
		s := &slot{like: b.First()}
		one, err := i.Of.Setup(s, inner)
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		j.lanes = append(j.lanes, lane{s, one})
	}
	if on, ok := j.lanes[0].job.(bench.DeviceJob); ok {
		return onADevice{j, on}, nil
	}
	return j, nil
}

// onADevice is a job whose lanes share a device; the first lane describes it.
type onADevice struct {
	*job
	bench.DeviceJob
}

// ahead returns the number of images to read at the same time: as many as the ceiling reads, within
// the memory.
func ahead(b *batch.Batch, c bench.Conditions) int {
	most, size := int64(aheadBytes), grid.TotalBytes(b.First())
	if c.Memory > 0 {
		most = min(most, c.Memory/4)
	}
	return int(max(1, min(int64(atOnce(c)), int64(b.Len()), most/size)))
}

// A slot is the Source of the current image: its bytes are replaced between answers.
type slot struct {
	like grid.Source
	data []byte
}

func (s *slot) Shape() grid.Shape   { return s.like.Shape() }
func (s *slot) Type() grid.Type     { return s.like.Type() }
func (s *slot) Ladder() grid.Ladder { return s.like.Ladder() }

// ReadSlab copies slices lo ≤ i < hi to dst.
func (s *slot) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	size := grid.SliceBytes(s)
	copy(dst, s.data[lo*size:hi*size])
	return nil
}

// A lane is one image in work with the job that counts it.
type lane struct {
	slot *slot
	job  bench.Job[ecc.VCEC]
}

type job struct {
	batch   *batch.Batch
	lanes   []lane
	readers int
	buffers [][]byte // of images that are read, one for each reader and each lane
	out     []ecc.VCEC
}

func (j *job) Do(trace *bench.Trace) error {
	if j.readers == 0 {
		return batch.Spread(j.batch.Len(), len(j.lanes), func(k, i int) error {
			f, _ := j.batch.Whole().FieldAt(int64(i))
			return j.count(j.lanes[k], i, f.Data(), trace)
		})
	}
	// An image is an input in a buffer that is reused after the count.
	type image struct {
		i    int
		data []byte
	}
	free, read := make(chan []byte, len(j.buffers)), make(chan image, len(j.buffers))
	for _, b := range j.buffers {
		free <- b
	}
	var failed atomic.Bool
	errs := make([]error, len(j.lanes)+1)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(read)
		errs[0] = batch.Spread(j.batch.Len(), j.readers, func(_, i int) error {
			data := <-free
			if failed.Load() { // the rest is for nothing
				free <- data
				return nil
			}
			end := trace.Span("file")
			if err := j.batch.ReadImage(int64(i), data); err != nil {
				return err
			}
			end()
			read <- image{i, data}
			return nil
		})
	})
	for k, l := range j.lanes {
		wg.Go(func() {
			for m := range read {
				if errs[k+1] == nil {
					errs[k+1] = j.count(l, m.i, m.data, trace)
				}
				if errs[k+1] != nil {
					failed.Store(true)
				}
				free <- m.data
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// count counts image i, which is there.
func (j *job) count(l lane, i int, data []byte, trace *bench.Trace) error {
	l.slot.data = data
	var one *bench.Trace
	if trace != nil {
		one = &bench.Trace{}
		defer func() { trace.Sum(one) }()
	}
	if err := l.job.Do(one); err != nil {
		return err
	}
	v, err := l.job.Out()
	j.out[i] = v
	return err
}

func (j *job) Poison() {
	clear(j.out)
	for _, l := range j.lanes {
		l.job.Poison()
	}
}

// Out returns a new list with a curve for each image; the next Do does not overwrite it.
func (j *job) Out() ([]ecc.VCEC, error) { return append([]ecc.VCEC(nil), j.out...), nil }

func (j *job) Close() error {
	var errs []error
	for _, l := range j.lanes {
		errs = append(errs, l.job.Close())
	}
	return errors.Join(errs...)
}
