package grid

import (
	"syscall"
	"unsafe"
)

// hugeBytes is the size and alignment of a huge page.
const hugeBytes = 2 << 20

// huge requests huge pages for fresh memory: one page fault for 2 MiB instead of 4 KiB, and fewer
// TLB misses. If the system refuses, pages stay small.
func huge(b []byte) {
	from := -uintptr(unsafe.Pointer(&b[0])) % hugeBytes
	if n := uintptr(len(b)); n >= from+hugeBytes {
		syscall.Madvise(b[from:n-(n-from)%hugeBytes], syscall.MADV_HUGEPAGE)
	}
}
