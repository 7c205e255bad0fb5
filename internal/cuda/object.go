package cuda

import (
	"fmt"
	"sync/atomic"

	"eccbench/internal/quantity"
)

// An object is a resource of the driver that the caller closes.
type object struct {
	c          *context
	kind, name string
	bytes      int64 // 0 when it is no memory
	handle     uintptr
	free       symbol
	lent       bool // by its owner, who frees it
	closed     atomic.Bool
}

// String names the object in errors.
func (o *object) String() string {
	if o.bytes == 0 {
		return fmt.Sprintf("%s %q", o.kind, o.name)
	}
	return fmt.Sprintf("%s %q (%s)", o.kind, o.name, quantity.Bytes(o.bytes))
}

func (o *object) Name() string { return o.name }

// add makes an object by a call on the device's thread and keeps account of it.
func (c *context) add(o *object, acquire func() error) error {
	o.c = c
	return c.run(func() error {
		if err := acquire(); err != nil {
			return err
		}
		c.made++
		c.live[o] = c.made
		c.hold(o, 1)
		return nil
	})
}

// added returns a new object of a kind once add has made it.
func added[T any](c *context, object T, o *object, acquire func() error) (made T, err error) {
	if err = c.add(o, acquire); err == nil {
		made = object
	}
	return made, err
}

// hold adds the device memory of an object to the total, or subtracts it with −1.
func (c *context) hold(o *object, times int64) {
	if !o.onHost() {
		c.holds += times * o.bytes
		c.held.Store(max(c.held.Load(), c.holds))
	}
}

// usable is an error when the object is closed.
func (o *object) usable() error {
	if o.closed.Load() {
		return fmt.Errorf("%s: used after it was closed", o)
	}
	return nil
}

// Close frees the object, unless it was lent. When the context is lost it cannot be freed alone and
// is freed with the device.
func (o *object) Close() error {
	if o.closed.Swap(true) || o.lent {
		return nil
	}
	return o.c.run(func() error {
		delete(o.c.live, o)
		o.c.hold(o, -1)
		return o.c.call(o.free, o, o.handle)
	})
}

// owned is the object of ours behind an interface, when it is of this device
// and open.
func owned(c *context, what string, o *object) error {
	if o == nil {
		return fmt.Errorf("%s: a %s of another driver, or none", c, what)
	}
	if o.c != c {
		return fmt.Errorf("%s: of another device than %s", o, c)
	}
	return o.usable()
}
