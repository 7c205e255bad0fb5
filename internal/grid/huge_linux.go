package grid

import (
	"syscall"
	"unsafe"
)

// hugeBytes is the size of a huge page, and what memory has to have for them.
const hugeBytes = 2 << 20

// huge asks for huge pages under memory that nobody has written to: a fault for each 2 MiB in place of one
// for each 4 KiB, and fewer misses of the TLB. Where the system refuses, pages are small.
func huge(b []byte) {
	from := -uintptr(unsafe.Pointer(&b[0])) % hugeBytes
	if n := uintptr(len(b)); n >= from+hugeBytes {
		syscall.Madvise(b[from:n-(n-from)%hugeBytes], syscall.MADV_HUGEPAGE)
	}
}
