package storage

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// inodeTime returns the last change of a file's inode in nanoseconds. A program that resets the
// time of the contents changes it, too.
func inodeTime(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}

// DropPages asks the kernel to drop a file's pages from the page cache, and checks up to 64 pieces.
// File systems in memory ignore the request.
func DropPages(f *os.File) (cold bool, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	if _, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); e != 0 {
		return false, fmt.Errorf("%s: dropping it from the page cache: %w", f.Name(), e)
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return false, fmt.Errorf("%s: checking its cached pages: %w", f.Name(), err)
	}
	defer syscall.Munmap(mem) // only inspected
	page := os.Getpagesize()
	piece := min(256, (len(mem)+page-1)/page) // pages
	pieces := min(64, (len(mem)+piece*page-1)/(piece*page))
	seen, resident := 0, 0
	vector := make([]byte, piece)
	for i := range pieces {
		at := 0
		if pieces > 1 {
			at = int(int64(len(mem)-piece*page) / int64(pieces-1) * int64(i) / int64(page) * int64(page))
		}
		size := min(piece*page, len(mem)-at)
		if _, _, e := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&mem[at])), uintptr(size),
			uintptr(unsafe.Pointer(&vector[0]))); e != 0 {
			return false, fmt.Errorf("%s: checking its cached pages: %w", f.Name(), e)
		}
		for _, v := range vector[:(size+page-1)/page] {
			seen++
			resident += int(v & 1)
		}
	}
	return resident*100 <= seen, nil // other processes may be reading it
}
