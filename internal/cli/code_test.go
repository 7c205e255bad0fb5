package cli

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"eccbench/datasets/files"
)

// A file that is found damaged while it is read is an impossible input; a disk or a network that fails is not.
func TestCodeOfDamagedFiles(t *testing.T) {
	damaged := errors.New("truncated")
	for _, c := range []struct {
		err  error
		want int
	}{
		{damaged, ExitFailure}, {&files.ReadError{Path: "a.nii.gz", Err: damaged}, ExitUsage}, {fmt.Errorf("curve: %w", &files.ReadError{Path: "a.nii.gz", Err: damaged}), ExitUsage},
		{&files.ReadError{Path: "a.nii.gz", Err: fmt.Errorf("reading voxels: %w", syscall.EIO)}, ExitFailure}, {&files.ReadError{Path: "https://host/a.nii.gz", Err: damaged}, ExitFailure},
	} {
		if got := Code(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}
