//go:build unix && !linux

package runner

import (
	"fmt"
	"os"
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
