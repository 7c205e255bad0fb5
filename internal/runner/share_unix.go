//go:build unix

package runner

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a whole file, read only unless a device has to pin it, which
// drivers do with writable memory alone.
func mapFile(f *os.File, toPin bool) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	protection := unix.PROT_READ
	if toPin {
		protection |= unix.PROT_WRITE
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", info.Size(), err)
	}
	return mapped, nil
}

func unmap(mapped []byte) {
	unix.Munmap(mapped) // the process ends: there is nobody to tell
}
