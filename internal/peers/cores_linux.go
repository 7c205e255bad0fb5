package peers

import (
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Cores returns the cores that this process may use, or none if they are unknown.
func Cores() (list []int) {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return nil
	}
	for core := 0; len(list) < all.Count(); core++ {
		if all.IsSet(core) {
			list = append(list, core)
		}
	}
	return list
}

// OnCores runs f on a thread that, with its new processes, runs on these cores alone; none are all.
func OnCores(cores []int, f func() error) error {
	if len(cores) == 0 {
		return f()
	}
	var all, some unix.CPUSet
	for _, core := range cores {
		some.Set(core)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return err
	}
	defer func() {
		if unix.SchedSetaffinity(0, &all) != nil {
			runtime.LockOSThread() // no other goroutine gets the thread
		}
	}()
	return f()
}

// Calm returns n cores on which a loop of about 1 ms takes the least time now. Other programs, and
// virtual machines that share a core, slow down the rest. It returns nil if n are all, or if this
// process may not choose.
func Calm(n int) []int {
	return fastest(n, Cores(), func(core int) (took time.Duration, err error) {
		err = OnCores([]int{core}, func() error {
			start := time.Now()
			runtime.KeepAlive(work())
			took = time.Since(start)
			return nil
		})
		return took, err
	})
}

func fastest(n int, cores []int, timed func(core int) (time.Duration, error)) []int {
	if n >= len(cores) {
		return nil
	}
	took := map[int]int{}
	for _, core := range cores {
		t, err := timed(core)
		if err != nil {
			return nil
		}
		took[core] = int(t)
	}
	return slices.SortedStableFunc(slices.Values(cores), func(a, b int) int { return took[a] - took[b] })[:n]
}

// work is independent sums, so that it takes longer while another thread uses the units of the core.
func work() uint64 {
	var a, b, c, d, e, f uint64
	for i := range uint64(1 << 20) {
		a, b, c = a+i, b^i, c+i*3
		d, e, f = d+(i>>3), e^(i<<1), f+i*5
	}
	return a + b + c + d + e + f
}
