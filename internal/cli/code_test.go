package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/cuda"
	"eccbench/internal/device"
	"eccbench/internal/verify"
)

// The help lists the exit codes, also for wrapped errors.
func TestCodes(t *testing.T) {
	answered := func(s verify.Status) error { return fmt.Errorf("curve: %w", ask.VerdictError{Status: s, Why: "why"}) }
	for _, c := range []struct {
		err  error
		want int
	}{
		{errors.New("a full disk"), 1}, {answered(verify.Wrong), 11}, {answered(verify.Unverified), 13},
		{VerdictError{Code: 12, Why: "a crash"}, 12}, {VerdictError{Code: 14, Why: "no baseline"}, 14},
		{Usagef("--threads 0"), 64}, {fmt.Errorf("input: %w", bench.Limit{}), 64},
		{fmt.Errorf("naive: %w", bench.Refuse(errors.New("masks are not supported"))), 64},
		{bench.Refuse(&device.Unavailable{Why: "no driver"}), 1}, {bench.Refuse(&cuda.Error{}), 1}, {bench.Refuse(syscall.EIO), 1},
		{bench.Refuse(&format.ReadError{Path: "https://host/a.nii", Err: errors.New("timeout")}), 1},
	} {
		if got := Code(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

// A file that is found damaged while it is read is an impossible input; a disk or a network that fails is not.
func TestCodeOfDamagedFiles(t *testing.T) {
	damaged := errors.New("truncated")
	for _, c := range []struct {
		err  error
		want int
	}{
		{damaged, ExitFailure}, {&format.ReadError{Path: "a.nii.gz", Err: damaged}, ExitUsage}, {fmt.Errorf("curve: %w", &format.ReadError{Path: "a.nii.gz", Err: damaged}), ExitUsage},
		{&format.ReadError{Path: "a.nii.gz", Err: fmt.Errorf("reading voxels: %w", syscall.EIO)}, ExitFailure}, {&format.ReadError{Path: "https://host/a.nii.gz", Err: damaged}, ExitFailure},
		{&format.ReadError{Path: "https://host/a.zarr", Err: fmt.Errorf("chunk 0: %w", storage.ObjectError{Why: "no ranges"})}, ExitUsage},
	} {
		if got := Code(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

// The error of too many open files has the remedy.
func TestRemedyOfOpenFiles(t *testing.T) {
	var b strings.Builder
	c := &Program{Stderr: &b}
	c.PrintError(fmt.Errorf("a.npy: %w", syscall.EMFILE))
	if want := "eccbench: a.npy: too many open files; raise ulimit -n\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
