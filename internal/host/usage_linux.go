package host

import (
	"fmt"
	"os"
	"sync"

	"eccbench/internal/memfile"

	"golang.org/x/sys/unix"
)

// systemMemory returns the memory of the machine and its unused part, without the caches of files. Use it where /proc,
// which knows more, is not mounted.
func systemMemory() (total, free int64) {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0, 0
	}
	unit := int64(s.Unit)
	return int64(s.Totalram) * unit, int64(s.Freeram+s.Bufferram) * unit
}

// OwnMemory returns the bytes of a family of processes, including their own files in memory, but
// without files shared with this process. Memory that they share with each other counts once. The
// result is 0 if it cannot be read. Extents correct for inputs that are mapped repeatedly.
func OwnMemory(pids []int, shared []*os.File, extents []memfile.Extent) int64 {
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
		// Pages show files that are mapped but closed; sizes show files that are open but not
		// mapped.
		mapped, files := kilobytes(procField(status, "RssShmem"))-ours, inFiles(pid, known)
		total += kilobytes(procField(status, "RssAnon")) + max(0, mapped, files)
		ours += files
	}
	return total
}

// PeakResident returns the largest resident set of a running process so far, in bytes, or 0 if it cannot be read.
func PeakResident(pid int) int64 {
	return kilobytes(procField(fmt.Sprintf("/proc/%d/status", pid), "VmHWM"))
}

// blockSize is the unit of Stat_t.Blocks.
const blockSize = 512

// memoryDevice returns the device of the files in memory, or 0 if a sandbox forbids them.
var memoryDevice = sync.OnceValue(func() uint64 {
	var s unix.Stat_t
	if fd, err := unix.MemfdCreate("device", unix.MFD_CLOEXEC); err == nil {
		unix.Fstat(fd, &s)
		unix.Close(fd)
	}
	return s.Dev
})

// inFiles returns the bytes of the nameless files in memory that a process has open, without the
// known ones. It marks them as known.
func inFiles(pid int, known map[uint64]bool) (bytes int64) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	open, _ := os.ReadDir(dir)
	for _, fd := range open {
		var s unix.Stat_t
		if unix.Stat(dir+fd.Name(), &s) == nil && s.Dev == memoryDevice() && !known[s.Ino] {
			known[s.Ino] = true
			bytes += s.Blocks * blockSize
		}
	}
	return bytes
}
