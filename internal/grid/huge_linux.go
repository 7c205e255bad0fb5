package grid

import (
	"syscall"
	"unsafe"
)

// hugeBytes is the size and alignment of a huge page.
const hugeBytes = 2 << 20

// huge requests huge pages for fresh memory: one page fault for 2 MiB instead of 4 KiB, and fewer
// TLB misses. Memory around it in its first and last huge page gets them too. If the system refuses, pages stay small.
func huge(b []byte) {
	first := uintptr(unsafe.Pointer(&b[0]))
	end := first + uintptr(len(b))
	if end&^(hugeBytes-1) < first+hugeBytes {
		return
	}
	// The heap has blocks of a multiple of huge pages, so the rest of the first page and of the last is heap, too.
	first &^= hugeBytes - 1
	end = (end + hugeBytes - 1) &^ (hugeBytes - 1)
	syscall.Syscall(syscall.SYS_MADVISE, first, end-first, syscall.MADV_HUGEPAGE)
}
