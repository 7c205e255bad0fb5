package crew

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// MostThreads bounds the cores of a call. Many implementations allocate memory for each.
const MostThreads = 4096

// CheckThreads returns an error for an impossible number of cores.
func CheckThreads(n int) error {
	if n < 1 || n > MostThreads {
		return fmt.Errorf("threads %d: want 1 to %d", n, MostThreads)
	}
	return nil
}

// Share runs worker on up to GOMAXPROCS goroutines and waits for them. Each calls next for tasks,
// numbered from 0, until none is left.
func Share(tasks int64, worker func(next func() (task int64, ok bool))) {
	ShareAmong(int64(runtime.GOMAXPROCS(0)), tasks, worker)
}

// A firstError keeps the error of the lowest task that failed.
type firstError struct {
	failed atomic.Bool
	mu     sync.Mutex
	task   int
	err    error
}

func (f *firstError) add(task int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || task < f.task {
		f.task, f.err = task, err
	}
	f.failed.Store(true)
}

// Work runs worker on n goroutines, numbered from 0, and waits for them. Each calls next for tasks, numbered from 0,
// until none is left or another worker has failed. The error is that of the lowest task that failed: all tasks below
// it have run. So it is the same in each call.
func Work(n, tasks int, worker func(worker int, next func() (task int, ok bool)) error) error {
	var first firstError
	next := queue(int64(tasks))
	Each(n, func(w int) {
		last := -1
		err := worker(w, func() (int, bool) {
			if first.failed.Load() {
				return 0, false
			}
			t, ok := next()
			if ok {
				last = int(t)
			}
			return int(t), ok
		})
		if err != nil {
			first.add(last, err)
		}
	})
	return first.err
}

// Try is InTurn for tasks that can fail. After an error no task begins. The error is that of Work.
func Try(n, tasks int, f func(worker, task int) error) error {
	return Work(min(n, tasks), tasks, func(worker int, next func() (int, bool)) error {
		for t, ok := next(); ok; t, ok = next() {
			if err := f(worker, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// queue returns a function that returns the numbers below n one after the other, and then false.
func queue(n int64) func() (task int64, ok bool) {
	var taken atomic.Int64
	return func() (int64, bool) {
		t := taken.Add(1) - 1
		return t, t < n
	}
}

// InTurn calls f with every number below tasks, in order, on up to n goroutines, which are numbered from 0.
func InTurn(n, tasks int, f func(worker, task int)) {
	next := queue(int64(tasks))
	Each(min(n, tasks), func(worker int) {
		for t, ok := next(); ok; t, ok = next() {
			f(worker, int(t))
		}
	})
}

// ShareAmong is Share on up to n goroutines.
func ShareAmong(n, tasks int64, worker func(next func() (task int64, ok bool))) {
	next := queue(tasks)
	if n = min(tasks, n); n <= 1 {
		worker(next)
		return
	}
	Each(int(n), func(int) { worker(next) })
}
