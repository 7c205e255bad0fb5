package runner

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
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
			_, err := library()
			return itself, err
		}
	}
	return program, unchanged(program, started)
}

// library is the file of this code where that is a library, which the program only calls, and
// otherwise "". One that was replaced is an error. Only Linux tells.
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

// mapped is the file that the memory at an address is of, by what /proc/self/maps says; "" for none.
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
