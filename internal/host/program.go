package host

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// itself is a path of the running program that stays valid when the file at its original path is
// replaced.
const itself = "/proc/self/exe"

// started describes the program's file at the start.
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

// Running returns the path from which to start a program. For this program it is the path of the
// running file. On systems without such a path, it is an error if the file was replaced.
func Running(program string) (string, error) {
	self, err := os.Executable() // the path at the start
	if err != nil || program != self {
		return program, nil
	}
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(itself); err == nil {
			_, err := library()
			return itself, err
		}
	}
	return program, unchanged(program, started)
}

// library returns the file of the shared library that contains this code, or "" if the code is in
// the program itself. It is an error if the file was replaced. It works on Linux only.
func library() (string, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	program, err2 := os.Readlink(itself)
	if err != nil || err2 != nil {
		return "", nil
	}
	here, _, _, _ := runtime.Caller(0)
	path := mapped(string(maps), uint64(here))
	if path == program {
		return "", nil
	}
	if was, gone := strings.CutSuffix(path, " (deleted)"); gone {
		return "", fmt.Errorf("%s was replaced since it started: its workers would be of another program", was)
	}
	return path, nil
}

// mapped returns the file that is mapped at an address according to /proc/self/maps, or "".
func mapped(maps string, at uint64) string {
	for line := range strings.Lines(maps) {
		f := strings.Fields(line) // from-to rights offset device inode path
		if len(f) < 6 {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		lo, err := strconv.ParseUint(from, 16, 64)
		hi, err2 := strconv.ParseUint(to, 16, 64)
		if err == nil && err2 == nil && lo <= at && at < hi {
			return strings.TrimSuffix(line[strings.Index(line, f[5]):], "\n")
		}
	}
	return ""
}

// unchanged returns an error if a file has changed.
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
