//go:build unix && !linux

package runner

import (
	"os"
	"unsafe"
)

// newFile makes a file without a name, so that the system frees it when the process dies.
func newFile(string) (*os.File, error) { return namelessFile() }

// seal does nothing: there are no peers.
func seal(*os.File) {}

func sealed(*os.File) bool { return false }

// enlarge extends a new file.
func enlarge(f *os.File, size int64) error { return f.Truncate(size) }

// place lets the kernel choose the address.
func place(int64) unsafe.Pointer { return nil }

// populate does nothing.
func populate([]byte) {}
