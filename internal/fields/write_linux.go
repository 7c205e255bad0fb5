package fields

import (
	"io"
	"os"
	"syscall"

	"eccbench/internal/grid"
	"eccbench/internal/memfile"
)

// write puts an image at an offset of a file in memory, a multiple of a page, and leaves the file
// at its end. It generates the image in the file's own pages, on several cores, which also allocate
// missing ones. The whole file is mapped, so that the mapping has the file's huge pages.
func write(in grid.Source, f *os.File, at int64) error {
	total := grid.TotalBytes(in)
	if err := f.Truncate(at + total); err != nil {
		return err
	}
	whole, err := memfile.Map(f, at+total, syscall.PROT_READ|syscall.PROT_WRITE)
	if err != nil {
		return err
	}
	defer memfile.Unmap(whole)
	mapped := whole[at:]
	n, size := in.Shape().Slices(), grid.SliceBytes(in)
	step := max(1, (64<<20)/size)
	for lo := int64(0); lo < n; lo += step {
		hi := min(lo+step, n)
		if err := in.ReadSlab(mapped[lo*size:hi*size], lo, hi); err != nil {
			return err
		}
	}
	_, err = f.Seek(at+total, io.SeekStart)
	return err
}
