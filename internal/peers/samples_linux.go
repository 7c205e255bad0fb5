package peers

import (
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"eccbench/internal/grid"
	"eccbench/internal/memfile"
)

// samplePages is the number of pages for the samples of a thread: a header and an address each.
const samplePages = 4

// Sample has the kernel sample the addresses of the instructions that the process executes, after each period of
// processor time of a thread, until end is called. The process has no part in that. There are none without permission,
// or if a thread has more than 1,000.
func (x *Process) Sample(period time.Duration) (end func() []uintptr) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: unix.PERF_ATTR_SIZE_VER5,
		Sample: uint64(period), Sample_type: unix.PERF_SAMPLE_IP, Bits: unix.PerfBitExcludeKernel,
	}
	var rings [][]byte
	page := os.Getpagesize()
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", x.pid))
	for _, thread := range threads {
		tid, _ := strconv.Atoi(thread.Name())
		fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			continue
		}
		f := os.NewFile(uintptr(fd), "samples")
		if ring, err := memfile.Map(f, int64((1+samplePages)*page), unix.PROT_READ|unix.PROT_WRITE); err == nil {
			rings = append(rings, ring)
		}
		f.Close() // the mapping keeps the event
	}
	return func() (list []uintptr) {
		full := false
		for _, ring := range rings {
			words := grid.Values[uint64](ring[page:])
			n := int((*unix.PerfEventMmapPage)(unsafe.Pointer(&ring[0])).Data_head / 8)
			full = full || n+2 >= len(words) // the kernel stops before the last words
			for k := 1; k < min(n, len(words)); k += 2 {
				list = append(list, uintptr(words[k]))
			}
			memfile.Unmap(ring)
		}
		if full {
			return nil
		}
		return list
	}
}
