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

// hugePage is how large the pages are that one entry of a page table of a higher level
// stands for. Where they are of another size, they are not had.
const hugePage = 2 << 20

// memfdCreate is the system's call, but in tests.
var memfdCreate = unix.MemfdCreate

// newFile makes a file that has no name, so that nothing is left when the
// process dies. On Linux it lives in memory, unless a sandbox denies that.
func newFile(label string) (*os.File, error) {
	fd, err := memfdCreate("eccbench "+label, unix.MFD_CLOEXEC)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES) {
		return namelessFile()
	}
	if err != nil {
		return nil, fmt.Errorf("memory to share with workers: %w", err)
	}
	return os.NewFile(uintptr(fd), label), nil
}

// enlarge makes a new file in memory so long, of huge pages where the kernel gives them,
// as it does to large allocations of a process: what a reader pays for an address then
// does not grow with the file, and it need not wait for every small page once.
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
					mapped[i] = 0 // a huge page takes the place of pages that are there
				}
				// By Linux 6.1 and later, where memory is not too scattered.
				if unix.Madvise(mapped[lo:hi], unix.MADV_COLLAPSE) != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// place is an address at which the huge pages of a mapped file can be mapped as such: a
// multiple of their size. It is free, but for what is mapped by others in the meantime;
// the kernel chooses another one then.
func place(size int64) unsafe.Pointer {
	if size < hugePage {
		return nil
	}
	n := uintptr(size) + hugePage
	free, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	unix.MunmapPtr(free, n) // cannot fail: it was mapped so
	return unsafe.Add(free, -uintptr(free)%hugePage)
}

// populate has the pages of a mapped file at hand, so that the first call does not wait
// for each of them. Where the kernel cannot (before Linux 5.14) it does.
func populate(mapped []byte) {
	if len(mapped) > 0 {
		unix.Madvise(mapped, unix.MADV_POPULATE_READ)
	}
}
