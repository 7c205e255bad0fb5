package checktest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sort"
	"syscall"
	"testing"
)

// Program writes a program that the test can start at once. A process that another goroutine starts
// during the writing would inherit the open file, and the program would be "text file busy" until
// that process has started its own.
func Program(t testing.TB, path string, code []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, code, 0o755); err != nil {
		t.Fatal(err)
	}
}

// Allocated returns the bytes that a function allocates: the least of a few calls, because the
// runtime allocates too.
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

// Panics holds that a function panics.
func Panics(t testing.TB, what string, do func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	do()
}

// PanicsIfShorter requires that a function of lists panics if any of them is one element too short.
func PanicsIfShorter(t testing.TB, what string, lengths []int, do func(lengths []int)) {
	t.Helper()
	do(lengths)
	for i := range lengths {
		shorter := slices.Clone(lengths)
		shorter[i]--
		Panics(t, fmt.Sprintf("%s: list %d, a number too short", what, i), func() { do(shorter) })
	}
}

// Least returns the least number from 1 on that is enough. All greater numbers must be enough, too.
func Least(enough func(n int64) bool) int64 {
	return 1 + int64(sort.Search(1<<50, func(n int) bool { return enough(int64(n) + 1) }))
}
