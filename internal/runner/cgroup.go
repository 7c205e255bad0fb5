package runner

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// cgroups returns the folders of this process's control groups that have a controller, from its
// own group up to the mount's root; "" means version 2, whatever its controllers. A container may
// not see its own group: that folder is missing, and the root is its group. root is "/" but in
// tests.
func cgroups(root, controller string) []string {
	text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	mount := filepath.Join(root, "sys/fs/cgroup") // of version 2
	group := "/"
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number:controllers:group
		if len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) {
			mount, group = filepath.Join(mount, controller), f[2] // version 1, and nothing else has the controller
			break
		}
		if len(f) == 3 && f[1] == "" {
			group = f[2]
		}
	}
	var dirs []string
	for group = filepath.Join("/", group); group != "/"; group = filepath.Dir(group) {
		dirs = append(dirs, filepath.Join(mount, group))
	}
	return append(dirs, mount)
}

// cgroupMemory returns the least memory limit of this process's groups, 0 for none, and the
// bytes that can still be used within all of them: at least 1, as 0 means unknown.
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

// LimitHeap has the garbage collector keep this program within the memory limit of its groups, of
// which Go knows nothing. GOMEMLIMIT is another limit.
func LimitHeap() {
	if limit, free := cgroupMemory("/"); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(free - free/8)
	}
}

// pageCache returns the bytes of files that a group holds in memory, which the kernel drops
// when the group needs memory.
func pageCache(stat string) (bytes int64) {
	own := map[string]int64{}
	for line := range strings.Lines(first(stat)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		own[name], _ = strconv.ParseInt(value, 10, 64)
	}
	for _, name := range []string{"inactive_file", "active_file"} {
		all, isV1 := own["total_"+name] // with the groups below
		if !isV1 {
			all = own[name]
		}
		bytes += all
	}
	return bytes
}

// cgroupCPU returns the text of the least CPU quota of this process's groups, or that of the
// mount's root. It reads version 2 alone.
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
