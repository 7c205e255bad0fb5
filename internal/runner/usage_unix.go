//go:build unix

package runner

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// fewestFiles is how many files the runtime and a short command have open.
const fewestFiles = 16

// CheckLimits is why a program cannot begin: where hardly a file may be opened the runtime
// itself gives up, with a dump.
func CheckLimits() error {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil && files.Cur < fewestFiles {
		return fmt.Errorf("%d files may be open at a time, want %d at least; raise ulimit -n", files.Cur, fewestFiles)
	}
	return nil
}

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
