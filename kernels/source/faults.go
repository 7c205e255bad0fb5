package source

// planted returns the defects that can be planted in each module (ecc/fault.h).
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

// Faults lists the defects that can be planted in a module. Tests plant them in kernels compiled
// for the host.
func Faults(name string) []string { return planted()[name] }

// onDevice returns the defects that are also compiled for devices: two that need threads running at
// the same time, and one that every run shows. The first one is visible on devices only.
func onDevice() []string { return []string{"atomic", "barrier", "halo"} }

// OnDeviceAlone reports whether a defect is invisible if threads run one after the other, as on the
// host.
func OnDeviceAlone(fault string) bool { return fault == onDevice()[0] }

// FaultsOnDevice lists the defects of a module that are compiled for devices.
func FaultsOnDevice(name string) (list []string) {
	for _, m := range FaultyModules() {
		if m.Fault != "" && m.Name() == name+"."+m.Fault {
			list = append(list, m.Fault)
		}
	}
	return list
}

// FaultyModules lists the modules with a defect that are compiled for devices, and the module of
// kernels that fail instead of counting.
func FaultyModules() []Module {
	list := []Module{{File: "faults/misbehave.cu"}}
	for _, file := range []string{"ecc/ecc_fullsweep.cu", "ecc/ecc_tiled.cu"} {
		for _, fault := range onDevice() {
			list = append(list, Module{file, fault})
		}
	}
	return list
}
