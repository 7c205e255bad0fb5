package runner

import (
	"fmt"
	"os"
	"runtime"
)

// itself is the file of the program that runs, by a name that always means it: what lies
// under its own name may have been replaced meanwhile.
const itself = "/proc/self/exe"

// started is the file of this program as it was when it started.
var started = func() os.FileInfo {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}()

// running is the path by which a program is started. This program's is that of what runs;
// on a system that has no name for it, a file that was replaced is an error.
func running(program string) (string, error) {
	self, err := os.Executable() // as it was at the start
	if err != nil || program != self {
		return program, nil
	}
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(itself); err == nil {
			return itself, nil
		}
	}
	return program, unchanged(program, started)
}

// unchanged is an error where a file is no longer what it was.
func unchanged(path string, was os.FileInfo) error {
	is, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the program has gone since it started: %w", err)
	}
	if was == nil || !os.SameFile(is, was) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
		return fmt.Errorf("%s was replaced since it started: its workers would be of another program", path)
	}
	return nil
}
