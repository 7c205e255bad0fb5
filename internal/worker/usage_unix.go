//go:build unix

package worker

import (
	"fmt"
	"net"
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

// pair returns the two ends of a connection that passes files.
func pair() (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	for k := 0; k < len(ends) && err == nil; k++ {
		syscall.CloseOnExec(ends[k])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	file, theirs := os.NewFile(uintptr(ends[0]), "tasks"), os.NewFile(uintptr(ends[1]), "tasks")
	defer file.Close()
	ours, err := connect(file)
	if err != nil {
		theirs.Close()
	}
	return ours, theirs, err
}

// sendFile passes a file, and receiveFile receives it; nil for a byte without a file.
func sendFile(to *net.UnixConn, f *os.File) error {
	_, _, err := to.WriteMsgUnix([]byte{0}, unix.UnixRights(int(f.Fd())), nil)
	return err
}

func receiveFile(from *net.UnixConn) (*os.File, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := from.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil || n == 0 {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return nil, err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fds[0]), "of a task"), nil
}

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
