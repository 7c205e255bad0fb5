package memfile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// memfdCreate is the system call; tests replace it.
var memfdCreate = unix.MemfdCreate

// New makes a file without a name, so that the system frees it when the process dies. On Linux
// it is in memory, unless a sandbox forbids that.
func New(label string) (*os.File, error) {
	fd, err := memfdCreate("eccbench "+label, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES) {
		return namelessFile()
	}
	if err != nil {
		return nil, fmt.Errorf("memory to share with workers: %w", err)
	}
	return os.NewFile(uintptr(fd), label), nil
}

// Seal prevents all further writing to a file in memory, except through existing mappings, and keeps its size: a file
// that was shorter for a moment has zeros. Otherwise a peer could open the files of its harness in /proc.
func Seal(f *os.File) {
	unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW)
}

// Sealed reports whether a file is sealed.
func Sealed(f *os.File) bool {
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	return err == nil && seals&unix.F_SEAL_FUTURE_WRITE != 0
}
