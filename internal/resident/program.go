package resident

import (
	"errors"
	"time"

	"eccbench/internal/device"
)

// A Program is kernels of a module with a stream for their launches, events around them, and their
// buffers in device memory.
type Program struct {
	*Watch
	On         device.Device
	Stream     device.Stream
	start, end device.Event
	module     device.Module
	functions  map[string]device.Function
	buffers    []device.Buffer
}

// NewProgram loads kernels. The name of the stream describes its work.
func NewProgram(d device.Device, stream, module string, kernels ...string) (p *Program, err error) {
	p = &Program{Watch: NewWatch(d), On: d, functions: map[string]device.Function{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.Stream, err = d.NewStream(stream); err != nil {
		return p, err
	}
	if p.start, err = d.NewEvent("start"); err != nil {
		return p, err
	}
	if p.end, err = d.NewEvent("end"); err != nil {
		return p, err
	}
	if p.module, err = Load(d, module, kernels...); err != nil {
		return p, err
	}
	for _, k := range kernels {
		if p.functions[k], err = p.module.Function(k); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Alloc allocates device memory that Close frees, at least 16 bytes.
func (p *Program) Alloc(name string, bytes int64) (device.Buffer, error) {
	const least = 16
	b, err := p.On.Alloc(name, max(least, bytes))
	if err == nil {
		p.buffers = append(p.buffers, b)
	}
	return b, err
}

// Launch adds a kernel to the stream.
func (p *Program) Launch(kernel string, blocks, threads, shared int64, args ...any) error {
	return p.Stream.Launch(p.functions[kernel], device.Launch{Grid: device.Dim{X: blocks}, Block: device.Dim{X: threads},
		Shared: shared}, args...)
}

// ResidentBlocks returns the number of blocks of a kernel that can run at once.
func (p *Program) ResidentBlocks(kernel string, threads int64) (int64, error) {
	l := device.Launch{Block: device.Dim{X: threads}}
	err := FillDevice(p.On, p.functions[kernel], &l)
	return l.Grid.X, err
}

// PutNumbers allocates memory of the device for numbers, which Close frees, and copies them there.
func (p *Program) PutNumbers(name string, numbers []float32) (device.Buffer, error) {
	b, err := PutNumbers(p.On, p.Stream, name, numbers)
	if b != nil {
		p.buffers = append(p.buffers, b)
	}
	return b, err
}

// Timed runs f, which adds to the stream, between the two events.
func (p *Program) Timed(f func() error) error {
	return p.On.Do(func() error {
		if err := p.Stream.Record(p.start); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
		return p.Stream.Record(p.end)
	})
}

// Elapsed returns the device time of the last Timed.
func (p *Program) Elapsed() (time.Duration, error) { return p.end.Since(p.start) }

// Cool empties the device's second-level cache.
func (p *Program) Cool() error { return errors.Join(p.On.FlushL2(p.Stream), p.Stream.Wait()) }

// Fill overwrites all memory of the program. A device that cannot be written to fails at the next
// call, with the reason.
func (p *Program) Fill(value byte, buffers ...device.Buffer) {
	for _, b := range buffers {
		_ = p.Stream.Fill(b, 0, b.Bytes(), value)
	}
	_ = p.Stream.Wait()
}

// Close waits for the stream, and frees the resources.
func (p *Program) Close() error {
	var errs []error
	if p.Stream != nil {
		errs = append(errs, p.Stream.Wait())
	}
	for _, b := range p.buffers {
		errs = append(errs, b.Close())
	}
	p.buffers = nil
	errs = append(errs, CloseAll(p.module, p.end, p.start), p.Watch.Close())
	if p.Stream != nil {
		errs = append(errs, p.Stream.Close())
	}
	return errors.Join(errs...)
}
