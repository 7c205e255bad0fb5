package library

import (
	"cmp"
	"runtime"
	"sync"
)

// An Effort describes how a request uses cores.
type Effort struct {
	Threads int
	// Brief marks a request of a few milliseconds, which is answered on the caller's thread.
	Brief bool
	// Bounded marks a request that keeps to its threads on its own. Others need a limit of the
	// process.
	Bounded bool
}

// A limit restricts the cores that Go uses to the sum of the threads of the running jobs.
// Witnesses, readers and the garbage collector use all of these. It changes nothing while all jobs
// are bounded, because a change stops all goroutines for some microseconds. The zero value has no
// jobs.
type limit struct {
	mu            sync.Mutex
	free, bounded int // sums of the threads of jobs that need a limit, and of bounded jobs
	cores         int // without a limit; 0 if no job needs one
}

// enter adds a job until leave is called.
func (l *limit) enter(e Effort) (leave func()) {
	const most = 1 << 20 // so that no sum overflows
	n := min(max(e.Threads, 1), most)
	l.add(e.Bounded, n)
	return func() { l.add(e.Bounded, -n) }
}

func (l *limit) add(bounded bool, threads int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bounded {
		l.bounded += threads
	} else {
		l.free += threads
	}
	if l.free == 0 && l.cores == 0 {
		return
	}
	now := runtime.GOMAXPROCS(0)
	l.cores = cmp.Or(l.cores, now)
	n := min(l.cores, l.free+l.bounded)
	if l.free == 0 {
		n, l.cores = l.cores, 0
	}
	if n != now { // to set the same number would end Go's own changes of it
		runtime.GOMAXPROCS(n)
	}
}
