package runner

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newFile makes a file that has no name, so that nothing is left when the
// process dies. On Linux it lives in memory.
func newFile(label string) (*os.File, error) {
	fd, err := unix.MemfdCreate("eccbench "+label, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory to share with workers: %w", err)
	}
	return os.NewFile(uintptr(fd), label), nil
}
