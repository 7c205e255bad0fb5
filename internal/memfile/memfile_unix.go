//go:build unix

package memfile

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Map maps a file of the given size, which processes share.
func Map(f *os.File, size int64, protection int) ([]byte, error) {
	mapped, err := unix.MmapPtr(int(f.Fd()), 0, place(size), uintptr(size), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return unsafe.Slice((*byte)(mapped), size), nil
}

// Unmap ends a mapping.
func Unmap(mapped []byte) {
	if len(mapped) == 0 {
		return
	}
	unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mapped)), uintptr(len(mapped))) // the file keeps its content
}
