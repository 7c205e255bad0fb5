package sound

import (
	"runtime"
	"sort"
)

// Allocated is how many bytes a function allocates: the least of a few calls, because the runtime
// allocates too.
func Allocated(f func()) uint64 {
	least := ^uint64(0)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// Refused holds that a function panics.
func Refused(t T, what string, do func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	do()
}

// Least is the least number from 1 on that is enough, of which all greater ones are.
func Least(enough func(n int64) bool) int64 {
	return 1 + int64(sort.Search(1<<50, func(n int) bool { return enough(int64(n) + 1) }))
}
