package bench

import (
	"slices"
	"strings"
	"testing"
)

func TestFingerprint(t *testing.T) {
	m := Machine{Host: "a", CPU: "fast", Cores: 2, Caches: []string{"L2 1M"}, Governor: "n/a", Memory: 24 << 30, CgroupCPU: "max", Kernel: "linux 6", Devices: []string{"x", "y"}}
	same := m
	same.Host, same.Load, same.Memory, same.Devices = "b", [3]float64{1, 2, 3}, m.Memory-100<<20, []string{"y", "x"}
	if m.Fingerprint() != same.Fingerprint() || len(m.Differs(same)) > 0 {
		t.Errorf("the name, the load, some memory and an order make another machine: %v", m.Differs(same))
	}
	for name, change := range map[string]func(*Machine){
		"CPU":           func(m *Machine) { m.CPU = "slow" },
		"cores":         func(m *Machine) { m.Cores = 4 },
		"caches":        func(m *Machine) { m.Caches = nil },
		"governor":      func(m *Machine) { m.Governor = "powersave" },
		"memory":        func(m *Machine) { m.Memory = 12 << 30 },
		"cgroup CPU":    func(m *Machine) { m.CgroupCPU = "100000 100000" },
		"cgroup memory": func(m *Machine) { m.CgroupBytes = 1 << 30 },
		"kernel":        func(m *Machine) { m.Kernel = "linux 7" },
		"device":        func(m *Machine) { m.Devices = []string{"x"} },
	} {
		other := m
		change(&other)
		if got := m.Differs(other); len(got) != 1 || !strings.HasPrefix(got[0], name+" ") || m.Fingerprint() == other.Fingerprint() {
			t.Errorf("another %s: differs in %q, fingerprints %s and %s", name, got, m.Fingerprint(), other.Fingerprint())
		}
	}
}

func TestMachineOfARun(t *testing.T) {
	r := Records{
		Runs:  []RunRecord{{ID: "1", Machine: Machine{CPU: "c"}}, {ID: "2"}},
		Cells: []CellRecord{{Run: "1", Device: "d"}, {Run: "1", Device: "d"}, {Run: "2", Device: "e"}},
	}
	if m, ok := r.Machine("1"); !ok || m.CPU != "c" || !slices.Equal(m.Devices, []string{"d"}) {
		t.Errorf("machine %+v, %v", m, ok)
	}
	if _, ok := r.Machine("3"); ok {
		t.Error("a run that is not there has a machine")
	}
}
