//go:build unix && !linux

package runner

import (
	"fmt"
	"os"
	"unsafe"
)

// newFile makes a file that has no name, so that nothing is left when the
// process dies.
func newFile(label string) (*os.File, error) {
	f, err := os.CreateTemp("", "eccbench-*")
	if err != nil {
		return nil, fmt.Errorf("file to share with workers: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("file to share with workers: %w", err)
	}
	return f, nil
}

// enlarge makes a new file so long.
func enlarge(f *os.File, size int64) error { return f.Truncate(size) }

// place leaves it to the kernel where to map a file.
func place(int64) unsafe.Pointer { return nil }

// populate leaves it to the kernel when pages are at hand.
func populate([]byte) {}
