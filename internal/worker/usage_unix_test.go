//go:build unix

package worker

import (
	"errors"
	"net"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A program reports a very low limit of open files before the runtime fails.
func TestCheckLimits(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files   uint64
		workers bool
		want    string
	}{
		{16, false, ""}, {15, false, "15 files may be open at a time, want 16 at least; raise ulimit -n"},
		{64, true, ""}, {63, true, "63 files may be open at a time, want 64 at least; raise ulimit -n"},
	} {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: c.files, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		err := CheckLimits(c.workers)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%d files: %v, want %q", c.files, err, c.want)
		}
	}
}

// A task may have more files than the system passes at once.
func TestManyFiles(t *testing.T) {
	ours, file, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	c, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	theirs := c.(*net.UnixConn)
	defer theirs.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, n := range []int{1, mostFiles, mostFiles + 1, 2*mostFiles + 94} {
		sent := make(chan error, 1)
		go func() { sent <- sendFiles(ours, slices.Repeat([]*os.File{null}, n)) }()
		files, err := receiveFiles(theirs)
		if err := errors.Join(err, <-sent); err != nil || len(files) != n {
			t.Errorf("received %d files of %d: %v", len(files), n, err)
		}
		for _, f := range files {
			f.Close()
		}
	}
}
