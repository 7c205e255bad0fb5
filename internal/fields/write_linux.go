package fields

import (
	"io"
	"os"
	"syscall"

	"eccbench/internal/grid"
)

// write puts an image at an offset of a file in memory, a multiple of a page, and leaves the file
// at its end. It generates the image in the file's own pages, on several cores. They allocate the
// pages too, which on one core is slower than generating most images.
func write(in grid.Source, f *os.File, at int64) error {
	total := grid.TotalBytes(in)
	if err := f.Truncate(at + total); err != nil {
		return err
	}
	mapped, err := syscall.Mmap(int(f.Fd()), at, int(total), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	defer syscall.Munmap(mapped) // the file has it all
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
