package peers

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// OnCores runs f on a thread whose new processes run on n cores of this process alone, counted from
// core number first on, and from the start again after the last one. With n = 0, or no more than n
// cores, processes run on all.
func OnCores(n, first int, f func() error) error {
	var all, some unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	cores := make([]int, 0, all.Count())
	for core := 0; len(cores) < cap(cores); core++ {
		if all.IsSet(core) {
			cores = append(cores, core)
		}
	}
	if n <= 0 || n >= len(cores) {
		return f()
	}
	for k := range n {
		some.Set(cores[(first+k)%len(cores)])
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return err
	}
	err := f()
	if unix.SchedSetaffinity(0, &all) != nil {
		runtime.LockOSThread() // the thread ends with its goroutine
	}
	return err
}
