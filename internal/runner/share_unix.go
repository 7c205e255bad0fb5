//go:build unix

package runner

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps a whole file, read only unless a device has to pin it, which
// drivers do with writable memory alone.
func mapFile(f *os.File, toPin bool) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return []byte{}, nil // what is empty cannot be mapped
	}
	protection := unix.PROT_READ
	if toPin {
		protection |= unix.PROT_WRITE
	}
	return mapBytes(f, info.Size(), protection)
}

func mapBytes(f *os.File, size int64, protection int) ([]byte, error) {
	mapped, err := unix.MmapPtr(int(f.Fd()), 0, place(size), uintptr(size), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return unsafe.Slice((*byte)(mapped), size), nil
}

func unmap(mapped []byte) {
	if len(mapped) == 0 {
		return
	}
	unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mapped)), uintptr(len(mapped))) // nothing of the file is lost with it
}
