package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// Shape of the kernels that make V0 and b of an image (kernels/gvf/gvf_start.cu).
const (
	startWarps  = 8
	startBlocks = 8 // of a multiprocessor
	extentParts = 1024
	extentBytes = 8 * extentParts
)

type job struct {
	*resident.Watch
	d          device.Device
	p          *gvf.Problem
	method     method
	fault      Fault
	many       int64
	scope      bench.Scope
	threads    int
	stream     device.Stream
	start, end device.Event
	modules    []device.Module

	image    device.Buffer
	parts    device.Buffer // the extent of what each block has seen
	exchange device.Buffer // what blocks exchange pixels through, nil where they do not
	number   int64         // of the last exchange
	v0, b    device.Buffer
	v        [2]device.Buffer // the field, and that before it or after
	solver   *solver          // of the field at rest
	feed     *resident.Feed   // of whole calls, which bring the image
	back     device.Pinned    // the field on the host
	out      gvf.Output       // the last answer

	extent, scale, gradient, magnitude device.Function
	work                               []work // in the order of the steps
}

// Work is a pass with its kernel.
type work struct {
	pass
	function device.Function
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
	if err := j.load(); err != nil {
		return err
	}
	if j.method.plan == nil {
		if err := j.newSolver(); err != nil {
			return err
		}
	}
	n := j.p.Shape().Voxels()
	field := size(j.p) * int64(j.p.Dim()) * n
	list := []allocation{{&j.v0, "gradient", field, nil}, {&j.b, "squares of its lengths", 4 * n, nil}, {&j.v[0], "field", field, nil}, {&j.parts, "extents", extentBytes, nil}}
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

// An allocation is memory of the device: of so many bytes, or with what it holds.
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

// place brings the image to the device, or prepares for whole calls that do.
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

// bringStart brings a gradient that is made on the host.
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

// load finds the kernels, and makes a list of the passes.
func (j *job) load() error {
	t := j.p.Type()
	extent, scale := fmt.Sprintf("gvf_extent_%v", t), fmt.Sprintf("gvf_scale_%v", t)
	starts, err := j.module("gvf_start", extent, scale, "gvf_gradient"+suffix(j.p), "gvf_magnitude")
	if err != nil {
		return err
	}
	j.extent, j.scale, j.gradient, j.magnitude = starts[0], starts[1], starts[2], starts[3]
	if j.p.Steps == 0 || j.method.plan == nil {
		return nil
	}
	names := map[string][]string{}
	for _, p := range j.method.plan(j.p, j.d.Info(), j.p.Steps) {
		j.work = append(j.work, work{pass: p})
		names[p.module] = append(names[p.module], p.kernel)
	}
	for module, kernels := range names {
		functions, err := j.module(module, kernels...)
		if err != nil {
			return err
		}
		for i := range j.work {
			w := &j.work[i]
			if w.module != module {
				continue
			}
			w.function = functions[slices.Index(kernels, w.kernel)]
			if w.launch.Shared+w.function.Attributes().Shared > j.d.Info().Shared {
				if err := w.function.AllowShared(w.launch.Shared); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// module loads kernels of a module.
func (j *job) module(name string, kernels ...string) (list []device.Function, err error) {
	m, err := resident.Load(j.d, name, kernels...)
	if err != nil {
		return nil, err
	}
	j.modules = append(j.modules, m)
	for _, k := range kernels {
		f, err := m.Function(k)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// Do answers on the device; but for the kernels alone, the field is brought to the host.
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

// bring brings the field to the host.
func (j *job) bring() error {
	return errors.Join(j.stream.Copy(j.back, 0, j.v[0], 0, j.back.Bytes()), j.stream.Wait())
}

// run adds the launches: the gradient, and the passes, the last of which leaves the field where
// it belongs.
func (j *job) run() error {
	if err := j.stream.Record(j.start); err != nil {
		return err
	}
	if err := j.gradients(); err != nil {
		return err
	}
	if j.solver != nil {
		if err := j.solver.add(j); err != nil {
			return err
		}
		return j.stream.Record(j.end)
	}
	if len(j.work) == 0 {
		if err := j.stream.Copy(j.v[0], 0, j.v0, 0, j.v0.Bytes()); err != nil {
			return err
		}
	}
	var left int64
	for _, w := range j.work {
		left += w.count
	}
	from := j.v0
	for _, w := range j.work {
		for range w.count {
			left--
			to := j.v[left%2]
			if err := j.pass(w, from, to); err != nil {
				return err
			}
			from = to
		}
	}
	if j.fault == OldBuffer && len(j.work) > 0 {
		if err := j.stream.Copy(j.v[0], 0, j.v[1], 0, j.v0.Bytes()); err != nil {
			return err
		}
	}
	return j.stream.Record(j.end)
}

// pass adds one.
func (j *job) pass(w work, from, to device.Buffer) error {
	s := j.p.Shape()
	args := []any{from, j.v0}
	if w.readsB {
		args = append(args, j.b)
	}
	args = append(args, to)
	if w.steps > 0 {
		// Exchanges are numbered through all calls, so that none takes what another has left.
		const most = math.MaxInt32
		count := up(w.steps, residentSteps)
		if j.number+count > most {
			j.number = 0
			if err := j.stream.Fill(j.exchange, 0, j.exchange.Bytes(), 0); err != nil {
				return err
			}
		}
		args = append(args, j.exchange, int32(s.W), int32(s.H), int32(j.p.Boundary), j.p.Mu, int32(w.steps), int32(j.number+1))
		j.number += count
		return j.stream.Launch(w.function, w.launch, args...)
	}
	args = append(args, int32(s.W), int32(s.H), int32(s.D), int32(j.p.Boundary), j.p.Mu)
	if w.length > 0 {
		args = append(args, int32(w.length))
	}
	return j.stream.Launch(w.function, w.launch, args...)
}

// gradients makes V0 and b: f, of the image, is where the field will be.
func (j *job) gradients() error {
	s := j.p.Shape()
	n, f := s.Voxels(), j.v[0]
	axes := []any{int32(s.W), int32(s.H), int32(s.D)}
	all := launch(max(1, min(up(n, 32*startWarps), int64(j.d.Info().SMs)*startBlocks)), startWarps, 0)
	if j.image == nil {
		return j.stream.Launch(j.magnitude, all, append([]any{j.v0, j.b}, axes...)...)
	}
	parts := all
	parts.Grid.X = min(parts.Grid.X, extentParts)
	return errors.Join(
		j.stream.Launch(j.extent, parts, j.image, n, j.parts),
		j.stream.Launch(j.scale, all, j.image, n, j.parts, int32(parts.Grid.X), f),
		j.stream.Launch(j.gradient, all, append([]any{f, j.v0, j.b}, axes...)...))
}

// Elapsed is what the last Do took on the device.
func (j *job) Elapsed() (time.Duration, error) { return j.end.Since(j.start) }

// Cool empties the device's second-level cache.
func (j *job) Cool() error { return errors.Join(j.d.FlushL2(j.stream), j.stream.Wait()) }

// Poison overwrites what Out reads, and what it is made of.
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
		// A device that cannot be written to fails at the next call, with the reason.
		_ = j.stream.Fill(b, 0, b.Bytes(), poison)
	}
	_ = j.stream.Wait()
	data := j.back.Data()
	for i := range data[:min(len(data), 1<<12)] {
		data[i] = poison
	}
	for n := 1 << 12; n < len(data); n += 1 << 12 {
		copy(data[n:], data[:1<<12])
	}
}

// Out is the last answer, until the next.
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
	for _, m := range j.modules {
		errs = append(errs, m.Close())
	}
	errs = append(errs, resident.CloseAll(j.end, j.start), j.Watch.Close())
	if j.stream != nil {
		errs = append(errs, j.stream.Close())
	}
	return errors.Join(errs...)
}

var _ bench.DeviceJob = (*job)(nil)
