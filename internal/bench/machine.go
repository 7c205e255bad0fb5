package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// traits are what speeds on two machines must have in common to be divided by
// each other: hardware, limits and kernel. The host's name and its load are not
// among them; memory counts in whole GiB, as kernels reserve some of it.
func (m Machine) traits() [][2]string {
	devices := slices.Clone(m.Devices)
	slices.Sort(devices)
	return [][2]string{
		{"CPU", m.CPU}, {"cores", fmt.Sprint(m.Cores)}, {"caches", strings.Join(m.Caches, ", ")},
		{"governor", m.Governor}, {"memory", fmt.Sprintf("%d GiB", (m.Memory+1<<29)>>30)},
		{"cgroup CPU", m.CgroupCPU}, {"cgroup memory", fmt.Sprint(m.CgroupBytes)},
		{"kernel", m.Kernel}, {"device", strings.Join(devices, "; ")},
	}
}

// Fingerprint is equal for machines whose speeds may be divided by each other.
func (m Machine) Fingerprint() string {
	h := sha256.New()
	for _, t := range m.traits() {
		fmt.Fprintf(h, "%q %q\n", t[0], t[1])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Differs says in what the fingerprints of two machines differ, trait by trait:
// "cores 2 against 4". It is empty when they are equal.
func (m Machine) Differs(other Machine) []string {
	var list []string
	theirs := other.traits()
	for i, t := range m.traits() {
		if t[1] != theirs[i][1] {
			list = append(list, fmt.Sprintf("%s %s against %s", t[0], orNone(t[1]), orNone(theirs[i][1])))
		}
	}
	return list
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// A Station is a program on a machine, whatever accelerators that has. Cells of two
// stations are never processes of one row.
type Station struct {
	Machine string `json:"machine,omitempty"` // its fingerprint without accelerators
	Program string `json:"program,omitempty"` // SHA-256 of the executable
}

// Station is where and by what the run measured.
func (r RunRecord) Station() Station {
	m := r.Machine
	m.Devices = nil
	return Station{m.Fingerprint(), r.Binary.SHA256}
}

// Stations are those of the runs by their identifiers.
func (r Records) Stations() map[string]Station {
	of := map[string]Station{}
	for _, run := range r.Runs {
		of[run.ID] = run.Station()
	}
	return of
}

// Machine is what the run of an identifier was measured on, with the devices
// that its cells name, and whether the records have such a run.
func (r Records) Machine(run string) (Machine, bool) {
	i := slices.IndexFunc(r.Runs, func(m RunRecord) bool { return m.ID == run })
	if i < 0 {
		return Machine{}, false
	}
	m := r.Runs[i].Machine
	m.Devices = slices.Clone(m.Devices)
	for _, c := range r.Cells {
		if c.Run == run && c.Device != "" && !slices.Contains(m.Devices, c.Device) {
			m.Devices = append(m.Devices, c.Device)
		}
	}
	return m, true
}
