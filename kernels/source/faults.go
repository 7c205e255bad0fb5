package source

// planted are the defects that can be planted in the sources (ecc/fault.h).
func planted() map[string][]string {
	sweeps := []string{"atomic", "barrier", "flush", "halo", "slab", "tie"}
	return map[string][]string{
		"ecc_extrema_batch_float32":  {"image", "owner", "sign", "slab"},
		"ecc_extrema_deep_uint16":    {"overflow", "twice"},
		"ecc_extrema_float32":        {"flush", "halo", "owner", "sign", "slab"},
		"ecc_extrema_ranked_float32": {"overflow", "twice"},
		"ecc_extrema_sliced_uint8":   {"flush", "halo", "owner", "sign", "slab"},
		"ecc_fullsweep":              sweeps,
		"ecc_tiled":                  sweeps,
	}
}

// Faults lists the defects that can be planted in a source, by the name of its module.
// Tests plant them in kernels that are compiled for the host.
func Faults(name string) []string { return planted()[name] }

// onDevice are the defects that are compiled for devices, too: two that threads show
// which run at the same time, and one that every run shows. The first shows nowhere else.
func onDevice() []string { return []string{"atomic", "barrier", "halo"} }

// OnDeviceAlone reports whether a defect does not show where threads run one after the
// other, as on the host.
func OnDeviceAlone(fault string) bool { return fault == onDevice()[0] }

// FaultsOnDevice lists the defects of a source that are compiled for devices.
func FaultsOnDevice(name string) (list []string) {
	for _, m := range FaultyModules() {
		if m.Fault != "" && m.Name() == name+"."+m.Fault {
			list = append(list, m.Fault)
		}
	}
	return list
}

// FaultyModules are the modules with a defect that are compiled for devices, and one of
// kernels that do not count but fail.
func FaultyModules() []Module {
	list := []Module{{File: "faults/misbehave.cu"}}
	for _, file := range []string{"ecc/ecc_fullsweep.cu", "ecc/ecc_tiled.cu"} {
		for _, fault := range onDevice() {
			list = append(list, Module{file, fault})
		}
	}
	return list
}
