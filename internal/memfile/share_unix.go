//go:build unix

package memfile

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// namelessFile makes a file in $TMPDIR and removes its name.
func namelessFile() (*os.File, error) {
	f, err := os.CreateTemp("", "eccbench-*")
	if err != nil {
		return nil, fmt.Errorf("file to share with workers: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("file to share with workers: %w", err)
	}
	return f, nil
}

// MapWhole maps a whole file for reading.
func MapWhole(f *os.File) ([]byte, error) { return MapExtent(f, Extent{}, false) }

// MapExtent maps a file with an extent. It maps it read-only unless a device has to pin it, because
// drivers pin writable memory only.
func MapExtent(f *os.File, e Extent, toPin bool) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return []byte{}, nil // an empty file cannot be mapped
	}
	protection := unix.PROT_READ
	if toPin {
		protection |= unix.PROT_WRITE
	}
	if e.Size > info.Size() {
		return mapRepeated(f, info.Size(), e, protection)
	}
	return Map(f, info.Size(), protection)
}

// mapRepeated maps a file of the given length, followed by repetitions of its bytes from e.From on.
// The repetitions share the same memory.
func mapRepeated(f *os.File, length int64, e Extent, protection int) ([]byte, error) {
	room, err := unix.MmapPtr(-1, 0, place(e.Size), uintptr(e.Size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", e.Size, err)
	}
	mapped := unsafe.Slice((*byte)(room), e.Size)
	for at, offset := int64(0), int64(0); at < e.Size; at, offset = at+length-offset, e.From {
		n := min(length-offset, e.Size-at)
		if _, err := unix.MmapPtr(int(f.Fd()), offset, unsafe.Add(room, at), uintptr(n), protection,
			unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
			Unmap(mapped)
			return nil, fmt.Errorf("mapping %d bytes of %d: %w", n, e.Size, err)
		}
	}
	return mapped, nil
}
