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

func (j *job) setup() error {
	j.stream = j.NewStream("gradient vector flow")
	j.start, j.end = j.NewEvent("start"), j.NewEvent("end")
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
	j.v0, j.b = j.NewBuffer("gradient", field), j.NewBuffer("squares of its lengths", 4*n)
	j.v[0], j.parts = j.NewBuffer("field", field), j.NewBuffer("extents", extentBytes)
	if j.solver == nil {
		j.v[1] = j.NewBuffer("other field", field)
	}
	if n := exchangeBytes(j.p, j.On.Info()); n > 0 && j.solver == nil {
		if j.exchange = j.NewBuffer("exchanged pixels", n); j.Err() == nil {
			j.Fail(j.stream.Fill(j.exchange, 0, n, 0))
		}
	}
	j.back = j.NewPinned("field on the host", field)
	if hosted(j.p) {
		if j.Err() == nil && j.scope != bench.E2E {
			return j.bringStart()
		}
		return j.Err()
	}
	j.image, j.feed = resident.NewImage(&j.Objects, j.stream, j.p, j.scope == bench.E2E, j.threads)
	return j.Err()
}

// An allocation is device memory of a given size, or with initial data.
type allocation struct {
	to    *device.Buffer
	name  string
	bytes int64
	data  []byte
}

func (j *job) alloc(list []allocation) error {
	for _, a := range list {
		*a.to = j.NewBuffer(a.name, max(a.bytes, int64(len(a.data))))
		if a.data != nil && j.Err() == nil {
			j.Fail(j.stream.Upload(*a.to, 0, a.data))
		}
	}
	return j.Err()
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
	err := j.On.Do(j.run)
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
func (j *job) Cool() error { return errors.Join(j.On.FlushL2(j.stream), j.stream.Wait()) }

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

var _ bench.DeviceJob = (*job)(nil)
