package runner

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ownMemory is the memory that processes hold for themselves, in files in memory too, without those
// that are shared with them, of which some are mapped again and again; 0 when it cannot be read. What
// they share with each other counts once.
func ownMemory(pids []int, shared []*os.File, extents []extent) int64 {
	known := map[uint64]bool{}
	var ours int64
	for _, f := range shared {
		var s unix.Stat_t
		if unix.Fstat(int(f.Fd()), &s) == nil {
			known[s.Ino] = true
			ours += s.Blocks * blockSize
		}
	}
	for _, e := range extents {
		ours += e.Size
	}
	var total int64
	for _, pid := range pids {
		status := fmt.Sprintf("/proc/%d/status", pid)
		// What is mapped but no longer open is seen by its pages alone, and what is not mapped
		// by its file alone.
		mapped, files := kilobytes(procField(status, "RssShmem"))-ours, inFiles(pid, known)
		total += kilobytes(procField(status, "RssAnon")) + max(0, mapped, files)
		ours += files
	}
	return total
}

// blockSize is the unit of the blocks that a file takes.
const blockSize = 512

// inFiles is the bytes of the nameless files in memory that a process has open, but for
// the known ones. They are known then.
func inFiles(pid int, known map[uint64]bool) (bytes int64) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	open, _ := os.ReadDir(dir)
	for _, fd := range open {
		link, err := os.Readlink(dir + fd.Name())
		if err != nil || !strings.HasPrefix(link, "/memfd:") {
			continue
		}
		var s unix.Stat_t
		if unix.Stat(dir+fd.Name(), &s) == nil && !known[s.Ino] {
			known[s.Ino] = true
			bytes += s.Blocks * blockSize
		}
	}
	return bytes
}
