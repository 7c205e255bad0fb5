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

// CheckLimits returns an error if fewer files may be open than a command opens. Without this check
// the runtime would crash with a stack dump, and workers without the reason.
func CheckLimits(workers bool) error {
	fewest := uint64(16) // of the Go runtime and a short command
	if workers {
		fewest = 64 // of workers with the files of inputs, pipes and judges
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil && files.Cur < fewest {
		return fmt.Errorf("%d files may be open at a time, want %d at least; raise ulimit -n", files.Cur, fewest)
	}
	return nil
}

// OwnGroup returns the attributes of a process in a process group of its own.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// KillGroup ends a process group. It may have ended already.
func KillGroup(pid int) { unix.Kill(-pid, unix.SIGKILL) }

// pair returns the two ends of a connection that passes files.
func pair() (ours *net.UnixConn, theirs *os.File, err error) {
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
	conn, err := net.FileConn(file)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

// mostFiles is the number of files that the system passes at once.
const mostFiles = 253

// sendFiles passes files, and receiveFiles receives them. Each message has a byte, which is 0 in the last one.
func sendFiles(to *net.UnixConn, files []*os.File) error {
	for more := byte(1); more > 0; {
		var fds []int
		for _, f := range files[:min(len(files), mostFiles)] {
			fds = append(fds, int(f.Fd()))
		}
		if files = files[len(fds):]; len(files) == 0 {
			more = 0
		}
		if _, _, err := to.WriteMsgUnix([]byte{more}, unix.UnixRights(fds...), nil); err != nil {
			return err
		}
	}
	return nil
}

func receiveFiles(from *net.UnixConn) (files []*os.File, err error) {
	rights := make([]byte, unix.CmsgSpace(4*mostFiles))
	for more := []byte{1}; more[0] > 0; {
		_, n, _, _, err := from.ReadMsgUnix(more, rights)
		if err != nil {
			return nil, err
		}
		messages, err := unix.ParseSocketControlMessage(rights[:n])
		for k := 0; k < len(messages) && err == nil; k++ {
			var fds []int
			fds, err = unix.ParseUnixRights(&messages[k])
			for _, fd := range fds {
				files = append(files, os.NewFile(uintptr(fd), "of a task"))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
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
