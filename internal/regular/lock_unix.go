//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package regular

import (
	"errors"
	"os"
	"syscall"
)

// Lock keeps a file from other programs until it is closed or its process ends.
func Lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOLCK):
			return ErrNoLocks
		default:
			return err
		}
	}
}
