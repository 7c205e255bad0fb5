package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"eccbench/internal/device"
)

// A context is a device in use: its primary context, retained, and all that was
// made in it.
type context struct {
	lib     *library
	info    device.Info
	ordinal uintptr
	handle  uintptr
	thread  *thread
	waiting sync.RWMutex // held for reading while another thread waits in the context
	closed  atomic.Bool
	lost    atomic.Pointer[Error] // the error that lost the context

	// The rest is touched by whose turn it is on the thread alone.
	live    map[*object]int // the objects not closed yet, and when they were made
	holds   int64           // bytes of them in the device's memory
	held    atomic.Int64    // the peak of holds
	made    int
	scratch *object // what FlushL2 writes
	args    *arguments
	pins    runtime.Pinner // of args
}

var _ device.Device = (*context)(nil)

// open retains the device's primary context and makes it current on a new
// thread.
func open(lib *library, ordinal int32, info device.Info) (device.Device, error) {
	c := &context{lib: lib, info: info, ordinal: uintptr(ordinal), thread: newThread(), live: map[*object]int{},
		args: newArguments()}
	c.pins.Pin(c.args)
	err := c.thread.run(func() error {
		if err := c.call(cuDevicePrimaryCtxRetain, c, uintptr(unsafe.Pointer(&c.handle)), c.ordinal); err != nil {
			return err
		}
		if err := c.call(cuCtxSetCurrent, c, c.handle); err != nil {
			return errors.Join(err, c.code(cuDevicePrimaryCtxRelease, c.lib.call(cuDevicePrimaryCtxRelease, c.ordinal), c))
		}
		return nil
	})
	if err != nil {
		c.thread.stop()
		c.pins.Unpin()
		return nil, err
	}
	return c, nil
}

// String names the device in errors.
func (c *context) String() string { return fmt.Sprintf("device %d (%s)", c.info.Index, c.info.Name) }

func (c *context) Info() device.Info { return c.info }

func (c *context) Do(f func() error) (err error) {
	in, err := c.enter()
	if err != nil {
		return err
	}
	defer in.leave()
	if in.within {
		return f()
	}
	c.thread.at.Store(int64(threadID()))
	defer c.thread.at.Store(nowhere)
	// In a lost context f's own calls fail with better errors.
	if c.lost.Load() != nil {
		return f()
	}
	if current, err := c.isCurrent(); err != nil {
		return err
	} else if current {
		return f()
	}
	if err := c.push(c); err != nil {
		return err
	}
	defer c.pop(c, &err)
	return f()
}

// A visit runs calls on the caller's own thread instead of the device's. Changing threads and back
// costs as much as several launches.
type visit struct {
	c      *context
	within bool // a function that Do runs
}

// enter waits for the caller's turn, which lasts until leave.
func (c *context) enter() (in visit, err error) {
	in = visit{c, c.thread.mine()}
	if !in.within {
		c.thread.turn.Lock()
		runtime.LockOSThread()
	}
	if c.closed.Load() {
		in.leave()
		return in, fmt.Errorf("%s: %w", c, errThreadEnded)
	}
	return in, nil
}

func (in visit) leave() {
	if !in.within {
		runtime.UnlockOSThread()
		in.c.thread.turn.Unlock()
	}
}

// call calls the driver about an object, and allocates nothing. Memory of Go whose
// address it is given is pinned.
func (in visit) call(s symbol, object fmt.Stringer, args ...uintptr) (err error) {
	c := in.c
	n := copy(c.args.call[:], args)
	if !in.within && c.lost.Load() == nil {
		if err := c.push(object); err != nil {
			return err
		}
		defer c.pop(object, &err)
	}
	return c.call(s, object, c.args.call[:n]...)
}

// push makes the context current on the caller's thread, which may be another
// device's and needs its own context again, and pop does that.
func (c *context) push(object fmt.Stringer) error {
	return c.call(cuCtxPushCurrent, object, unsafe.Slice(&c.handle, 1)...)
}

func (c *context) pop(object fmt.Stringer, err *error) {
	if code := c.lib.call(cuCtxPopCurrent, c.args.pop[:]...); code != 0 {
		*err = errors.Join(*err, c.code(cuCtxPopCurrent, code, object))
	}
}

// isCurrent reports whether the context is current on the caller's thread, as it is in a program that uses the same
// device by CUDA's runtime. One call then takes the place of a push and a pop.
func (c *context) isCurrent() (bool, error) {
	err := c.call(cuCtxGetCurrent, c, c.args.get[:]...)
	return c.args.current == c.handle, err
}

// run runs f on the device's thread, unless the device is closed.
func (c *context) run(f func() error) error {
	return c.thread.run(func() error {
		if c.closed.Load() {
			return fmt.Errorf("%s: %w", c, errThreadEnded)
		}
		return f()
	})
}

// call calls the driver about an object. The context must be current.
//
//go:uintptrescapes
func (c *context) call(s symbol, object fmt.Stringer, args ...uintptr) error {
	if first := c.lost.Load(); first != nil {
		return &LostError{Call: c.lib.name[s], Object: object.String(), First: first}
	}
	if code := c.lib.call(s, args...); code != 0 {
		return c.code(s, code, object)
	}
	return nil
}

// code converts the return code of a function to an error, nil for success. It records when the
// context is lost.
func (c *context) code(s symbol, code int, object fmt.Stringer) error {
	if code == 0 {
		return nil
	}
	err := c.lib.newError(s, code, object.String(), "")
	if err.Sticky() {
		c.lost.CompareAndSwap(nil, err)
	}
	return err
}

// wait is call for functions that return only after the device has done something.
func (c *context) wait(s symbol, object fmt.Stringer, o *object) (err error) {
	handle := unsafe.Slice(&o.handle, 1)
	if c.thread.mine() {
		return c.await(s, object, handle)
	}
	c.waiting.RLock()
	defer c.waiting.RUnlock()
	if c.closed.Load() {
		return fmt.Errorf("%s: %w", c, errThreadEnded)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.push(object); err != nil {
		return err
	}
	defer c.pop(object, &err)
	return c.await(s, object, handle)
}

// mostLooks is the number of queries of a stream before the thread waits in the driver: tens of µs.
const mostLooks = 100

// await waits in the current context. A goroutine in one call for 20 µs may lose its processor, and
// gets one back only when another goroutine yields; short calls keep it.
func (c *context) await(s symbol, object fmt.Stringer, handle []uintptr) error {
	if s == cuStreamSynchronize && c.lost.Load() == nil {
		for range c.lib.looks {
			if code := c.lib.call(cuStreamQuery, handle...); code != codeNotReady {
				return c.code(cuStreamQuery, code, object)
			}
		}
	}
	return c.call(s, object, handle...)
}

// query reports whether the work of a stream or an event is done.
func (c *context) query(s symbol, o *object) (done bool, err error) {
	in, err := c.enter()
	if err != nil {
		return false, err
	}
	defer in.leave()
	if err := o.usable(); err != nil {
		return false, err
	}
	err = in.call(s, o, o.handle)
	if e, ok := err.(*Error); ok && e.Code == codeNotReady {
		return false, nil
	}
	return err == nil, err
}

func (c *context) Memory() (free, total int64, err error) {
	err = c.run(func() error {
		return c.call(cuMemGetInfo, c, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	})
	return free, total, err
}

func (c *context) AllocatedBytes() int64 { return c.held.Load() }

func (c *context) ResetPersistingL2() error {
	if c.info.L2Persisting == 0 {
		return nil
	}
	return c.run(func() error { return c.call(cuCtxResetPersistingL2Cache, c) })
}

func (c *context) FlushL2(s device.Stream) error {
	return c.run(func() error {
		st, err := c.stream(s)
		if err != nil {
			return err
		}
		if err := c.ResetPersistingL2(); err != nil {
			return err
		}
		if c.scratch == nil {
			size := 2 * cmp.Or(c.info.L2, 64<<20)
			o := &object{c: c, kind: "buffer", name: "that flushes the cache", bytes: (size + 3) &^ 3, free: cuMemFree}
			if err := c.call(cuMemAlloc, o, uintptr(unsafe.Pointer(&o.handle)), uintptr(o.bytes)); err != nil {
				return err
			}
			c.scratch = o
		}
		return c.call(cuMemsetD32Async, c.scratch, c.scratch.handle, 0, uintptr(c.scratch.bytes/4), st.handle)
	})
}

func (c *context) Close() error {
	if c.thread.mine() {
		return fmt.Errorf("%s: closed within Do", c)
	}
	c.waiting.Lock()
	defer c.waiting.Unlock()
	if c.closed.Swap(true) {
		return nil
	}
	var errs []error
	err := c.thread.run(func() error {
		left := make([]*object, 0, len(c.live))
		for o := range c.live {
			left = append(left, o)
		}
		// Newer objects may depend on older ones.
		slices.SortFunc(left, func(a, b *object) int { return cmp.Compare(c.live[b], c.live[a]) })
		for _, o := range left {
			errs = append(errs, fmt.Errorf("%s: not closed before its device", o))
		}
		if c.scratch != nil {
			left = append(left, c.scratch)
		}
		for _, o := range left {
			o.closed.Store(true)
			errs = append(errs, c.unlessLost(o.free, o, o.handle))
		}
		return errors.Join(append(errs,
			c.unlessLost(cuCtxSetCurrent, c, 0),
			c.unlessLost(cuDevicePrimaryCtxRelease, c, c.ordinal))...)
	})
	c.thread.stop()
	c.pins.Unpin()
	return err
}

// unlessLost makes a call that releases something, also for a lost context, whose memory the last
// release frees. It returns no error for a lost context, which is known already.
func (c *context) unlessLost(s symbol, object fmt.Stringer, arg uintptr) error {
	lost := c.lost.Load() != nil
	err := c.code(s, c.lib.call(s, arg), object)
	if lost {
		return nil
	}
	return err
}
