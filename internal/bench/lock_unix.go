//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bench

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps a file from other programs until it is closed. On a file system without
// locks, as those of some clusters, nothing keeps it.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOLCK):
			return nil
		default:
			return err
		}
	}
}
