//go:build !linux

package fields

import (
	"os"

	"eccbench/internal/grid"
)

// write writes an image at the current position of a file.
func write(in grid.Source, f *os.File, _ int64) error {
	return grid.EachSlab(in, func(slab []byte, _, _ int64) error {
		_, err := f.Write(slab)
		return err
	})
}
