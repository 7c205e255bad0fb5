package host

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// cgroups returns the directories of this process's control groups that have a controller, from its
// own group up to the mount's root. "" selects version 2 with any controllers. In a container the
// directory of the own group may be missing, and the root replaces it. root is "/" except in tests.
func cgroups(root, controller string) []string {
	text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	mount := filepath.Join(root, "sys/fs/cgroup") // of version 2
	group := "/"
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number:controllers:group
		if len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) {
			mount, group = filepath.Join(mount, controller), f[2] // version 1: no other hierarchy has the controller
			break
		}
		if len(f) == 3 && f[1] == "" {
			group = f[2]
		}
	}
	var dirs []string
	for group = path.Join("/", group); group != "/"; group = path.Dir(group) {
		dirs = append(dirs, filepath.Join(mount, group))
	}
	return append(dirs, mount)
}

// cgroupMemory returns the smallest memory limit of this process's groups (0 for none), and the
// bytes that remain within all of them. The rest is at least 1, because 0 means unknown.
func cgroupMemory(root string) (limit, free int64) {
	free = math.MaxInt64
	for _, dir := range cgroups(root, "memory") {
		most := limited(first(dir+"/memory.max", dir+"/memory.limit_in_bytes"))
		if most == 0 {
			continue
		}
		if limit == 0 || most < limit {
			limit = most
		}
		used, _ := strconv.ParseInt(first(dir+"/memory.current", dir+"/memory.usage_in_bytes"), 10, 64)
		free = min(free, max(1, most-max(0, used-pageCache(dir+"/memory.stat"))))
	}
	return limit, free
}

// LimitHeap makes the garbage collector respect the memory limit of the control groups, which Go
// ignores. GOMEMLIMIT takes precedence.
func LimitHeap() {
	if limit, free := cgroupMemory("/"); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(free - free/8)
	}
}

// growth counts the calls that limit the heap of this process, which has one limit: before is that without them.
var growth struct {
	sync.Mutex
	calls  int
	before int64
}

// LimitGrowth makes the garbage collector work harder as the heap grows by free bytes of memory. A lower GOMEMLIMIT
// takes precedence. The last of the returned functions restores the limit from before. Use it in a process whose other
// memory is not Go's.
func LimitGrowth(free int64) (end func()) {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	growth.Lock()
	defer growth.Unlock()
	if growth.calls++; growth.calls == 1 {
		growth.before = debug.SetMemoryLimit(-1)
	}
	debug.SetMemoryLimit(min(growth.before, int64(now.Sys-now.HeapReleased)+free-free/8))
	return func() {
		growth.Lock()
		defer growth.Unlock()
		if growth.calls--; growth.calls == 0 {
			debug.SetMemoryLimit(growth.before)
		}
	}
}

// pageCache returns the bytes of cached files in a group. The kernel drops them when the group
// needs memory.
func pageCache(stat string) (bytes int64) {
	own := map[string]int64{}
	for line := range strings.Lines(first(stat)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		own[name], _ = strconv.ParseInt(value, 10, 64)
	}
	for _, name := range []string{"inactive_file", "active_file"} {
		all, isV1 := own["total_"+name] // includes the groups below
		if !isV1 {
			all = own[name]
		}
		bytes += all
	}
	return bytes
}

// cgroupCPU returns the text of the smallest CPU quota of this process's groups, or of the mount's
// root. It supports version 2 only.
func cgroupCPU(root string) string {
	dirs := cgroups(root, "")
	text, least := first(dirs[len(dirs)-1]+"/cpu.max"), math.Inf(1)
	for _, dir := range dirs {
		var quota, period float64
		s := first(dir + "/cpu.max")
		if n, _ := fmt.Sscan(s, &quota, &period); n == 2 && quota/period < least {
			text, least = s, quota/period
		}
	}
	return text
}
