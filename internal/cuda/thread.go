package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// A thread is a goroutine locked to one thread of the system, which runs
// functions one after the other. A function that asks it to run another, which
// it notices by the thread they run on, has it run at once.
type thread struct {
	id    int
	calls chan func()
	stops chan struct{} // closed when it shall end
	ended chan struct{} // closed when it has
	busy  atomic.Bool   // a function is running
}

var errThreadEnded = errors.New("the device is closed")

func newThread() *thread {
	t := &thread{calls: make(chan func()), stops: make(chan struct{}), ended: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(t.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // whoever ends it has let go of the context
		t.id = threadID()
		close(ready)
		for {
			select {
			case f := <-t.calls:
				f()
			case <-t.stops:
				return
			}
		}
	}()
	<-ready
	return t
}

// mine reports whether the caller runs on the thread. Only what the thread runs
// can: no other goroutine ever does.
func (t *thread) mine() bool { return t.busy.Load() && threadID() == t.id }

// run runs f on the thread and returns its error. A panic of f goes on in the
// caller's goroutine.
func (t *thread) run(f func() error) error {
	if t.mine() {
		return f()
	}
	var err error
	var panicked any
	done := make(chan struct{})
	call := func() {
		err = errors.New("the function ended the goroutine of the device's thread")
		defer close(done)
		defer t.busy.Store(false)
		defer func() {
			if r := recover(); r != nil {
				panicked = fmt.Sprintf("%v\n\non the device's thread:\n%s", r, debug.Stack())
			}
		}()
		t.busy.Store(true)
		err = f()
	}
	select {
	case t.calls <- call:
	case <-t.ended:
		return errThreadEnded
	}
	<-done
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// stop ends the thread once it is idle.
func (t *thread) stop() {
	close(t.stops)
	<-t.ended
}
