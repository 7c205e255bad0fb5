package gridtest

import (
	"os"
	"syscall"
)

// AtEnd returns n bytes at the end of mapped memory, so that reads beyond them fail, and a function that frees
// them.
func AtEnd(n int) (b []byte, free func()) {
	page := os.Getpagesize()
	whole := (n + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, whole+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return make([]byte, n), func() {}
	}
	syscall.Mprotect(m[whole:], syscall.PROT_NONE) // or reading on is no failure
	return m[whole-n : whole : whole], func() { syscall.Munmap(m) }
}
