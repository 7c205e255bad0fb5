package worker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"eccbench/internal/peers"
)

// adopt makes this process the parent of all orphans of a worker, so that it can find them even in
// another session.
var adopt = sync.OnceFunc(func() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // older kernels lack this: orphans survive there
})

// hide keeps other processes from the memory and the files of this one, unless they have rights to
// trace it.
var hide = sync.OnceFunc(func() { unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) })

// awaitEnd returns when a child has ended. The process number stays reserved until Wait.
func awaitEnd(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

// reapGroup waits for the members of a killed process group, which this process has adopted. It
// waits at most about a second, because an uninterruptible process may take longer.
func reapGroup(group int) {
	for range 1000 {
		unix.Wait4(-group, nil, unix.WNOHANG, nil) // a member becomes a child when its own parent ends
		if errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// endStrays kills adopted children with a mark in their environment, then their children in turn.
func endStrays(mark string) {
	const rounds = 100
	for range rounds {
		found, unsure := false, false
		for _, pid := range peers.Children(os.Getpid()) {
			environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			unsure = unsure || err == nil && len(environ) == 0 // empty while the process executes a new program or has ended
			if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+mark+"\x00")) {
				continue
			}
			found = true
			unix.Kill(pid, unix.SIGKILL)
			for range rounds { // it may be uninterruptible
				if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == pid || errors.Is(err, unix.ECHILD) {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
		if !found && !unsure {
			return
		}
		if !found {
			time.Sleep(time.Millisecond)
		}
	}
}
