//go:build unix

package runner

import (
	"os"
	"runtime"
	"syscall"
)

// peakRSS is the largest resident set that a finished process had, in bytes.
func peakRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}
