package batch

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/ecc"
	"eccbench/internal/grid"
)

// onDevice is how many images are read, copied and counted at the same time where
// the counting is a device's: one is counted while another is copied and the rest
// are read.
const onDevice = 4

// Implementation answers each image by an implementation of the curve.
type Implementation struct {
	Of bench.Implementation[grid.Source, ecc.VCEC]
}

// About describes the method.
func (i Implementation) About() bench.About {
	a := i.Of.About()
	a.Method = "image by image, others being read meanwhile: " + a.Method
	a.Scopes = []bench.Scope{bench.E2E, bench.File}
	if _, ok := i.Of.(Resident); ok {
		a.Scopes = append([]bench.Scope{bench.Kernel, bench.Device}, a.Scopes...)
	}
	return a
}

// Resident is an implementation on a device that goes from image to image of those
// that are there already.
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

// CanDo asks the implementation.
func (t Together) CanDo(b *Batch, c bench.Conditions) error { return t.Of.CanDo(b.whole, c) }

// Setup binds the implementation to the images.
func (t Together) Setup(b *Batch, c bench.Conditions) (bench.Job[[]ecc.VCEC], error) {
	return t.Of.Setup(b.whole, c)
}

// inner is what each of the goroutines is given of the conditions, and how many
// there are.
func (i Implementation) inner(b *Batch, c bench.Conditions) (bench.Conditions, int) {
	lanes := max(1, c.Threads)
	if i.About().Where != "cpu" {
		lanes = onDevice
	}
	lanes = min(lanes, b.Len())
	c.Threads = max(1, c.Threads/lanes)
	c.Memory /= int64(lanes)
	return c, lanes
}

// CanDo refuses what one image is refused for, and what all of them would take
// too long for.
func (i Implementation) CanDo(b *Batch, c bench.Conditions) error {
	if resident(c) {
		return i.Of.CanDo(b.whole, c)
	}
	inner, lanes := i.inner(b, c)
	inner.Time = c.Time * time.Duration(lanes) / time.Duration(b.Len())
	if err := i.Of.CanDo(newSlot(b.like), inner); err != nil {
		return fmt.Errorf("one of %d images: %w", b.Len(), err)
	}
	return nil
}

// Setup binds the implementation to as many images as are in work at once.
func (i Implementation) Setup(b *Batch, c bench.Conditions) (bench.Job[[]ecc.VCEC], error) {
	if r, ok := i.Of.(Resident); ok && resident(c) {
		return r.SetupEach(b.whole, c)
	}
	inner, lanes := i.inner(b, c)
	j := &job{batch: b, out: make([]ecc.VCEC, b.Len())}
	for range lanes {
		s := newSlot(b.like)
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

// onADevice is a job whose lanes share a device, of which the first one tells.
type onADevice struct {
	*job
	bench.DeviceJob
}

// A slot is the Source of the image that is in work: its bytes are replaced
// between answers.
type slot struct {
	like grid.Source
	data []byte
}

func newSlot(like grid.Source) *slot { return &slot{like, grid.NewBuffer(grid.TotalBytes(like))} }

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
	batch *Batch
	lanes []lane
	out   []ecc.VCEC
}

func (j *job) Do(trace *bench.Trace) error {
	var next atomic.Int64
	errs := make([]error, len(j.lanes))
	var failed atomic.Bool
	var wg sync.WaitGroup
	for k, l := range j.lanes {
		wg.Go(func() {
			for !failed.Load() {
				i := next.Add(1) - 1
				if i >= int64(j.batch.Len()) {
					return
				}
				if errs[k] = j.one(l, i, trace); errs[k] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// one reads and counts image i.
func (j *job) one(l lane, i int64, trace *bench.Trace) error {
	if f, ok := j.batch.whole.At(i); ok {
		l.slot.data = f.Data()
	} else {
		end := trace.Span("file")
		if err := j.batch.read(i, l.slot.data); err != nil {
			return err
		}
		end()
	}
	if err := l.job.Do(trace); err != nil {
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

// Out is a curve for each image. It is new: the next Do overwrites none of it.
func (j *job) Out() ([]ecc.VCEC, error) { return append([]ecc.VCEC(nil), j.out...), nil }

func (j *job) Close() error {
	var errs []error
	for _, l := range j.lanes {
		errs = append(errs, l.job.Close())
	}
	return errors.Join(errs...)
}
