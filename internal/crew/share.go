package crew

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Share runs worker on up to GOMAXPROCS goroutines and waits for them. Each calls next for tasks,
// numbered from 0, until none is left.
func Share(tasks int64, worker func(next func() (task int64, ok bool))) {
	ShareAmong(int64(runtime.GOMAXPROCS(0)), tasks, worker)
}

// A FirstError keeps the first error of tasks in several goroutines.
type FirstError struct {
	mu   sync.Mutex
	task int64
	Err  error
}

// Add records the result of a task, and reports whether it failed.
func (f *FirstError) Add(task int64, err error) (failed bool) {
	if err == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Err == nil || task < f.task {
		f.task, f.Err = task, err
	}
	return true
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
