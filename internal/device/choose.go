package device

import (
	"fmt"
	"strconv"
	"strings"
)

// Choose returns the device that a text selects: by index, by UUID or its beginning, by PCI
// address, or by a unique part of its name. The empty string selects the first device.
func Choose(list []Info, which string) (Info, error) {
	if len(list) == 0 {
		return Info{}, &Unavailable{Why: "no device"}
	}
	if which == "" {
		return list[0], nil
	}
	if i, err := strconv.Atoi(which); err == nil {
		if i < 0 || i >= len(list) {
			return Info{}, fmt.Errorf("device %d: there are %d: %s", i, len(list), names(list))
		}
		return list[i], nil
	}
	fold := strings.ToLower(which)
	var meant []Info
	for _, d := range list {
		if strings.EqualFold(d.UUID, which) || strings.EqualFold(d.PCI, which) {
			return d, nil
		}
		if strings.HasPrefix(strings.ToLower(d.UUID), fold) || strings.Contains(strings.ToLower(d.Name), fold) {
			meant = append(meant, d)
		}
	}
	switch len(meant) {
	case 1:
		return meant[0], nil
	case 0:
		return Info{}, fmt.Errorf("device %q: none is called so: %s", which, names(list))
	}
	return Info{}, fmt.Errorf("device %q: could be any of %s", which, names(meant))
}

func names(list []Info) string {
	var all []string
	for _, d := range list {
		all = append(all, fmt.Sprintf("%d %s (%s, %s)", d.Index, d.Name, d.UUID, d.PCI))
	}
	return strings.Join(all, ", ")
}
