package host

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// The limit of growth is at most the limit that the process has, which is restored after the last of several calls.
func TestLimitGrowth(t *testing.T) {
	for _, own := range []int64{math.MaxInt64, 3 << 30} {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(own))
		first, second := LimitGrowth(1<<40), LimitGrowth(2<<40)
		if got := debug.SetMemoryLimit(-1); got > own || own == math.MaxInt64 && (got < 7<<38 || got > 2<<40) {
			t.Errorf("the limit is %d, of a process with %d", got, own)
		}
		first()
		if got := debug.SetMemoryLimit(-1); own == math.MaxInt64 && got == own {
			t.Error("no limit remains for the second call")
		}
		second()
		if got := debug.SetMemoryLimit(-1); got != own {
			t.Errorf("the limit is %d afterwards, was %d", got, own)
		}
	}
}

// The limits of a process are the limits of its own group and of all parent groups, in both
// versions of control groups.
func TestCgroups(t *testing.T) {
	const v1, v2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
	for _, c := range []struct {
		what        string
		files       [][2]string
		limit, free int64
		cpu         string
	}{
		{"no groups", nil, 0, math.MaxInt64, ""},
		{"container of version 2", [][2]string{
			{"/proc/self/cgroup", "0::/"},
			{v2 + "/memory.max", "4000"}, {v2 + "/memory.current", "1000"}, {v2 + "/cpu.max", "max 100000"},
		}, 4000, 3000, "max 100000"},
		{"own group of version 2", [][2]string{
			{"/proc/self/cgroup", "0::/user.slice/run-1.scope"},
			{v2 + "/user.slice/memory.max", "max"}, {v2 + "/user.slice/cpu.max", "max 100000"},
			{v2 + "/user.slice/run-1.scope/memory.max", "500"}, {v2 + "/user.slice/run-1.scope/memory.current", "100"},
			{v2 + "/user.slice/run-1.scope/cpu.max", "50000 100000"},
		}, 500, 400, "50000 100000"},
		{"group above has less", [][2]string{
			{"/proc/self/cgroup", "0::/job/step"},
			{v2 + "/job/memory.max", "300"}, {v2 + "/job/memory.current", "100"}, {v2 + "/job/cpu.max", "100000 100000"},
			{v2 + "/job/step/memory.max", "900"}, {v2 + "/job/step/memory.current", "50"},
			{v2 + "/job/step/cpu.max", "400000 100000"},
		}, 300, 200, "100000 100000"},
		{"group above is fuller", [][2]string{
			{"/proc/self/cgroup", "0::/job/step"},
			{v2 + "/job/memory.max", "900"}, {v2 + "/job/memory.current", "850"},
			{v2 + "/job/step/memory.max", "500"}, {v2 + "/job/step/memory.current", "100"},
		}, 500, 50, ""},
		{"Slurm of version 1", [][2]string{
			{"/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/slurm/job_1/step:0\n0::/other"},
			{v1 + "/memory.limit_in_bytes", "9223372036854771712"},
			{v1 + "/slurm/job_1/memory.limit_in_bytes", "700"}, {v1 + "/slurm/job_1/memory.usage_in_bytes", "600"},
			{v1 + "/slurm/job_1/memory.stat",
				"inactive_file 1\nactive_file 2\ntotal_inactive_file 100\ntotal_active_file 50"},
			{v1 + "/slurm/job_1/step:0/memory.limit_in_bytes", "9223372036854771712"},
			{v2 + "/other/memory.max", "1"},
		}, 700, 250, ""},
		{"page cache of version 2", [][2]string{
			{"/proc/self/cgroup", "0::/g"}, {v2 + "/g/memory.max", "700"}, {v2 + "/g/memory.current", "650"},
			{v2 + "/g/memory.stat", "anon 50\ninactive_file 400\nactive_file 200"},
		}, 700, 650, ""},
		{"container of version 1 that does not see its group", [][2]string{
			{"/proc/self/cgroup", "4:memory:/docker/0123"},
			{v1 + "/memory.limit_in_bytes", "800"}, {v1 + "/memory.usage_in_bytes", "900"},
		}, 800, 1, ""},
		{"group above the mount", [][2]string{
			{"/proc/self/cgroup", "0::/../other"}, {v2 + "/memory.max", "10"},
		}, 10, 10, ""},
	} {
		root := t.TempDir()
		for _, f := range c.files {
			name := filepath.Join(root, f[0])
			err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(f[1]+"\n"), 0o666))
			if err != nil {
				t.Fatal(err)
			}
		}
		if limit, free := cgroupMemory(root); limit != c.limit || free != c.free {
			t.Errorf("%s: limit %d, free %d, want %d and %d", c.what, limit, free, c.limit, c.free)
		}
		if cpu := cgroupCPU(root); cpu != c.cpu {
			t.Errorf("%s: CPU quota %q, want %q", c.what, cpu, c.cpu)
		}
	}
}
