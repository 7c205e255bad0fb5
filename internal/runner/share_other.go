//go:build unix && !linux

package runner

import (
	"os"
	"unsafe"
)

// newFile makes a file that has no name, so that nothing is left when the
// process dies.
func newFile(string) (*os.File, error) { return namelessFile() }

// enlarge makes a new file so long.
func enlarge(f *os.File, size int64) error { return f.Truncate(size) }

// place leaves it to the kernel where to map a file.
func place(int64) unsafe.Pointer { return nil }

// populate leaves it to the kernel when pages are at hand.
func populate([]byte) {}
