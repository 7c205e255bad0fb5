package datasets

import (
	"eccbench/internal/crew"
	"runtime"
	"sync"
	"sync/atomic"
)

// share runs worker on up to GOMAXPROCS goroutines and waits for them. Each calls next for tasks,
// numbered from 0, until none is left.
func share(tasks int64, worker func(next func() (task int64, ok bool))) {
	shareAmong(int64(runtime.GOMAXPROCS(0)), tasks, worker)
}

// A firstError keeps the first error of tasks in several goroutines.
type firstError struct {
	mu   sync.Mutex
	task int64
	err  error
}

// of records the result of a task, and reports whether it failed.
func (f *firstError) of(task int64, err error) (failed bool) {
	if err == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || task < f.task {
		f.task, f.err = task, err
	}
	return true
}

// shareAmong is share on up to n goroutines.
func shareAmong(n, tasks int64, worker func(next func() (task int64, ok bool))) {
	var taken atomic.Int64
	next := func() (int64, bool) {
		t := taken.Add(1) - 1
		return t, t < tasks
	}
	if n = min(tasks, n); n <= 1 {
		worker(next)
		return
	}
	crew.Each(int(n), func(int) { worker(next) })
}
