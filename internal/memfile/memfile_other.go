//go:build !linux

package memfile

import (
	"os"
	"unsafe"
)

// HugePage is the usual size of a huge page.
const HugePage = 2 << 20

// Enlarge extends a new file.
func Enlarge(f *os.File, size int64) error { return f.Truncate(size) }

// place lets the kernel choose the address.
func place(int64) unsafe.Pointer { return nil }

// Populate does nothing.
func Populate([]byte) {}
