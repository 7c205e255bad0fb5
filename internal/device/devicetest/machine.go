package devicetest

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
)

// IsMachine reports whether code is machine code, not PTX.
func IsMachine(code []byte) bool { return bytes.HasPrefix(code, []byte(elf.ELFMAG)) }

// MachineEntries lists the kernels of a module's machine code, sorted.
func MachineEntries(module string, code []byte) ([]string, error) {
	const version = 20 // the position of the format's version, which NVIDIA numbers differently
	plain := bytes.Clone(code)
	if IsMachine(code) && len(plain) > version {
		plain[version] = byte(elf.EV_CURRENT)
	}
	f, err := elf.NewFile(bytes.NewReader(plain))
	if err != nil {
		return nil, fmt.Errorf("kernels %s: %w", module, err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("kernels %s: %w", module, err)
	}
	var names []string
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}
