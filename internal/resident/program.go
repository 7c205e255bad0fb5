package resident

import (
	"errors"
	"time"

	"eccbench/internal/device"
)

// A Program is kernels of a module with a stream for their launches, events around them, and their
// buffers in device memory.
type Program struct {
	Objects
	Stream     device.Stream
	start, end device.Event
	functions  map[string]device.Function
}

// NewProgram loads kernels. The name of the stream describes its work.
func NewProgram(d device.Device, stream, module string, kernels ...string) (*Program, error) {
	p := &Program{Objects: NewObjects(d), functions: map[string]device.Function{}}
	p.Stream, p.start, p.end = p.NewStream(stream), p.NewEvent("start"), p.NewEvent("end")
	for i, f := range p.NewFunctions(module, kernels...) {
		p.functions[kernels[i]] = f
	}
	if p.err != nil {
		return nil, errors.Join(p.err, p.Close())
	}
	return p, nil
}

// Alloc allocates device memory, at least 16 bytes.
func (p *Program) Alloc(name string, bytes int64) device.Buffer {
	return p.NewBuffer(name, max(16, bytes))
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
