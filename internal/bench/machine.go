package bench

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// traits lists the properties that two machines must share before their speeds are divided:
// hardware, limits and kernel. The host name and the load are not among them. Memory counts in
// whole GiB, because kernels reserve some of it.
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

// Fingerprint is equal for machines whose speeds may be divided.
func (m Machine) Fingerprint() string {
	h := sha256.New()
	for _, t := range m.traits() {
		fmt.Fprintf(h, "%q %q\n", t[0], t[1])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Differs lists the traits in which two machines differ, such as "cores 2 against 4". It is empty
// if the fingerprints are equal.
func (m Machine) Differs(other Machine) []string {
	var list []string
	theirs := other.traits()
	for i, t := range m.traits() {
		if t[1] != theirs[i][1] {
			list = append(list, fmt.Sprintf("%s %s against %s", t[0], cmp.Or(t[1], "none"), cmp.Or(theirs[i][1], "none")))
		}
	}
	return list
}

// A Station is a program on a machine, regardless of accelerators. Cells of two stations are never
// processes of one row.
type Station struct {
	Machine string `json:"machine,omitempty"` // its fingerprint without accelerators
	Program string `json:"program,omitempty"` // SHA-256 of the executable
}

// Station returns the program and machine that made the run.
func (r RunRecord) Station() Station {
	m := r.Machine
	m.Devices = nil
	return Station{m.Fingerprint(), r.Binary.SHA256}
}

// Stations maps the identifiers of runs to their stations.
func (r Records) Stations() map[string]Station {
	of := map[string]Station{}
	for _, run := range r.Runs {
		of[run.ID] = run.Station()
	}
	return of
}

// Machine returns the machine of a run, with the devices that its cells name. It returns false if
// there is no such run.
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
