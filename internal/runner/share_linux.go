package runner

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the usual size of a huge page: the range of one entry of a second-level page table.
// Systems with another size get small pages.
const hugePage = 2 << 20

// memfdCreate is the system call; tests replace it.
var memfdCreate = unix.MemfdCreate

// newFile makes a file without a name, so that the system frees it when the process dies. On Linux
// it is in memory, unless a sandbox forbids that.
func newFile(label string) (*os.File, error) {
	fd, err := memfdCreate("eccbench "+label, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES) {
		return namelessFile()
	}
	if err != nil {
		return nil, fmt.Errorf("memory to share with workers: %w", err)
	}
	return os.NewFile(uintptr(fd), label), nil
}

// seal prevents all further writing to a file in memory, except through existing mappings.
// Otherwise a peer could open the files of its harness in /proc. sealed reports whether a file is
// sealed.
func seal(f *os.File) { unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE) }

func sealed(f *os.File) bool {
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	return err == nil && seals&unix.F_SEAL_FUTURE_WRITE != 0
}

// enlarge extends a new file in memory, with huge pages if the kernel provides them. Huge pages
// make shared inputs as fast to access as the large allocations of a process: fewer TLB misses and
// fewer page faults.
func enlarge(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	if size < hugePage {
		return nil
	}
	mapped, err := mapBytes(f, size, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return err
	}
	defer unmap(mapped)
	const part = 16 * hugePage
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				lo := (next.Add(1) - 1) * part
				hi := min(lo+part, size/hugePage*hugePage)
				if lo >= hi {
					return
				}
				for i := lo; i < hi; i += hugePage {
					mapped[i] = 0 // touch a page: MADV_COLLAPSE only replaces existing pages
				}
				// Linux 6.1 and later do this if memory is not too fragmented.
				if unix.Madvise(mapped[lo:hi], unix.MADV_COLLAPSE) != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// place returns a free address that is a multiple of the huge page size, so that the huge pages of
// a file can be mapped as such. If another thread maps memory there first, the kernel chooses
// another address.
func place(size int64) unsafe.Pointer {
	if size < hugePage {
		return nil
	}
	n := uintptr(size) + hugePage
	free, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	unix.MunmapPtr(free, n) // cannot fail: it was just mapped
	return unsafe.Add(free, -uintptr(free)%hugePage)
}

// populate reads in the pages of a mapped file, so that the first call does not wait for page
// faults. Before Linux 5.14 it has no effect.
func populate(mapped []byte) {
	if len(mapped) > 0 {
		unix.Madvise(mapped, unix.MADV_POPULATE_READ)
	}
}
