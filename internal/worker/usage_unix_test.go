//go:build unix

package worker

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A program reports a very low limit of open files before the runtime fails.
func TestCheckLimits(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[uint64]string{fewestFiles: "", fewestFiles - 1: "15 files may be open at a time, want 16 at least; raise ulimit -n"} {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		err := CheckLimits()
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d files: %v, want %q", n, err, want)
		}
	}
}
