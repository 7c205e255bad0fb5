package memfile

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// HugePage is the usual size of a huge page: the range of one entry of a second-level page table.
// Systems with another size get small pages.
const HugePage = 2 << 20

// Enlarge extends a new file in memory, with huge pages if the kernel provides them. Huge pages
// make shared inputs as fast to access as the large allocations of a process: fewer TLB misses and
// fewer page faults.
func Enlarge(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	if size < HugePage {
		return nil
	}
	mapped, err := Map(f, size, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return err
	}
	defer Unmap(mapped)
	const part = 16 * HugePage
	whole := size / HugePage * HugePage
	crew.Share(grid.CeilDiv(whole, part), func(next func() (int64, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			lo, hi := k*part, min((k+1)*part, whole)
			for i := lo; i < hi; i += HugePage {
				mapped[i] = 0 // touch a page: MADV_COLLAPSE only replaces existing pages
			}
			// Linux 6.1 and later do this if memory is not too fragmented.
			if unix.Madvise(mapped[lo:hi], unix.MADV_COLLAPSE) != nil {
				return
			}
		}
	})
	return nil
}

// place returns a free address that is a multiple of the huge page size, so that the huge pages of
// a file can be mapped as such. If another thread maps memory there first, the kernel chooses
// another address.
func place(size int64) unsafe.Pointer {
	if size < HugePage {
		return nil
	}
	n := uintptr(size) + HugePage
	free, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	unix.MunmapPtr(free, n) // cannot fail: it was just mapped
	return unsafe.Add(free, -uintptr(free)%HugePage)
}

// Populate reads in the pages of a mapped file, so that the first call does not wait for page
// faults. Before Linux 5.14 it has no effect.
func Populate(mapped []byte) {
	if len(mapped) > 0 {
		unix.Madvise(mapped, unix.MADV_POPULATE_READ)
	}
}
