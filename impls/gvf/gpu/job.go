package gpu

import (
	"errors"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

type job struct {
	*resident.Watch
	program
	memory
	method     method
	fault      Fault
	many       int64
	scope      bench.Scope
	threads    int
	stream     device.Stream
	start, end device.Event

	solver *solver        // for the steady state
	feed   *resident.Feed // for scope e2e, which copies the image
	back   device.Pinned  // the field on the host
	out    gvf.Output     // the last answer
}

func (j *job) setup() (err error) {
	if j.stream, err = j.d.NewStream("gradient vector flow"); err != nil {
		return err
	}
	if j.start, err = j.d.NewEvent("start"); err != nil {
		return err
	}
	if j.end, err = j.d.NewEvent("end"); err != nil {
		return err
	}
	if err := j.load(j.method.plan); err != nil {
		return err
	}
	if j.method.plan == nil {
		if err := j.newSolver(); err != nil {
			return err
		}
	}
	n := j.p.Shape().Voxels()
	field := size(j.p) * int64(j.p.Dim()) * n
	list := []allocation{{&j.v0, "gradient", field, nil}, {&j.b, "squares of its lengths", 4 * n, nil},
		{&j.v[0], "field", field, nil}, {&j.parts, "extents", extentBytes, nil}}
	if j.solver == nil {
		list = append(list, allocation{&j.v[1], "other field", field, nil})
	}
	if err := j.alloc(list); err != nil {
		return err
	}
	if n := exchangeBytes(j.p, j.d.Info()); n > 0 && j.solver == nil {
		if j.exchange, err = j.d.Alloc("exchanged pixels", n); err != nil {
			return err
		}
		if err := j.stream.Fill(j.exchange, 0, n, 0); err != nil {
			return err
		}
	}
	if j.back, err = j.d.AllocPinned("field on the host", field); err != nil {
		return err
	}
	return j.place()
}

// An allocation is device memory of a given size, or with initial data.
type allocation struct {
	to    *device.Buffer
	name  string
	bytes int64
	data  []byte
}

func (j *job) alloc(list []allocation) (err error) {
	for _, a := range list {
		if *a.to, err = j.d.Alloc(a.name, max(a.bytes, int64(len(a.data)))); err != nil {
			return err
		}
		if a.data != nil {
			if err := j.stream.Upload(*a.to, 0, a.data); err != nil {
				return err
			}
		}
	}
	return nil
}

// place copies the image to the device, or prepares the copy for scope e2e.
func (j *job) place() (err error) {
	switch {
	case hosted(j.p):
		if j.scope != bench.E2E {
			return j.bringStart()
		}
		return nil
	case j.scope != bench.E2E:
		j.image, err = resident.Put(j.d, j.stream, j.p)
		return err
	}
	if j.image, err = j.d.Alloc("image", grid.TotalBytes(j.p)); err != nil {
		return err
	}
	j.feed, err = resident.NewFeed(j.d, j.p, 0, j.threads)
	return err
}

// bringStart copies a gradient that was computed on the host.
func (j *job) bringStart() error {
	start, err := j.p.Start(j.threads)
	if err != nil {
		return err
	}
	for c, list := range start.V0 {
		if err := j.stream.Upload(j.v0, int64(c)*j.b.Bytes(), grid.Bytes(list)); err != nil {
			return err
		}
	}
	return nil
}

// Do computes the answer on the device. Except in scope kernel, it also copies the field to the
// host.
func (j *job) Do(trace *bench.Trace) error {
	if j.scope == bench.E2E {
		end := trace.Span("upload")
		err := j.upload()
		end()
		if err != nil {
			return err
		}
	}
	err := j.d.Do(j.run)
	switch {
	case err != nil:
	case j.scope == bench.Kernel:
		err = j.stream.Wait()
	default:
		err = j.bring()
	}
	if err == nil && j.solver != nil {
		err = j.solver.ended(j.stream)
	}
	return err
}

func (j *job) upload() error {
	if j.feed == nil {
		return j.bringStart()
	}
	return j.feed.Add(j.stream, j.image, 0)
}

// bring copies the field to the host.
func (j *job) bring() error {
	return errors.Join(j.stream.Copy(j.back, 0, j.v[0], 0, j.back.Bytes()), j.stream.Wait())
}

// run enqueues the launches: the gradient, and the passes. The last pass writes to the result.
func (j *job) run() error {
	if err := j.stream.Record(j.start); err != nil {
		return err
	}
	if err := j.gradients(j.stream, &j.memory); err != nil {
		return err
	}
	if j.solver != nil {
		if err := j.solver.add(j); err != nil {
			return err
		}
		return j.stream.Record(j.end)
	}
	if err := j.steps(j.stream, &j.memory); err != nil {
		return err
	}
	if j.fault == OldBuffer && len(j.work) > 0 {
		if err := j.stream.Copy(j.v[0], 0, j.v[1], 0, j.v0.Bytes()); err != nil {
			return err
		}
	}
	return j.stream.Record(j.end)
}

// Elapsed returns the device time of the last Do.
func (j *job) Elapsed() (time.Duration, error) { return j.end.Since(j.start) }

// Cool flushes the device's L2 cache.
func (j *job) Cool() error { return errors.Join(j.d.FlushL2(j.stream), j.stream.Wait()) }

// Poison overwrites the buffers that Out reads, and those from which they are computed.
func (j *job) Poison() {
	const poison = 0x5a
	list := []device.Buffer{j.v[0], j.v[1], j.b}
	if j.solver != nil {
		list[1] = j.solver.arena
	}
	if j.image != nil {
		list = append(list, j.v0)
	}
	for _, b := range list {
		// Ignore errors: a broken device fails at the next call, with the reason.
		_ = j.stream.Fill(b, 0, b.Bytes(), poison)
	}
	_ = j.stream.Wait()
	resident.Overwrite(j.back.Data(), poison)
}

// Out returns the last answer, which the next one overwrites.
func (j *job) Out() (gvf.Flow, error) {
	if j.scope == bench.Kernel {
		if err := j.bring(); err != nil {
			return gvf.Flow{}, err
		}
	}
	if j.out.V == nil {
		j.out = gvf.NewOutput(j.p)
	}
	for c, list := range j.out.V {
		j.p.Storage.Decode(list, j.back.Data()[int64(c)*size(j.p)*int64(len(list)):])
	}
	return j.out.Out()
}

// Close frees the device's memory and kernels.
func (j *job) Close() error {
	var errs []error
	if j.stream != nil {
		errs = append(errs, j.stream.Wait())
	}
	if j.feed != nil {
		errs = append(errs, j.feed.Close())
	}
	if j.solver != nil {
		errs = append(errs, resident.CloseAll(j.solver.report))
		for _, b := range j.solver.buffers() {
			errs = append(errs, resident.CloseAll(b))
		}
	}
	errs = append(errs, resident.CloseAll(j.back, j.exchange, j.parts, j.v[1], j.v[0], j.b, j.v0, j.image))
	errs = append(errs, j.unload(), resident.CloseAll(j.end, j.start), j.Watch.Close())
	if j.stream != nil {
		errs = append(errs, j.stream.Close())
	}
	return errors.Join(errs...)
}

var _ bench.DeviceJob = (*job)(nil)
