package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A thread is a goroutine locked to one thread of the system, which runs functions in turn. A
// function may run another: it is recognised by its thread and runs at once. The thread waits
// while a function that must not change threads runs elsewhere.
type thread struct {
	id    int
	turn  sync.Mutex   // of the function that runs
	at    atomic.Int64 // the thread that it runs on, −1 for none
	calls chan func()
	stops chan struct{} // closed when it shall end
	ended chan struct{} // closed when it has
}

const nowhere = -1

var errThreadEnded = errors.New("the device is closed")

func newThread() *thread {
	t := &thread{calls: make(chan func()), stops: make(chan struct{}), ended: make(chan struct{})}
	t.at.Store(nowhere)
	ready := make(chan struct{})
	go func() {
		defer close(t.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // the context was released before
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

// mine reports whether the caller is the function that runs, or called by it: no
// other goroutine runs on its thread meanwhile.
func (t *thread) mine() bool {
	at := t.at.Load()
	return at != nowhere && int64(threadID()) == at
}

// run runs f on the thread and returns its error. A panic of f continues in the caller's goroutine.
func (t *thread) run(f func() error) error {
	if t.mine() {
		return f()
	}
	t.turn.Lock()
	defer t.turn.Unlock()
	var err error
	var panicked any
	done := make(chan struct{})
	call := func() {
		err = errors.New("the function ended the goroutine of the device's thread")
		defer close(done)
		defer t.at.Store(nowhere)
		defer func() {
			if r := recover(); r != nil {
				panicked = fmt.Sprintf("%v\n\non the device's thread:\n%s", r, debug.Stack())
			}
		}()
		t.at.Store(int64(t.id))
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
