package resident

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// ErrUntimed is the error of a request for the time of an untimed launch.
var ErrUntimed = errors.New("the time of a kernel that was opened without being timed")

// CloseAll closes the objects of a device in order. It ignores nil.
func CloseAll(objects ...io.Closer) error { return CloseEach(objects) }

// CloseEach closes a list of objects in order. It ignores nil interfaces.
func CloseEach[T io.Closer](objects []T) error {
	var errs []error
	for _, o := range objects {
		if io.Closer(o) != nil {
			errs = append(errs, o.Close())
		}
	}
	return errors.Join(errs...)
}

// Objects makes the objects of a device for a job, and closes them. After an error it makes no more: make several,
// then check Err before they are used.
type Objects struct {
	*Watch
	On    device.Device
	owned []io.Closer
	err   error
}

// NewObjects makes objects of a device, which it watches.
func NewObjects(d device.Device) Objects { return Objects{Watch: NewWatch(d), On: d} }

// Err returns the first error.
func (o *Objects) Err() error { return o.err }

// Fail keeps an error, unless there is one already.
func (o *Objects) Fail(err error) { o.err = cmp.Or(o.err, err) }

// Own makes an object that Close closes.
func Own[T io.Closer](o *Objects, open func() (T, error)) (object T) {
	if o.err == nil {
		if object, o.err = open(); o.err == nil {
			o.owned = append(o.owned, object)
		}
	}
	return object
}

// NewStream makes a stream.
func (o *Objects) NewStream(name string) device.Stream {
	return Own(o, func() (device.Stream, error) { return o.On.NewStream(name) })
}

// NewEvent makes an event.
func (o *Objects) NewEvent(name string) device.Event {
	return Own(o, func() (device.Event, error) { return o.On.NewEvent(name) })
}

// NewBuffer allocates memory of the device.
func (o *Objects) NewBuffer(name string, bytes int64) device.Buffer {
	return Own(o, func() (device.Buffer, error) { return o.On.Alloc(name, bytes) })
}

// NewPinned allocates pinned memory of the host.
func (o *Objects) NewPinned(name string, bytes int64) device.Pinned {
	return Own(o, func() (device.Pinned, error) { return o.On.AllocPinned(name, bytes) })
}

// NewFeed makes a feed of an image: see the function NewFeed.
func (o *Objects) NewFeed(in grid.Source, bytes int64, threads int) *Feed {
	return Own(o, func() (*Feed, error) { return NewFeed(o.On, in, bytes, threads) })
}

// NewModule loads kernels.
func (o *Objects) NewModule(module string, kernels ...string) device.Module {
	return Own(o, func() (device.Module, error) { return Load(o.On, module, kernels...) })
}

// Function returns a kernel of a module.
func (o *Objects) Function(m device.Module, kernel string) (f device.Function) {
	if o.err == nil {
		f, o.err = m.Function(kernel)
	}
	return f
}

// NewFunctions loads kernels of a module.
func (o *Objects) NewFunctions(module string, kernels ...string) (list []device.Function) {
	m := o.NewModule(module, kernels...)
	for _, k := range kernels {
		list = append(list, o.Function(m, k))
	}
	return list
}

// Close waits for its streams, and closes all objects in reverse order.
func (o *Objects) Close() error {
	var errs []error
	for _, object := range o.owned {
		if s, ok := object.(device.Stream); ok {
			errs = append(errs, s.Wait())
		}
	}
	slices.Reverse(o.owned)
	errs = append(errs, CloseEach(o.owned), o.Watch.Close())
	o.owned = nil
	return errors.Join(errs...)
}
