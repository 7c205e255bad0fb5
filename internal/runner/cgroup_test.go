package runner

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The limits of a process are those of its own group and of all groups above, whichever
// version of control groups says so.
func TestCgroups(t *testing.T) {
	const v1, v2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
	type files map[string]string
	for _, c := range []struct {
		what        string
		files       files
		limit, free int64
		cpu         string
	}{
		{"no groups", nil, 0, math.MaxInt64, ""},
		{"container of version 2", files{"/proc/self/cgroup": "0::/\n", v2 + "/memory.max": "4000\n", v2 + "/memory.current": "1000\n", v2 + "/cpu.max": "max 100000\n"}, 4000, 3000, "max 100000"},
		{"own group of version 2", files{"/proc/self/cgroup": "0::/user.slice/run-1.scope\n", v2 + "/user.slice/memory.max": "max\n",
			v2 + "/user.slice/run-1.scope/memory.max": "500\n", v2 + "/user.slice/run-1.scope/memory.current": "100\n",
			v2 + "/user.slice/cpu.max": "max 100000\n", v2 + "/user.slice/run-1.scope/cpu.max": "50000 100000\n"}, 500, 400, "50000 100000"},
		{"group above has less", files{"/proc/self/cgroup": "0::/job/step\n", v2 + "/job/memory.max": "300\n", v2 + "/job/memory.current": "100\n",
			v2 + "/job/step/memory.max": "900\n", v2 + "/job/step/memory.current": "50\n",
			v2 + "/job/cpu.max": "100000 100000\n", v2 + "/job/step/cpu.max": "400000 100000\n"}, 300, 200, "100000 100000"},
		{"group above is fuller", files{"/proc/self/cgroup": "0::/job/step\n", v2 + "/job/memory.max": "900\n", v2 + "/job/memory.current": "850\n",
			v2 + "/job/step/memory.max": "500\n", v2 + "/job/step/memory.current": "100\n"}, 500, 50, ""},
		{"Slurm of version 1", files{"/proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/slurm/job_1/step:0\n0::/other\n", v1 + "/memory.limit_in_bytes": "9223372036854771712\n",
			v1 + "/slurm/job_1/memory.limit_in_bytes": "700\n", v1 + "/slurm/job_1/memory.usage_in_bytes": "600\n",
			v1 + "/slurm/job_1/memory.stat":                  "inactive_file 1\nactive_file 2\ntotal_inactive_file 100\ntotal_active_file 50\n",
			v1 + "/slurm/job_1/step:0/memory.limit_in_bytes": "9223372036854771712\n", v2 + "/other/memory.max": "1\n"}, 700, 250, ""},
		{"page cache of version 2", files{"/proc/self/cgroup": "0::/g\n", v2 + "/g/memory.max": "700\n", v2 + "/g/memory.current": "650\n",
			v2 + "/g/memory.stat": "anon 50\ninactive_file 400\nactive_file 200\n"}, 700, 650, ""},
		{"container of version 1 that does not see its group", files{"/proc/self/cgroup": "4:memory:/docker/0123\n",
			v1 + "/memory.limit_in_bytes": "800\n", v1 + "/memory.usage_in_bytes": "900\n"}, 800, 1, ""},
		{"group above the mount", files{"/proc/self/cgroup": "0::/../other\n", v2 + "/memory.max": "10\n"}, 10, 10, ""},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			name = filepath.Join(root, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
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
