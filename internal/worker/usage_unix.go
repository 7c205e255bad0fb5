//go:build unix

package worker

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// fewestFiles is the number of files that the Go runtime and a short command open.
const fewestFiles = 16

// CheckLimits returns an error if the limit of open files is too low. Without this check the
// runtime would crash with a stack dump.
func CheckLimits() error {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil && files.Cur < fewestFiles {
		return fmt.Errorf("%d files may be open at a time, want %d at least; raise ulimit -n", files.Cur, fewestFiles)
	}
	return nil
}

// OwnGroup returns the attributes of a process in a process group of its own.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// KillGroup ends a process group. It may have ended already.
func KillGroup(pid int) { unix.Kill(-pid, unix.SIGKILL) }

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }

// peakRSS returns the largest resident set of a finished process, in bytes.
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
